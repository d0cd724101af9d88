// Free ports for programs that need a number in advance.

import { freePorts } from '../../src/embedded/ports';

test('a program that starts early does not take a port chosen for a later one', async () => {
  const [chosen, own] = await Promise.all([freePorts(20), freePorts(20, 'own')]);
  expect(Math.max(...chosen)).toBeLessThan(Math.min(...own));
});
