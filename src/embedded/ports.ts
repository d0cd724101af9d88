// Finds free ports for servers whose port must be known before they start. Another program may take
// such a port first. Callers therefore check that the answer comes from the server that they
// started.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Both ranges are below the range for outgoing connections. A busy machine opens hundreds of
// connections per second, and a connection could take the port before the server does. Ports in
// `chosen` may be chosen long before their program starts. A program that needs more ports when it
// starts takes these ports from `own`, so that it does not take the chosen port of another program.
const ranges = { chosen: [20_000, 30_000], own: [30_000, 32_000] } as const;
const triesMax = 1_000;

export async function freePorts(
  count: number,
  range: keyof typeof ranges = 'chosen',
): Promise<number[]> {
  const [lowest, beyond] = ranges[range];
  // All ports stay open until the end; otherwise the same port could be returned twice.
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

/** Resolves with the listening server, or with null if the port is in use. */
function listenOn(port: number, host: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(port, host, () => resolve(server));
  });
}
