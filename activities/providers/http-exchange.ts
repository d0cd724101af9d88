// Makes one HTTP request to a provider, with a time limit and a size limit for the answer. The kind
// of a failure shows whether the request may have arrived. Redirects are not followed, and nothing
// is retried here.

import http from 'node:http';
import https from 'node:https';
import type { FaultKind } from '../../src/jobs/create-answer.rules';
import { retryAfterMs as askedForMs } from '../../src/outbound/retry-after.rules';
import { storedText } from '../../src/outbound/stored-text.rules';
import { traceHeaders } from '../task-trace';
import { UpstreamFault } from './provider';
import { type BodySource, bodyOf, sendBody } from './request-body';

export interface UpstreamRequest extends BodySource {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly apiKey: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** If the connection is made after this time of the monotonic clock, nothing is sent. */
  readonly sendBy?: number | undefined;
  /** Aborts the request like a timeout, because this process is about to stop. */
  readonly hurry?: AbortSignal | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /**
   * The time of the provider's clock, from the header `Date`; null if the header is missing or
   * invalid.
   */
  readonly dateMs: number | null;
  /** The parsed body; null if the body is not JSON. */
  readonly json: unknown;
}

// A page of 500 jobs is smaller than 1 MiB. A body above 8 MiB is not an answer of the protocol.
const answerBytesMax = 8 * 1024 * 1024;

// At most 64 sockets per host are open for reads, and 64 for creates and cancels. Further requests
// wait here, so that they do not exhaust the provider's connections. Reads have their own sockets,
// so that slow creates do not delay reads. Each create opens a new connection. If a create used an
// idle connection that the provider is just closing, the create could fail although it had arrived
// (docs/decisions.md, 5).
const socketsOf = (keepAlive: boolean) => ({
  'http:': new http.Agent({ keepAlive, maxSockets: 64, scheduling: 'lifo' }),
  'https:': new https.Agent({ keepAlive, maxSockets: 64, scheduling: 'lifo' }),
});
const agents = { reads: socketsOf(true), writes: socketsOf(false) };

export async function exchange(request: UpstreamRequest): Promise<UpstreamAnswer> {
  const body = bodyOf(request);
  const endsAt = performance.now() + request.timeoutMs;
  return new Promise((resolve, reject) => {
    let connected = false;
    let isWhole = false;
    // Without a connection the request cannot have arrived. With a connection it may have arrived.
    const uncertain = () => (connected ? 'ambiguous' : 'unavailable');
    // No server takes a request without its end.
    const unfinished = () => (connected && !isWhole ? 'late' : uncertain());
    const fail = (code: string, cause?: Error, kind: FaultKind = uncertain()) => {
      settled();
      reject(new UpstreamFault(kind, code, 'The service could not be reached.', null, { cause }));
      outgoing.destroy();
    };
    const outgoing = begun(request, body);
    const timeout = () => fail('TIMEOUT', undefined, unfinished());
    const timer = setTimeout(timeout, request.timeoutMs);
    const hurry = () => fail('STOPPING', undefined, unfinished());
    const settled = () => {
      clearTimeout(timer);
      request.hurry?.removeEventListener('abort', hurry);
      // The answer came before the end of the request.
      if (!isWhole) outgoing.destroy();
    };
    // A process that was frozen while it sent a file must not send the end after the time limit.
    const beforeEnd = () => {
      isWhole = performance.now() < endsAt;
      if (!isWhole) timeout();
      return isWhole;
    };
    // The time is checked here, because the process may be paused while it waits for a connection.
    const send = () => {
      if (performance.now() > (request.sendBy ?? Number.POSITIVE_INFINITY)) {
        return fail('TOO_LATE', undefined, 'late');
      }
      connected = true;
      sendBody(outgoing, body, beforeEnd).catch((error) => fail('INPUT_UNREAD', error, 'late'));
    };
    outgoing.on('socket', (socket) => {
      const ready = outgoing.protocol === 'https:' ? 'secureConnect' : 'connect';
      if (socket.connecting) socket.once(ready, send);
      else send();
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      fail(error.code ?? 'NETWORK', error);
    });
    outgoing.on('response', (response) => {
      readAnswer(response, isRead(request) ? readRestMaxMs : writeRestMaxMs).then(
        (answer) => {
          settled();
          resolve(answer);
        },
        (error: NodeJS.ErrnoException) => {
          fail(error.code ?? 'CUT_SHORT', error);
        },
      );
    });
    if (request.hurry?.aborted) hurry();
    else request.hurry?.addEventListener('abort', hurry);
  });
}

