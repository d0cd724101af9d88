// Starts servers on loopback that count connections and answer nothing. If the servers count none,
// no request reached an address inside the network.

import { createServer, type Server } from 'node:net';

export interface Canaries {
  /** The same port on 127.0.0.1 and, if the machine has IPv6, on ::1. */
  readonly port: number;
  readonly connections: () => number;
  close(): Promise<void>;
}

export async function startCanaries(): Promise<Canaries> {
  let count = 0;
  let port = 0;
  const servers: Server[] = [];
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer((socket) => {
      count += 1;
      socket.destroy();
    });
    const ready = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, host, () => resolve(true));
    });
    if (!ready) continue; // Without IPv6, no request can reach ::1.
    port = (server.address() as { port: number }).port;
    servers.push(server);
  }
  return {
    port,
    connections: () => count,
    async close() {
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    },
  };
}
