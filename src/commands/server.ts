// An HTTP server with limits on everything a caller could draw out, and an end that lets running
// answers finish.

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError } from './command';

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

// Node's own limits (60 s, 300 s, looked at every 30 s) let a slow sender hold a connection for
// minutes. The idle time is short because balancers reconnect cheaply; the size is twice the
// headers of a browser.
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
};

// What still runs after this is cut: a held `Prefer: wait` loses nothing by asking again.
const finishWithinMs = 10_000;

export async function listen(
  handler: RequestListener,
  host: string,
  port: number,
  setting: string,
): Promise<Listening> {
  const server = createServer(limits, handler);
  server.maxHeadersCount = 100;
  server.maxRequestsPerSocket = 1_000;
  await bind(server, host, port, setting);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cut = setTimeout(() => server.closeAllConnections(), finishWithinMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

function bind(server: Server, host: string, port: number, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken. Stop what listens there, or set ${setting} to another port.`;
      const refused = `${host}:${port} cannot be listened on (${error.code}); see HOST and ${setting}.`;
      reject(new CommandError(error.code === 'EADDRINUSE' ? taken : refused, 1, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}
