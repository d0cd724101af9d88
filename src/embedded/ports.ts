// Free ports for servers that must be told one. Asked of the system; another program may still take
// one in between, so whoever uses it checks that the server that answers is the one that was
// started.

import { createServer } from 'node:net';

export async function freePorts(count: number, belowMax = 65_536): Promise<number[]> {
  // All are held at once, or the same one could be given twice.
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports.every((port) => port < belowMax) ? ports : freePorts(count, belowMax);
}

function listenAnywhere() {
  return new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
