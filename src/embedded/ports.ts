// Free ports for servers that must be told one. Another program may still take one in between, so
// whoever uses it checks that the server that answers is the one that was started.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Below those that systems give to connections that go out, of which a busy machine opens hundreds
// a second: one of them would take a port between its choice and its use.
const lowest = 20_000;
const beyond = 32_000;
const triesMax = 1_000;

export async function freePorts(count: number): Promise<number[]> {
  // All are held at once, or the same one could be given twice.
  const held = new Map<number, Server>();
  for (let tries = 0; held.size < count && tries < triesMax; tries += 1) {
    const port = randomInt(lowest, beyond);
    const server = await listenOn(port);
    if (server) held.set(port, server);
  }
  await Promise.all(
    Array.from(held.values(), (server) => new Promise((done) => server.close(done))),
  );
  if (held.size === count) return [...held.keys()];
  throw new Error(`There are no ${count} free ports between ${lowest} and ${beyond}.`);
}

/** Null when somebody else has it. */
function listenOn(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
