// Starts a proxy in front of the studio. The proxy passes everything on. A test can let the proxy
// replace an answer, cut the connection or never answer.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

export interface Lie {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Instead of an answer: the connection is cut, or no answer comes. */
  readonly instead?: 'reset' | 'silence';
}

export interface Liar {
  readonly url: string;
  /** The replaced answers so far. */
  readonly exchanges: Exchange[];
  /** Returns the replacement for an answer of the studio. Null passes the answer on. */
  lie: (exchange: Exchange) => Lie | null;
  close(): Promise<void>;
}

/**
 * Replaces the first `times` answers to the matching requests by `lie`. Returns a function that
 * tells how many are left.
 */
export function lies(
  liar: Liar,
  fits: (exchange: Exchange) => boolean,
  times: number,
  lie: Lie,
): () => number {
  let left = times;
  liar.exchanges.length = 0;
  liar.lie = (exchange) => {
    if (!fits(exchange) || left === 0) return null;
    left -= 1;
    return lie;
  };
  return () => left;
}

/** Starts the proxy. Each request calls `target`, because the studio may start later. */
export async function startLiar(target: () => string): Promise<Liar> {
  const server = createServer((incoming, outgoing) => {
    passOn(liar, target(), incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const liar: Liar = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges: [],
    lie: () => null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return liar;
}

async function passOn(
  liar: Liar,
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const real = await ask(target, incoming);
  const exchange = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    status: real.status,
    body: real.body.toString('utf8'),
  };
  const lie = liar.lie(exchange);
  if (lie) liar.exchanges.push(exchange);
  if (lie?.instead === 'silence') return;
  if (lie?.instead === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  const type = { 'content-type': 'application/json' };
  outgoing.writeHead(lie?.status ?? real.status, { ...type, ...lie?.headers });
  outgoing.end(lie?.body ?? real.body);
}

async function ask(
  target: string,
  incoming: IncomingMessage,
): Promise<{ status: number; body: Buffer }> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return new Promise((resolve, reject) => {
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const onward = request(
      `${target}${incoming.url}`,
      { method: incoming.method, headers, agent: false },
      async (answer) => {
        const parts: Buffer[] = [];
        for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts) });
      },
    );
    onward.on('error', reject);
    onward.end(Buffer.concat(chunks));
  });
}
