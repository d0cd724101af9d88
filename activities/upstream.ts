// One HTTP exchange with an upstream service: a deadline, a size limit, and the knowledge of
// whether the request can have arrived. Connections are kept alive; redirects are not followed;
// nothing is repeated here.

import http from 'node:http';
import https from 'node:https';
import { retryAfterMs as askedForMs } from '../src/domain/retry-after';
import { UpstreamFault } from './service';
import { inClientSpan, traceHeaders } from './tracing';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly apiKey: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Ends the request before its time, as if it had timed out: this process is about to stop. */
  readonly hurry?: AbortSignal | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The parsed body; null when it is not JSON. */
  readonly json: unknown;
}

// 8 MiB: a page of 500 jobs is under 1 MiB; more than this is not an answer of the protocol.
const answerBytesMax = 8 * 1024 * 1024;

// 64 sockets a host: more requests at once than that wait here rather than exhaust the service's
// connections.
const agents = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 64, scheduling: 'lifo' }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 64, scheduling: 'lifo' }),
};

export async function exchange(request: UpstreamRequest): Promise<UpstreamAnswer> {
  const url = new URL(request.url);
  const about = { 'http.request.method': request.method, 'server.address': url.host };
  return inClientSpan(`${request.method} ${url.host}`, about, async (attributes) => {
    const answer = await send(request, url);
    attributes['http.response.status_code'] = answer.status;
    return answer;
  });
}

async function send(request: UpstreamRequest, url: URL): Promise<UpstreamAnswer> {
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  return new Promise((resolve, reject) => {
    let connected = false;
    const fail = (code: string, cause?: Error) => {
      // Before there was a connection nothing can have arrived; after that, everything can.
      const kind = connected ? 'ambiguous' : 'unavailable';
      reject(new UpstreamFault(kind, code, 'The service could not be reached.', null, { cause }));
      outgoing.destroy();
    };
    const timer = setTimeout(() => fail('TIMEOUT'), request.timeoutMs);
    const hurry = () => fail('STOPPING');
    const settled = () => {
      clearTimeout(timer);
      request.hurry?.removeEventListener('abort', hurry);
    };
    const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
      method: request.method,
      agent: agents[url.protocol as keyof typeof agents],
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${request.apiKey}`,
        ...(body ? { 'content-type': 'application/json', 'content-length': body.length } : {}),
        ...traceHeaders(),
        ...request.headers,
      },
    });
    outgoing.on('socket', (socket) => {
      const ready = url.protocol === 'https:' ? 'secureConnect' : 'connect';
      if (socket.connecting) {
        socket.once(ready, () => {
          connected = true;
        });
      } else {
        connected = true;
      }
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      settled();
      fail(error.code ?? 'NETWORK', error);
    });
    outgoing.on('response', (response) => {
      readAnswer(response).then(
        (answer) => {
          settled();
          resolve(answer);
        },
        (error: NodeJS.ErrnoException) => {
          settled();
          fail(error.code ?? 'CUT_SHORT', error);
        },
      );
    });
    if (request.hurry?.aborted) hurry();
    else request.hurry?.addEventListener('abort', hurry);
    outgoing.end(body);
  });
}

async function readAnswer(response: http.IncomingMessage): Promise<UpstreamAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Error('The answer is too large.');
    chunks.push(chunk);
  }
  return {
    status: response.statusCode ?? 0,
    retryAfterMs: retryAfterMs(response.headers['retry-after'], Date.now()),
    json: parseJson(Buffer.concat(chunks).toString('utf8')),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What a service's Retry-After asks for; an hour at most, because its clock may be anything. */
function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const ms = askedForMs(header, nowMs);
  return ms === null ? null : Math.min(ms, 3_600_000);
}

/** Reads a field of an unknown JSON value without trusting its shape. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/**
 * What PostgreSQL cannot store (NUL, half a surrogate pair) is taken out: it would spoil a whole
 * round.
 */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return value.toWellFormed().replaceAll('\0', '') || null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
