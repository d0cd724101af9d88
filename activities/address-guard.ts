// A request to an address that a caller gave. The host is judged before a socket is made, every address it resolves to
// before one is dialled, and the address that was reached before a byte is written. Nothing is followed, nothing is
// kept alive, and of the answer only a little is read.

import type { LookupAddress, LookupOptions } from 'node:dns';
import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { checkUrl, isAllowed, isPublicAddress } from '../src/domain/address';

export interface GuardedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowHosts: readonly string[];
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
  /** Only for tests: what a name resolves to. */
  readonly resolve?: typeof dns.lookup;
}

export interface GuardedReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** `code` is one of a few words of ours; the address a name resolved to is never told. */
export class GuardedFailure extends Error {
  override readonly name = 'GuardedFailure';
  constructor(
    readonly code:
      | 'address_not_allowed'
      | 'timeout'
      | 'connection_failed'
      | 'tls_failed'
      | 'broken_reply',
    message: string,
  ) {
    super(message);
  }
}

const notAllowed = () => new GuardedFailure('address_not_allowed', 'The address is not allowed.');

export function guardedPost(request: GuardedRequest): Promise<GuardedReply> {
  const { fault, url } = checkUrl(request.url, {
    schemes: ['https'],
    allowHosts: request.allowHosts,
    charsMax: 2048,
  });
  if (fault !== undefined) return Promise.reject(notAllowed());
  const exempt = isAllowed(url, request.allowHosts);
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      agent: false,
      lookup: exempt ? dns.lookup : guardedLookup(request.resolve ?? dns.lookup),
      maxHeaderSize: 16 * 1024,
      headers: { ...request.headers, 'content-length': Buffer.byteLength(request.body) },
    });
    const fail = (error: GuardedFailure) => {
      clearTimeout(whole);
      clearTimeout(connecting);
      reject(error);
      outgoing.destroy();
    };
    const whole = setTimeout(
      () => fail(new GuardedFailure('timeout', `No answer within ${request.timeoutMs / 1000} s.`)),
      request.timeoutMs,
    );
    const connecting = setTimeout(
      () => fail(new GuardedFailure('timeout', 'The connection could not be made in time.')),
      request.connectTimeoutMs,
    );
    outgoing.on('socket', (socket) => {
      const ready = url.protocol === 'https:' ? 'secureConnect' : 'connect';
      socket.once(ready, () => {
        clearTimeout(connecting);
        if (exempt || isPublicAddress(socket.remoteAddress ?? '')) outgoing.end(request.body);
        else fail(notAllowed());
      });
    });
    outgoing.on('error', (error) => fail(failureOf(error)));
    outgoing.on('response', (response) => {
      readStart(response, request.replyBytesMax).then(
        (body) => {
          clearTimeout(whole);
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: response.headers['retry-after'],
            body,
          });
          outgoing.destroy();
        },
        () => fail(new GuardedFailure('broken_reply', 'The answer broke off.')),
      );
    });
  });
}

/** Refuses a name if any of its addresses is inside; the socket dials what is answered here, so nothing can change. */
function guardedLookup(resolve: typeof dns.lookup): LookupFunction {
  return (hostname: string, options: LookupOptions, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      const refused = addresses.some(({ address }) => !isPublicAddress(address));
      if (!first || refused) return callback(notAllowed(), '', 0);
      if (options.all) return (callback as unknown as AllCallback)(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

type AllCallback = (error: null, addresses: LookupAddress[]) => void;

/** The first bytes of an answer. What is longer is cut off: a status is all that counts. */
async function readStart(response: http.IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
}

function failureOf(error: NodeJS.ErrnoException): GuardedFailure {
  if (error instanceof GuardedFailure) return error;
  const code = error.code ?? '';
  if (/CERT|TLS|SSL|SIGNATURE|EPROTO|ALTNAME/.test(code)) {
    return new GuardedFailure('tls_failed', `The certificate or TLS handshake failed (${code}).`);
  }
  if (code.startsWith('HPE_')) {
    return new GuardedFailure('broken_reply', `The answer is not HTTP (${code}).`);
  }
  return new GuardedFailure('connection_failed', `The connection failed (${code || 'unknown'}).`);
}
