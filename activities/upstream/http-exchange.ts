// Makes one HTTP request to a provider, with a time limit and a size limit for the answer. A
// failure says if the request can have arrived. Redirects are not followed, and nothing is retried
// here.

import http from 'node:http';
import https from 'node:https';
import { retryAfterMs as askedForMs } from '../../src/domain/retry-after';
import { inClientSpan, traceHeaders } from '../task-trace';
import { UpstreamFault } from './provider';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly apiKey: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Aborts the request like a timeout, because this process is about to stop. */
  readonly hurry?: AbortSignal | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The provider's clock, from the header `Date`. */
  readonly dateMs: number | null;
  /** The parsed body; null if the body is not JSON. */
  readonly json: unknown;
}

// A page of 500 jobs is under 1 MiB; a body above 8 MiB is no answer of the protocol.
const answerBytesMax = 8 * 1024 * 1024;

// At most 64 sockets per host. Further requests wait here, so that they do not exhaust the
// provider's connections. Reads have their own sockets, so that slow creates do not delay them.
// Each create opens its own connection. A create on an idle connection that the provider is just
// closing could fail and still have arrived (docs/decisions.md, 5).
const socketsOf = (keepAlive: boolean) => ({
  'http:': new http.Agent({ keepAlive, maxSockets: 64, scheduling: 'lifo' }),
  'https:': new https.Agent({ keepAlive, maxSockets: 64, scheduling: 'lifo' }),
});
const agents = { reads: socketsOf(true), writes: socketsOf(false) };

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
      // Without a connection the request cannot have arrived; with one it can.
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
      agent: agents[isRead(request) ? 'reads' : 'writes'][url.protocol as 'http:' | 'https:'],
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
      readAnswer(response, isRead(request) ? readRestMaxMs : writeRestMaxMs).then(
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

function isRead({ method }: UpstreamRequest): boolean {
  return method === 'GET';
}

// Retry-After pauses a whole channel. A wrong value may delay its polls by half a minute and its
// creates by two minutes at most.
const readRestMaxMs = 30_000;
const writeRestMaxMs = 120_000;

async function readAnswer(
  response: http.IncomingMessage,
  restMaxMs: number,
): Promise<UpstreamAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Error('The answer is too large.');
    chunks.push(chunk);
  }
  return {
    status: response.statusCode ?? 0,
    retryAfterMs: retryAfterMs(response.headers['retry-after'], restMaxMs),
    dateMs: dateMs(response.headers.date),
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

function dateMs(header: string | undefined): number | null {
  const ms = Date.parse(header ?? '');
  return Number.isNaN(ms) ? null : ms;
}

function retryAfterMs(header: string | undefined, restMaxMs: number): number | null {
  const ms = askedForMs(header, Date.now());
  return ms === null ? null : Math.min(ms, restMaxMs);
}

/** A field of a JSON value. Undefined if the value is no object or has no such field. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/**
 * The text without the characters that PostgreSQL cannot store (NUL, lone surrogates). One text
 * with such a character would fail a whole round of the watcher. Null if the value is not a text or
 * the text is empty.
 */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return value.toWellFormed().replaceAll('\0', '') || null;
}

/**
 * The id of a job: at most 256 characters, without control characters and lone surrogates. Any
 * other value counts as absent. A create that is answered without an id may have been accepted, so
 * it is not simply sent again.
 */
export function upstreamIdOf(value: unknown): string | null {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(value) ? value : null;
}

const codeCharsMax = 100;

/** The code of an error. The code is logged and stored, so a long code is shortened. */
export function codeOf(error: unknown): string | null {
  const code = field(error, 'code');
  return textOf(typeof code === 'string' ? code.slice(0, codeCharsMax) : code);
}

/**
 * The name of the field that a provider refused. The name is logged, so a text that is not a name
 * counts as absent: it may quote the caller.
 */
export function paramOf(error: unknown): string | undefined {
  const param = field(error, 'param');
  return typeof param === 'string' && /^[\w.[\]-]{1,100}$/.test(param) ? param : undefined;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/**
 * Unix seconds from 2001 to 2286. A number outside this range probably has another unit and counts
 * as absent.
 */
export function unixSecondsOf(value: unknown): number | null {
  const seconds = numberOf(value);
  return seconds !== null && seconds >= 1e9 && seconds < 1e10 ? Math.floor(seconds) : null;
}
