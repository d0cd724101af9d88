// A service that says exactly what a test wants it to say, whatever it is asked.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Canned {
  readonly url: string;
  /** Decides by method and path. */
  say: (request: { readonly method: string; readonly path: string }) => Said;
  close(): Promise<void>;
}

export async function startCanned(): Promise<Canned> {
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    const { status = 200, headers, body } = canned.say({ method, path: url });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const canned: Canned = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say: () => ({}),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return canned;
}
