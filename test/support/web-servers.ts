// Starts web servers for one test, each on a free port. The servers are closed after the test.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;
type When = 'request' | 'checkContinue';

/** Returns a function that starts a server with this answer and returns its `host:port`. */
export function webServers(): (answer: Answer, when?: When) => Promise<string> {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  return async (answer, when = 'request') => {
    const server = createServer().on(when, answer);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    servers.push(server);
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
}
