// Sends a request to a URL that a caller or a provider chose. The host is checked before a socket
// is created. Every resolved IP address is checked before the connection. The connected IP address
// is checked before the request is written. This file follows no redirect, and uses no keep-alive
// and no proxy.

import type { LookupAddress, LookupOptions } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { checkUrl, isAllowed, isPublicAddress, type UrlRules } from './address.rules';
import { type ResolveName, resolvePublicName } from './resolve-public-host';

export interface GuardedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowHosts: readonly string[];
  /** The default is HTTPS only. An allowed host may be called by HTTP in any case. */
  readonly schemes?: UrlRules['schemes'];
  readonly connectTimeoutMs: number;
  /** The longest time for the connection, the request and the head of the answer together. */
  readonly timeoutMs: number;
  /** The longest time without a byte in either direction. If absent, there is no such limit. */
  readonly silenceMs?: number;
  /**
   * If this signal aborts, the request ends and its promise is rejected with the signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /** Name resolution and trusted certificates. Tests pass their own. */
  readonly resolve?: ResolveName;
  readonly ca?: string;
}

interface What {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly urlCharsMax: number;
  readonly body?: string | Bytes;
}

/**
 * A streamed body. The body is sent after the receiver has answered `100 Continue`, or after a
 * pause without an answer.
 */
interface Bytes {
  readonly stream: Readable;
  readonly length: number;
}

// A receiver that does not know `Expect: 100-continue` gets the body after this time.
const continueWithinMs = 2_000;

/** The caller must destroy `outgoing` after the last read from `response`. */
interface GuardedAnswer {
  readonly outgoing: http.ClientRequest;
  readonly response: http.IncomingMessage;
}

type FailureCode =
  | 'address_not_allowed'
  | 'timeout'
  | 'connection_failed'
  | 'tls_failed'
  | 'broken_reply';

/** The message never contains an IP address to which a host name was resolved. */
export class GuardedFailure extends Error {
  override readonly name = 'GuardedFailure';
  constructor(
    readonly code: FailureCode,
    message: string,
  ) {
    super(message);
  }
}

const notAllowed = () => new GuardedFailure('address_not_allowed', 'The address is not allowed.');

/** Sends the request and waits for the head of its answer. */
export async function sendGuarded(request: GuardedRequest, what: What): Promise<GuardedAnswer> {
  const { allowHosts } = request;
  const checked = checkUrl(request.url, {
    schemes: request.schemes ?? ['https'],
    allowHosts,
    charsMax: what.urlCharsMax,
  });
  if (checked.fault !== undefined) throw notAllowed();
  request.signal?.throwIfAborted();
  const outgoing = open(checked.url, request, what);
  let late: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      late = setTimeout(() => {
        reject(new GuardedFailure('timeout', `No answer within ${request.timeoutMs / 1000} s.`));
      }, request.timeoutMs);
      abort = () => reject(request.signal?.reason);
      request.signal?.addEventListener('abort', abort);
      outgoing.once('response', resolve);
      outgoing.once('close', () =>
        reject(new GuardedFailure('broken_reply', 'There was no answer.')),
      );
      // The listener stays, because an error after the answer would otherwise be uncaught.
      outgoing.on('error', (error) => reject(failureOf(error)));
    });
    return { outgoing, response };
  } catch (error) {
    outgoing.destroy();
    throw error;
  } finally {
    clearTimeout(late);
    if (abort) request.signal?.removeEventListener('abort', abort);
  }
}