function begun(request: UpstreamRequest, body: ReturnType<typeof bodyOf>): http.ClientRequest {
  const url = new URL(request.url);
  return (url.protocol === 'https:' ? https : http).request(url, {
    method: request.method,
    agent: agents[isRead(request) ? 'reads' : 'writes'][url.protocol as 'http:' | 'https:'],
    headers: {
      accept: 'application/json',
      // Otherwise an agent of which all sockets are in use gives a used one to the next create.
      ...(isRead(request) ? {} : { connection: 'close' }),
      authorization: `Bearer ${request.apiKey}`,
      ...(body ? { 'content-type': body.contentType, 'content-length': body.length } : {}),
      ...traceHeaders(),
      ...request.headers,
    },
  });
}

function isRead({ method }: UpstreamRequest): boolean {
  return method === 'GET';
}

// Retry-After pauses a whole channel. So the value is limited: a wrong value delays polls by at
// most half a minute, and creates by at most two minutes.
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

/**
 * Returns a field of a JSON value. Returns undefined if the value is not an object or does not have
 * this field.
 */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

// Codes and words are stored and logged, so longer ones are cut.
const wordCharsMax = 100;

/**
 * Returns a text of the provider as it can be stored. Returns null if the value is not a text or if
 * the text is empty. No other function turns a value of a provider into a text.
 */
export function textOf(value: unknown, charsMax = wordCharsMax): string | null {
  return typeof value === 'string' ? storedText(value, charsMax) || null : null;
}

/** Signed links of providers have about 1000 characters, so this limit leaves a margin. */
export const addressCharsMax = 4096;

/** A longer address is cut so that it is still too long, because a part of it leads elsewhere. */
export function addressOf(value: unknown): string | null {
  return textOf(value, addressCharsMax + 1);
}

/** A text that is only searched, and never stored. */
export function messageOf(value: unknown): string {
  return textOf(value, Number.POSITIVE_INFINITY) ?? '';
}

/**
 * Returns the id of a job: at most 256 characters, without control characters and lone surrogates.
 * For any other value, returns null. If the answer of a create contains no id, the job may still
 * have been accepted. So the create is not simply sent again.
 */
export function upstreamIdOf(value: unknown): string | null {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(value) ? value : null;
}

/** Returns the code of an error; null if there is no code. */
export function codeOf(error: unknown): string | null {
  return textOf(field(error, 'code'));
}

/**
 * Returns the name of the field that a provider refused. The name is logged. So a text that is not
 * a name is ignored, because such a text may quote the input of the caller.
 */
export function paramOf(error: unknown): string | undefined {
  const param = field(error, 'param');
  return typeof param === 'string' && /^[\w.[\]-]{1,100}$/.test(param) ? param : undefined;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A length that is written as a text, such as "5" or "5.1". */
export function textSecondsOf(value: unknown): number | null {
  const isText = typeof value === 'string' && /^\d{1,4}(\.\d{1,3})?$/.test(value);
  return isText ? Number(value) : null;
}

/**
 * Returns the Unix seconds of a time between 2001 and 2286. A number outside this range probably
 * has another unit, so null is returned.
 */
export function unixSecondsOf(value: unknown): number | null {
  const seconds = numberOf(value);
  return seconds !== null && seconds >= 1e9 && seconds < 1e10 ? Math.floor(seconds) : null;
}

/** Returns such a time in milliseconds. `unit` is what the provider documents. */
export function unixMsOf(value: unknown, unit: 'seconds' | 'milliseconds'): number | null {
  const number = numberOf(value);
  const isInMs = unit === 'milliseconds' && number !== null;
  const seconds = unixSecondsOf(isInMs ? number / 1000 : number);
  return seconds === null ? null : seconds * 1000;
}
