// Downloads a result from an address that a provider gave, as a stream. The request is guarded
// (guarded-request.ts), and so is the request after each redirect.

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { GuardedFailure, type GuardedRequest, sendGuarded } from './guarded-request';

export interface DownloadOptions
  extends Pick<GuardedRequest, 'allowHosts' | 'signal' | 'resolve' | 'ca'> {
  /** The value of a `Range` header. */
  readonly range?: string | undefined;
  /** Tests set shorter times. */
  readonly limits?: Partial<Limits>;
}

interface Limits {
  readonly connectTimeoutMs: number;
  /** The longest time until the head of the answer. */
  readonly timeoutMs: number;
  /**
   * The interval of the check for silence. A transfer that brought no byte since the previous check
   * is ended.
   */
  readonly idleMs: number;
}

const limits: Limits = { connectTimeoutMs: 5_000, timeoutMs: 20_000, idleMs: 15_000 };

export interface Download {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * The stream ends with an error if the transfer is cut, silent or aborted. A caller that does not
   * read the stream must destroy it.
   */
  readonly body: Readable;
}

// Signed links of providers have about one thousand characters.
const urlCharsMax = 4096;
const redirectsMax = 3;

export async function openDownload(url: string, options: DownloadOptions): Promise<Download> {
  let from = url;
  for (let redirects = 0; ; redirects += 1) {
    const found = await downloadOnce(from, options);
    const to = redirectOf(found, from);
    if (to === null) return found;
    found.body.destroy();
    if (redirects === redirectsMax) {
      throw new GuardedFailure('broken_reply', 'The address redirects too often.');
    }
    from = to;
  }
}

async function downloadOnce(url: string, options: DownloadOptions): Promise<Download> {
  const { range, signal } = options;
  const times = { ...limits, ...options.limits };
  const headers = { accept: '*/*', 'accept-encoding': 'identity', ...(range ? { range } : {}) };
  const { outgoing, response } = await sendGuarded(
    { ...options, ...times, url, headers },
    { method: 'GET', urlCharsMax },
  );
  // An error would be uncaught until the reader of the body adds its own listener.
  response.on('error', () => undefined);
  const abort = () => response.destroy(signal?.reason);
  let received = -1;
  const idle = setInterval(() => {
    // Unread bytes mean that the reader is slow, not that the server is silent.
    const silent = response.socket.bytesRead === received && response.readableLength === 0;
    received = response.socket.bytesRead;
    const sentence = `The transfer brought no byte for ${times.idleMs / 1000} s.`;
    if (silent) response.destroy(new GuardedFailure('timeout', sentence));
  }, times.idleMs);
  response.once('close', () => {
    clearInterval(idle);
    signal?.removeEventListener('abort', abort);
    outgoing.destroy();
  });
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  response.read(0); // Starts the transfer: a late reader must not look like a silent server.
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}

function redirectOf({ status, headers }: Download, from: string): string | null {
  const { location } = headers;
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  if (!isRedirect || location === undefined || !URL.canParse(location, from)) return null;
  return new URL(location, from).href;
}
