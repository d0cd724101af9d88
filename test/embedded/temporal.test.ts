// Tests the start of the Temporal server when another program has taken its port.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporal } from '../../src/embedded/temporal';
import { findTemporal } from '../../src/embedded/temporal-binary';

let taken: Server;
beforeAll(async () => {
  taken = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(taken, 'listening');
});
afterAll(() => new Promise((done) => taken.close(done)));

const start = async (portsMayMove: boolean) =>
  startTemporal({
    binary: await findTemporal(process.env.TEMPORAL_CLI),
    port: (taken.address() as AddressInfo).port,
    portsMayMove,
    ui: false,
    searchAttributes: [],
  });

test('a Temporal server whose port is in use starts with another port if its ports may move', async () => {
  const server = await start(true);
  try {
    expect(server.port).not.toBe((taken.address() as AddressInfo).port);
    expect(server.address).toBe(`127.0.0.1:${server.port}`);
  } finally {
    await server.stop();
  }
});

test('a Temporal server keeps its state in its folder, whatever the name of the folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video c# 50%? é '));
  const databaseFile = join(folder, 'temporal.db');
  const binary = await findTemporal(process.env.TEMPORAL_CLI);
  try {
    for (const starts of [1, 2]) {
      const server = await startTemporal({ binary, databaseFile, ui: false, searchAttributes: [] });
      await server.stop();
      expect([starts, existsSync(databaseFile)]).toEqual([starts, true]);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a Temporal server whose port is in use does not start if its ports must stay', async () => {
  await expect(start(false)).rejects.toThrow(/in use/i);
});
