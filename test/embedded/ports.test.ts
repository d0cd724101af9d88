// Tests the choice of free ports for programs whose port must be known before they start.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePorts, isFree } from '../../src/embedded/ports';

test('a program that starts early does not take a port that is chosen for a later program', async () => {
  const [chosen, own] = await Promise.all([freePorts(20), freePorts(20, 'own')]);
  expect(Math.max(...chosen)).toBeLessThan(Math.min(...own));
});

test('a port is in use only if another program has it, not if the host is not of this machine', async () => {
  const [port = 0] = await freePorts(1);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  expect(await isFree(port, '127.0.0.1')).toBe(false);
  other.close();
  await expect(isFree(port, '192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL');
});
