// Signs a message and posts it to the address of an account. The contract sets the limits.

import type { Answer } from '../../src/callbacks/callbacks.rows';
import { verdictOf } from '../../src/callbacks/schedule.rules';
import { GuardedFailure } from '../../src/outbound/guarded-request';
import { retryAfterMs } from '../../src/outbound/retry-after.rules';
import { storedText } from '../../src/outbound/stored-text.rules';
import type { WorkerDeps } from '../deps';
import { traceHeaders } from '../task-trace';
import { guardedPost } from './guarded-post';
import { webhookHeaders } from './webhook-signature';

export interface PostLimits {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly replyBytesMax: number;
}

export interface Message {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
}

// The limits in the contract: 15 s in all, 5 s of it for the connection, 4 KiB of the answer.
const limits: PostLimits = { timeoutMs: 15_000, connectTimeoutMs: 5_000, replyBytesMax: 4096 };
// The number of stored characters of an answer: enough to recognise an error page, and not more of
// the receiver's data.
const replyCharsKept = 256;

type Sent = Omit<Answer, 'latencyMs'> & { readonly retryAfterMs: number | null };

/** Signs and posts a message. */
export type Post = (message: Message) => Promise<Sent>;

export async function postSigned(
  { now, settings }: Pick<WorkerDeps, 'now' | 'settings'>,
  { id, url, body, secrets }: Message,
  shorter: Partial<PostLimits>,
  signal: AbortSignal,
): Promise<Sent> {
  const nothing = { status: null, reply: null, retryAfterMs: null };
  // An unsigned message is never sent. Receivers that verify signatures would refuse the message.
  // Other receivers must not get used to unsigned messages.
  if (secrets.length === 0) return { ...nothing, error: 'The account has no webhook secret.' };
  const nowMs = now();
  const signed = { id, timestampSeconds: Math.floor(nowMs / 1000), body };
  try {
    const reply = await guardedPost({
      url,
      body,
      allowHosts: settings.dangerouslyAllowHosts,
      ...limits,
      ...shorter,
      // A stopping worker waits a short time for its requests and then aborts the requests.
      // Another worker then repeats the attempt.
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'video-generation-service',
        ...traceHeaders(),
        ...webhookHeaders(signed, secrets),
      },
    });
    return {
      status: reply.status,
      error: verdictOf(reply.status) === 'delivered' ? null : `HTTP ${reply.status}`,
      reply: storedText(reply.body, replyCharsKept),
      retryAfterMs: retryAfterMs(reply.retryAfter, nowMs),
    };
  } catch (error) {
    if (!(error instanceof GuardedFailure)) throw error;
    return { ...nothing, error: error.message };
  }
}
