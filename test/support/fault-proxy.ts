// Starts a proxy in front of the service. A test chooses a fault for the next requests: an answer
// of another status, a lost answer, no connection, or an answer that arrives slowly or in part.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export type Fault =
  /** The request does not reach the service. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfter?: number | string;
      readonly body?: object;
      readonly location?: string;
    }
  | { readonly kind: 'refuse' }
  /** The service answers, but the caller gets nothing, or these bytes of the body. */
  | { readonly kind: 'lose' }
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The body arrives in pieces, with a pause after each. */
  | { readonly kind: 'slow'; readonly pieces: number; readonly pauseMs: number };

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface FaultProxy {
  readonly url: string;
  /** The requests since the last `reset`. */
  readonly seen: readonly Seen[];
  /** Forgets what was seen, and gives these faults to the next requests of this kind. */
  reset(matches?: RegExp, faults?: readonly Fault[]): void;
  /** Leads to another address from now on; a test may restart the service. */
  leadTo(target: string): void;
  close(): Promise<void>;
}

export async function startFaultProxy(to: string): Promise<FaultProxy> {
  let target = to;
  let pattern = /^$/;
  let faults: Fault[] = [];
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    seen.push({ method, path: url, headers });
    const fault = pattern.test(`${method} ${url}`) ? faults.shift() : undefined;
    serve(incoming, response, target, fault).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    reset(matches = /^$/, given = []) {
      seen.length = 0;
      pattern = matches;
      faults = [...given];
    },
    leadTo(next) {
      target = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: string,
  fault: Fault | undefined,
): Promise<void> {
  const sent = await bytesOf(incoming);
  if (fault?.kind === 'refuse') return void response.destroy();
  if (fault?.kind === 'answer') {
    if (fault.location) response.setHeader('location', fault.location);
    if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter);
    return void response.writeHead(fault.status).end(JSON.stringify(fault.body ?? {}));
  }
  const { headers, status, body } = await passOn(incoming, sent, target);
  if (fault?.kind === 'lose') return void response.destroy();
  response.writeHead(status, headers);
  if (fault?.kind === 'cut') {
    response.write(body.subarray(0, fault.afterBytes));
    // The caller reads these bytes before the connection breaks.
    await sleep(200);
    response.destroy();
  } else if (fault?.kind === 'slow') {
    const size = Math.ceil(body.length / fault.pieces);
    for (let at = 0; at < body.length; at += size) {
      response.write(body.subarray(at, at + size));
      await sleep(fault.pauseMs);
    }
    response.end();
  } else response.end(body);
}

function passOn(incoming: IncomingMessage, sent: Buffer, target: string) {
  const { method, headers, url } = incoming;
  return new Promise<{ headers: IncomingHttpHeaders; status: number; body: Buffer }>(
    (resolve, reject) => {
      const outgoing = request(new URL(url ?? '', target), { method, headers }, (answer) => {
        bytesOf(answer).then((body) => {
          resolve({ headers: answer.headers, status: answer.statusCode ?? 0, body });
        }, reject);
      });
      outgoing.on('error', reject);
      outgoing.end(sent);
    },
  );
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
