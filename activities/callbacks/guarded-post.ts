// Sends a POST to a URL that a caller chose. Redirects are not followed, and only the first bytes
// of the answer are read.

import type { IncomingMessage } from 'node:http';
import { type GuardedRequest, sendGuarded } from '../../src/outbound/guarded-request';

export interface GuardedPost extends GuardedRequest {
  readonly body: string;
  /** The time limit of the whole request, including the body of the answer. */
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
}

interface GuardedReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The part of the body that arrived within the time limit and the size limit. */
  readonly body: string;
}

export async function guardedPost(request: GuardedPost): Promise<GuardedReply> {
  const { body, signal, timeoutMs } = request;
  const endsAt = performance.now() + timeoutMs;
  // A stored URL has at most 2,048 characters. The API has already checked the length when the task
  // was created.
  const what = { method: 'POST', urlCharsMax: 2048, body } as const;
  const { outgoing, response } = await sendGuarded(request, what);
  const stop = () => outgoing.destroy();
  const late = setTimeout(stop, endsAt - performance.now());
  signal?.addEventListener('abort', stop);
  try {
    return {
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'],
      body: await readStart(response, request.replyBytesMax),
    };
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

/**
 * Returns the first bytes of an answer. The status has already arrived, so a missing, incomplete or
 * too long body is not a failure.
 */
async function readStart(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= bytesMax) break;
    }
  } catch {
    // The receiver closed the connection, or the time limit was reached.
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
}