function open(url: URL, request: GuardedRequest, { method, body }: What): http.ClientRequest {
  const secure = url.protocol === 'https:';
  const exempt = isAllowed(url, request.allowHosts);
  const length = body === undefined ? {} : { 'content-length': lengthOf(body) };
  const outgoing = (secure ? https : http).request(url, {
    method,
    agent: false,
    maxHeaderSize: 16 * 1024,
    // Set explicitly: otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the certificate check
    // off.
    rejectUnauthorized: true,
    headers: { ...request.headers, ...length },
    // Node does not call `lookup` for a literal IP address, which checkUrl has already checked.
    ...(exempt ? {} : { lookup: guardedLookup(request.resolve ?? resolvePublicName) }),
    ...(request.ca ? { ca: request.ca } : {}),
  });
  const connecting = setTimeout(() => {
    const sentence = `No connection within ${request.connectTimeoutMs / 1000} s.`;
    outgoing.destroy(new GuardedFailure('timeout', sentence));
  }, request.connectTimeoutMs);
  outgoing.once('close', () => clearTimeout(connecting));
  const { silenceMs } = request;
  if (silenceMs !== undefined) {
    const sentence = `The address took or sent no byte for ${silenceMs / 1000} s.`;
    outgoing.setTimeout(silenceMs, () => outgoing.destroy(new GuardedFailure('timeout', sentence)));
  }
  outgoing.once('socket', (socket: Socket) => {
    socket.once('connect', () => {
      const inside = !exempt && !isPublicAddress(socket.remoteAddress ?? '');
      if (inside) outgoing.destroy(notAllowed()); // Untested: the look-up refuses the host first.
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(connecting);
      if (outgoing.destroyed) return;
      if (typeof body === 'object') sendBytes(outgoing, body);
      else outgoing.end(body);
    });
  });
  return outgoing;
}

function lengthOf(body: string | Bytes): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/**
 * Sends the body after the receiver has answered `100 Continue`, or after a pause. If the receiver
 * refuses the request before that, no byte of the body is sent. A receiver that gets a refused body
 * may close the connection before we have read its answer.
 */
function sendBytes(outgoing: http.ClientRequest, { stream }: Bytes): void {
  outgoing.setHeader('expect', '100-continue');
  outgoing.flushHeaders();
  let isSent = false;
  const send = () => {
    clearTimeout(late);
    if (!isSent && !outgoing.destroyed) stream.pipe(outgoing);
    isSent = true;
  };
  const late = setTimeout(send, continueWithinMs);
  outgoing.once('continue', send);
  outgoing.once('response', () => clearTimeout(late));
  outgoing.once('close', () => clearTimeout(late));
  stream.once('error', (error) => outgoing.destroy(error));
}

/**
 * Returns a DNS look-up that fails if any IP address of the host name is not public. Otherwise the
 * socket connects to a checked IP address, so a later change of the DNS entry has no effect.
 */
function guardedLookup(resolve: ResolveName): LookupFunction {
  return (hostname: string, options: LookupOptions, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses: LookupAddress[] = found.map((address) => ({
          address,
          family: isIPv6(address) ? 6 : 4,
        }));
        const [first] = addresses;
        if (!first) return callback(noSuchName(), '', 0);
        if (!found.every(isPublicAddress)) return callback(notAllowed(), '', 0);
        return options.all
          ? callback(null, addresses)
          : callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

const noSuchName = () => new GuardedFailure('connection_failed', 'The host name has no address.');

export function failureOf(error: NodeJS.ErrnoException): GuardedFailure {
  if (error instanceof GuardedFailure) return error;
  // The error of an aborted signal has a number as its code.
  const code = typeof error.code === 'string' ? error.code : 'unknown';
  if (/CERT|TLS|SSL|SIGNATURE|EPROTO|ALTNAME/.test(code)) {
    return new GuardedFailure('tls_failed', `The certificate or TLS handshake failed (${code}).`);
  }
  if (code.startsWith('HPE_')) {
    return new GuardedFailure('broken_reply', `The answer is not HTTP (${code}).`);
  }
  // No name server, or nothing at the address, has answered.
  if (code === 'ETIMEOUT' || code === 'ETIMEDOUT') {
    return new GuardedFailure('timeout', `The connection timed out (${code}).`);
  }
  return new GuardedFailure('connection_failed', `The connection failed (${code}).`);
}
