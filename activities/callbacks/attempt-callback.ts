// Makes one attempt to deliver a callback: signs the message, posts it and records the result. The
// workflow counts the attempts and schedules the next attempt. If the receiver has reached its
// limit of concurrent deliveries, nothing is sent, and no attempt is counted.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Knex } from 'knex';
import type { Answer, Delivery } from '../../src/db/callbacks';
import { beginAttempt, findDelivery, finishAttempt, stopDelivery } from '../../src/db/callbacks';
import { nextGapMs, verdictOf } from '../../src/domain/callback-schedule';
import { retryAfterMs } from '../../src/domain/retry-after';
import { GuardedFailure } from '../../src/outbound/guarded-request';
import type { CallbackAttempt, CallbackName, CallbackOutcome } from '../../workflows/messages';
import { whileBeating } from '../heartbeat';
import { inTrace, traceHeaders } from '../task-trace';
import { guardedPost } from './guarded-post';
import { createHostShare } from './per-host-limit';
import { webhookHeaders } from './webhook-signature';

export interface CallbackDeps {
  readonly db: Knex;
  readonly allowHosts: readonly string[];
  readonly now: () => number;
  /**
   * The maximum of concurrent deliveries to one host, in this process. For one account the maximum
   * is twice as high.
   */
  readonly perHostMax: number;
  readonly onAttempt: (outcome: string, ms: number, taskId: string) => void;
  /** Tests set shorter times than the contract's. */
  readonly limits?: Partial<Limits>;
}

interface Limits {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly replyBytesMax: number;
}

// The limits in the contract: 15 s in all, 5 s of it for the connection, 4 KiB of the answer.
const limits: Limits = { timeoutMs: 15_000, connectTimeoutMs: 5_000, replyBytesMax: 4096 };
// The number of stored characters of an answer: enough to recognise an error page, and not more of
// the receiver's data.
const replyCharsKept = 256;

export function createCallbackActivities(deps: CallbackDeps) {
  const share = createHostShare(() => performance.now());
  return {
    async attemptCallback(input: CallbackAttempt): Promise<CallbackOutcome> {
      const { taskId, delivery: number, attempt } = input;
      const delivery = await findDelivery(deps.db, taskId, number, attempt);
      if (!delivery) {
        throw ApplicationFailure.nonRetryable('There is no callback to deliver.', 'NoCallback');
      }
      const known = knownOutcome(deps, input, delivery);
      if (known) return known;
      // The webhook was deleted, so its messages end.
      if (delivery.webhookId !== null && delivery.secrets.length === 0) {
        await stopDelivery(deps.db, taskId, number);
        return { state: 'stopped', status: null, error: null, nextInMs: null };
      }
      const slot = share.enter([
        { name: `host:${new URL(delivery.url).hostname}`, max: deps.perHostMax },
        // A limit per account is needed too: with many host names, one account could take every
        // slot.
        { name: `account:${delivery.accountId}`, max: deps.perHostMax * 2 },
      ]);
      if (slot.comeBackInMs !== undefined) throw hostBusy(slot.comeBackInMs);
      let receiverMs: number | null = null;
      const onAnswer = (ms: number) => {
        receiverMs = ms;
      };
      try {
        return await inTrace(delivery.traceId, () =>
          whileBeating(() => makeAttempt(deps, input, delivery, onAnswer)),
        );
      } finally {
        slot.leave(receiverMs);
      }
    },

    async stopCallback({ taskId, delivery }: CallbackName): Promise<void> {
      await stopDelivery(deps.db, taskId, delivery);
    },
  };
}

/**
 * The outcome if no request is needed: a newer delivery has begun, the callback is final, or the
 * answer was recorded before a crash. Null if a request is needed.
 */
function knownOutcome(
  deps: CallbackDeps,
  { delivery, attempt, chance }: CallbackAttempt,
  { deliveries, state, answered, nextAt }: Delivery,
): CallbackOutcome | null {
  const { status, error } = answered ?? { status: null, error: null };
  if (deliveries > delivery) return { state: 'superseded', status, error, nextInMs: null };
  if (state !== 'pending') return { state, status, error, nextInMs: null };
  const gapMs = answered && nextGapMs(attempt, chance, null);
  if (!answered || gapMs === null) return null;
  const nextInMs = nextAt ? Math.max(0, nextAt.getTime() - deps.now()) : gapMs;
  return { state, status, error, nextInMs };
}

async function makeAttempt(
  deps: CallbackDeps,
  { taskId, delivery, attempt, chance }: CallbackAttempt,
  message: Delivery,
  onAnswer: (receiverMs: number) => void,
): Promise<CallbackOutcome> {
  const id = await beginAttempt(deps.db, taskId, delivery, attempt, new Date(deps.now()));
  // The measured latency begins here and does not include the time of the database.
  const started = performance.now();
  const sent = await post(deps, taskId, message, deps.now());
  const latencyMs = Math.round(performance.now() - started);
  onAnswer(latencyMs);
  const verdict = verdictOf(sent.status);
  const nextInMs = verdict === 'again' ? nextGapMs(attempt, chance, sent.retryAfterMs) : null;
  const state = verdict === 'again' ? (nextInMs === null ? 'exhausted' : 'pending') : verdict;
  await finishAttempt(
    deps.db,
    { id, taskId, delivery },
    { status: sent.status, latencyMs, error: sent.error, reply: sent.reply },
    { state, nextAt: nextInMs === null ? null : new Date(deps.now() + nextInMs) },
  );
  deps.onAttempt(state === 'pending' ? 'again' : state, latencyMs, taskId);
  return { state, status: sent.status, error: sent.error, nextInMs };
}

type Sent = Omit<Answer, 'latencyMs'> & { readonly retryAfterMs: number | null };

async function post(
  deps: CallbackDeps,
  taskId: string,
  { url, status, body, secrets }: Delivery,
  nowMs: number,
): Promise<Sent> {
  const nothing = { status: null, reply: null, retryAfterMs: null };
  // An unsigned message is never sent. Receivers that verify signatures would refuse the message.
  // Other receivers must not get used to unsigned messages.
  if (secrets.length === 0) return { ...nothing, error: 'The account has no webhook secret.' };
  const message = { id: `${taskId}:${status}`, timestampSeconds: Math.floor(nowMs / 1000), body };
  try {
    const reply = await guardedPost({
      url,
      body,
      allowHosts: deps.allowHosts,
      ...limits,
      ...deps.limits,
      // A stopping worker waits a short time for its requests and then aborts the requests.
      // Another worker then repeats the attempt.
      signal: Context.current().cancellationSignal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'video-generation-service',
        ...traceHeaders(),
        ...webhookHeaders(message, secrets),
      },
    });
    return {
      status: reply.status,
      error: verdictOf(reply.status) === 'delivered' ? null : `HTTP ${reply.status}`,
      // PostgreSQL accepts no NUL in a text.
      reply: reply.body.replaceAll('\u0000', '').slice(0, replyCharsKept),
      retryAfterMs: retryAfterMs(reply.retryAfter, nowMs),
    };
  } catch (error) {
    if (!(error instanceof GuardedFailure)) throw error;
    return { ...nothing, error: error.message };
  }
}

/**
 * Returns an error that makes Temporal run this attempt again later. Nothing was sent or stored,
 * and the number of the attempt stays the same.
 */
function hostBusy(comeBackInMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'HostBusy',
    message: 'The receiver has reached its limit of concurrent deliveries; this delivery waits.',
    nextRetryDelay: comeBackInMs,
    category: 'BENIGN',
  });
}
