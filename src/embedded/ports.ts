// Free ports for servers that need a number in advance. Another program may take a port in between,
// so callers check that the server that answers is the one they started.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Below the range for outgoing connections. A busy machine opens hundreds of those a second, and
// one of them could take the port before the server does. `chosen` ports are chosen before their
// programs start; a program that starts earlier and needs a port for itself takes an `own` one.
const ranges = { chosen: [20_000, 30_000], own: [30_000, 32_000] } as const;
const triesMax = 1_000;

export async function freePorts(
  count: number,
  range: keyof typeof ranges = 'chosen',
): Promise<number[]> {
  const [lowest, beyond] = ranges[range];
  // All ports are held at once; otherwise the same one could be returned twice.
  const held = new Map<number, Server>();
  for (let tries = 0; held.size < count && tries < triesMax; tries += 1) {
    const port = randomInt(lowest, beyond);
    const server = await listenOn(port, '127.0.0.1');
    if (server) held.set(port, server);
  }
  await Promise.all([...held.values()].map(close));
  if (held.size === count) return [...held.keys()];
  throw new Error(`There are no ${count} free ports between ${lowest} and ${beyond}.`);
}

export async function isFree(port: number, host: string): Promise<boolean> {
  const server = await listenOn(port, host);
  if (server) await close(server);
  return server !== null;
}

const close = (server: Server) => new Promise((done) => server.close(done));

/** Null if the port is in use. */
function listenOn(port: number, host: string): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, host, () => resolve(server));
  });
}
