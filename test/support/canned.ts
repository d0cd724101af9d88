// Starts a server that gives a prepared answer to every request.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  /** The parsed body; null if the request has none. */
  readonly body: unknown;
}

export interface Canned {
  readonly url: string;
  say: (request: Asked) => Said | Promise<Said>;
  close(): Promise<void>;
}

export async function startCanned(): Promise<Canned> {
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const asked = await text(request);
    const exchange = { method, path: url, body: asked ? (JSON.parse(asked) as unknown) : null };
    const { status = 200, headers, body } = await canned.say(exchange);
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
