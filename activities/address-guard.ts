// A request to an address that a caller gave. The host is judged before a socket is made, every
// address it resolves to before one is dialled, and the address that was reached before the request
// is written. Nothing is followed, nothing is kept alive, no proxy is asked, and of the answer only
// a little is read.

import type { LookupAddress, LookupOptions } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction, type Socket } from 'node:net';
import { checkUrl, isAllowed, isPublicAddress } from '../src/domain/address';
import { type ResolveName, resolvePublicName } from './public-names';

export interface GuardedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowHosts: readonly string[];
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
  /** Ends the request before its time; the promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** What a name resolves to, and whose certificates are believed; tests bring their own. */
  readonly resolve?: ResolveName;
  readonly ca?: string;
}

interface GuardedReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** As much of the body as came in time, within the limit. */
  readonly body: string;
}

type FailureCode =
  | 'address_not_allowed'
  | 'timeout'
  | 'connection_failed'
  | 'tls_failed'
  | 'broken_reply';

/** `code` is one of a few words of ours; the address a name resolved to is never told. */
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

export async function guardedPost(request: GuardedRequest): Promise<GuardedReply> {
  const { allowHosts } = request;
  // 2,048: what a caller could ever have been allowed to store; the field's own limit is checked
  // when it is sent.
  const checked = checkUrl(request.url, { schemes: ['https'], allowHosts, charsMax: 2048 });
  if (checked.fault !== undefined) throw notAllowed();
  request.signal?.throwIfAborted();
  const outgoing = open(checked.url, request);
  let late: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      late = setTimeout(() => {
        reject(new GuardedFailure('timeout', `No answer within ${request.timeoutMs / 1000} s.`));
        outgoing.destroy();
      }, request.timeoutMs);
      abort = () => {
        reject(request.signal?.reason);
        outgoing.destroy();
      };
      request.signal?.addEventListener('abort', abort);
      outgoing.once('response', resolve);
      outgoing.once('close', () =>
        reject(new GuardedFailure('broken_reply', 'There was no answer.')),
      );
      // It stays for the life of the request: an error after the answer has nobody else to hear it.
      outgoing.on('error', (error) => reject(failureOf(error)));
    });
    return {
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'],
      body: await readStart(response, request.replyBytesMax),
    };
  } finally {
    clearTimeout(late);
    if (abort) request.signal?.removeEventListener('abort', abort);
    outgoing.destroy();
  }
}

function open(url: URL, request: GuardedRequest): http.ClientRequest {
  const secure = url.protocol === 'https:';
  const exempt = isAllowed(url, request.allowHosts);
  const outgoing = (secure ? https : http).request(url, {
    method: 'POST',
    agent: false,
    maxHeaderSize: 16 * 1024,
    // Said aloud, because an environment variable could otherwise switch it off.
    rejectUnauthorized: true,
    headers: { ...request.headers, 'content-length': Buffer.byteLength(request.body) },
    // A literal address never reaches this hook; checkUrl has judged it.
    ...(exempt ? {} : { lookup: guardedLookup(request.resolve ?? resolvePublicName) }),
    ...(request.ca ? { ca: request.ca } : {}),
  });
  const connecting = setTimeout(() => {
    const sentence = `No connection within ${request.connectTimeoutMs / 1000} s.`;
    outgoing.destroy(new GuardedFailure('timeout', sentence));
  }, request.connectTimeoutMs);
  outgoing.once('close', () => clearTimeout(connecting));
  outgoing.once('socket', (socket: Socket) => {
    socket.once('connect', () => {
      const inside = !exempt && !isPublicAddress(socket.remoteAddress ?? '');
      if (inside) outgoing.destroy(notAllowed());
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(connecting);
      if (!outgoing.destroyed) outgoing.end(request.body);
    });
  });
  return outgoing;
}

/**
 * Refuses a name if any of its addresses is inside; the socket dials what is answered here, so
 * nothing can change.
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

/**
 * The first bytes of an answer. Its status has been said by then, so what is missing or too much
 * changes nothing.
 */
async function readStart(response: http.IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= bytesMax) break;
    }
  } catch {
    // Cut off by the receiver or by the time limit.
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
}

function failureOf(error: NodeJS.ErrnoException): GuardedFailure {
  if (error instanceof GuardedFailure) return error;
  const code = error.code ?? 'unknown';
  if (/CERT|TLS|SSL|SIGNATURE|EPROTO|ALTNAME/.test(code)) {
    return new GuardedFailure('tls_failed', `The certificate or TLS handshake failed (${code}).`);
  }
  if (code.startsWith('HPE_')) {
    return new GuardedFailure('broken_reply', `The answer is not HTTP (${code}).`);
  }
  return new GuardedFailure('connection_failed', `The connection failed (${code}).`);
}
