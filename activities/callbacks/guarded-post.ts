// A POST to an address that a caller chose. The host is checked before a socket is made, every
// resolved address before it is dialled, and the connected address before the request is written.
// Redirects, keep-alive and proxies are not used, and only the first bytes of the answer are read.

import type { LookupAddress, LookupOptions } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction, type Socket } from 'node:net';
import { checkUrl, isAllowed, isPublicAddress } from '../../src/domain/address';
import { type ResolveName, resolvePublicName } from './resolve-public-host';

export interface GuardedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowHosts: readonly string[];
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
  /** Aborts the request. The promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Name resolution and trusted certificates. Tests pass their own. */
  readonly resolve?: ResolveName;
  readonly ca?: string;
}

interface GuardedReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The part of the body that arrived in time and within the limit. */
  readonly body: string;
}

type FailureCode =
  | 'address_not_allowed'
  | 'timeout'
  | 'connection_failed'
  | 'tls_failed'
  | 'broken_reply';

/** `code` is one of a closed list. It never contains the address that a name resolved to. */
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
  // 2,048 is the longest address that can be stored. The field's own limit is checked at create.
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
      // The listener stays, because an error after the answer would otherwise be uncaught.
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
    // Set explicitly, because an environment variable could switch the check off.
    rejectUnauthorized: true,
    headers: { ...request.headers, 'content-length': Buffer.byteLength(request.body) },
    // A literal address never reaches this hook; checkUrl has checked it.
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
      if (inside) outgoing.destroy(notAllowed()); // Untested: the look-up before it refuses first.
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(connecting);
      if (!outgoing.destroyed) outgoing.end(request.body);
    });
  });
  return outgoing;
}

/**
 * Refuses a name if any of its addresses is not public. The socket dials the addresses returned
 * here, so a later change of the name has no effect.
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
 * The first bytes of an answer. The status is known by then, so a missing or oversized body changes
 * nothing.
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
    // The receiver or the time limit ended the body.
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
