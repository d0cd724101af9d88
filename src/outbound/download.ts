// Downloads a result as a stream, from a URL that a provider gave. guarded-request.ts checks and
// sends every request, also each request after a redirect.

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { GuardedFailure, type GuardedRequest, sendGuarded } from './guarded-request';

export interface DownloadOptions
  extends Pick<GuardedRequest, 'allowHosts' | 'schemes' | 'signal' | 'resolve' | 'ca'> {
  /** Headers for the given address only. They are not sent after a redirect. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tests set shorter times. */
  readonly limits?: Partial<Limits>;
}

interface Limits {
  readonly connectTimeoutMs: number;
  /** The longest time from the start of the request to the head of the answer. */
  readonly timeoutMs: number;
  /**
   * The interval between two checks of the transfer. A check ends the transfer if no byte has
   * arrived since the previous check.
   */
  readonly idleMs: number;
}

const limits: Limits = { connectTimeoutMs: 5_000, timeoutMs: 20_000, idleMs: 15_000 };

export interface Download {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * The stream ends with an error if the connection breaks, no byte arrives in time, or the
   * transfer is aborted. A caller that does not read the stream must destroy the stream.
   */
  readonly body: Readable;
}

// Signed links of providers have about one thousand characters, so this limit leaves enough room.
const urlCharsMax = 4096;
const redirectsMax = 3;

export async function openDownload(url: string, options: DownloadOptions): Promise<Download> {
  let from = url;
  for (let redirects = 0; ; redirects += 1) {
    const own = redirects === 0 ? options.headers : undefined;
    const found = await downloadOnce(from, options, own);
    const to = redirectOf(found, from);
    if (to === null) return found;
    found.body.destroy();
    if (redirects === redirectsMax) {
      throw new GuardedFailure('broken_reply', 'The address redirects too often.');
    }
    from = to;
  }
}

async function downloadOnce(
  url: string,
  options: DownloadOptions,
  own: DownloadOptions['headers'],
): Promise<Download> {
  const { signal } = options;
  const times = { ...limits, ...options.limits };
  const headers = { accept: '*/*', 'accept-encoding': 'identity', ...own };
  const { outgoing, response } = await sendGuarded(
    { ...options, ...times, url, headers },
    { method: 'GET', urlCharsMax },
  );
  // The reader adds its own listener later. Without this listener, an error until then would be
  // uncaught.
  response.on('error', () => undefined);
  const abort = () => response.destroy(signal?.reason);
  let received = -1;
  const idle = setInterval(() => {
    // Unread bytes mean that the reader is slow, not that the server is silent.
    const isWaiting = response.readableLength === 0 && !response.complete;
    const silent = isWaiting && response.socket.bytesRead === received;
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
  // Starts the transfer before the caller reads the body. Otherwise no byte would arrive until the
  // caller reads, and the check above could end the download.
  response.read(0);
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}

function redirectOf({ status, headers }: Download, from: string): string | null {
  const { location } = headers;
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  if (!isRedirect || location === undefined || !URL.canParse(location, from)) return null;
  return new URL(location, from).href;
}
