// One attempt to deliver a callback: sign, post, record. Which attempt it is and when the next one comes is the
// workflow's business; a host that already has its share of deliveries is left alone without that counting as one.

import { ApplicationFailure } from '@temporalio/activity';
import type { Knex } from 'knex';
import { type Delivery, findDelivery, recordAttempt } from '../src/db/callbacks';
import { activeSecrets } from '../src/db/webhook-secrets';
import { nextGapMs, verdictOf } from '../src/domain/callback-schedule';
import type { CallbackAttempt, CallbackOutcome } from '../workflows/messages';
import { GuardedFailure, guardedPost } from './address-guard';
import { retryAfterMs } from './upstream';
import { webhookHeaders } from './webhook-signature';

export interface CallbackDeps {
  readonly db: Knex;
  readonly allowHosts: readonly string[];
  readonly now: () => number;
  /** Deliveries to one host at the same time, in this process. */
  readonly perHostMax: number;
  readonly onAttempt: (outcome: string, ms: number) => void;
}

// The receiver's limits of the callback's description: 15 s in all, 5 s of them for the connection, 4 KiB of answer.
const timeoutMs = 15_000;
const connectTimeoutMs = 5_000;
const replyBytesMax = 4096;
// Enough of an answer to recognise an error page by, without keeping a receiver's data.
const replyCharsKept = 256;

export function createCallbackActivities(deps: CallbackDeps) {
  const busy = new Map<string, number>();
  return {
    async attemptCallback(input: CallbackAttempt): Promise<CallbackOutcome> {
      const delivery = await findDelivery(deps.db, input.taskId);
      if (!delivery) {
        throw ApplicationFailure.nonRetryable('There is no callback to deliver.', 'NoCallback');
      }
      const host = new URL(delivery.url).host;
      const running = busy.get(host) ?? 0;
      if (running >= deps.perHostMax) throw hostBusy();
      busy.set(host, running + 1);
      try {
        return await attempt(deps, input, delivery);
      } finally {
        const left = (busy.get(host) ?? 1) - 1;
        if (left > 0) busy.set(host, left);
        else busy.delete(host);
      }
    },
  };
}

async function attempt(
  deps: CallbackDeps,
  input: CallbackAttempt,
  delivery: Delivery,
): Promise<CallbackOutcome> {
  const startedMs = deps.now();
  const sent = await post(deps, input.taskId, delivery, startedMs);
  const latencyMs = deps.now() - startedMs;
  const verdict = verdictOf(sent.status);
  const nextInMs =
    verdict === 'again' ? nextGapMs(input.attempt, input.chance, sent.retryAfterMs) : null;
  const state = verdict === 'again' ? (nextInMs === null ? 'exhausted' : 'pending') : verdict;
  await recordAttempt(
    deps.db,
    input.taskId,
    input.delivery,
    {
      attempt: input.attempt,
      at: new Date(startedMs),
      status: sent.status,
      latencyMs,
      error: sent.error,
      reply: sent.reply,
    },
    { state, nextAt: nextInMs === null ? null : new Date(deps.now() + nextInMs) },
  );
  deps.onAttempt(state === 'pending' ? 'again' : state, latencyMs);
  return { state, status: sent.status, error: sent.error, nextInMs };
}

interface Sent {
  readonly status: number | null;
  readonly error: string | null;
  readonly reply: string | null;
  readonly retryAfterMs: number | null;
}

async function post(
  { db, allowHosts }: CallbackDeps,
  taskId: string,
  { accountId, url, status, body }: Delivery,
  nowMs: number,
): Promise<Sent> {
  const secrets = await activeSecrets(db, accountId);
  const message = {
    id: `${taskId}:${status}`,
    timestampSeconds: Math.floor(nowMs / 1000),
    body,
  };
  try {
    const reply = await guardedPost({
      url,
      body,
      allowHosts,
      connectTimeoutMs,
      timeoutMs,
      replyBytesMax,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'video-generation-service',
        ...webhookHeaders(message, secrets),
      },
    });
    const failed = verdictOf(reply.status) !== 'delivered';
    return {
      status: reply.status,
      error: failed ? `HTTP ${reply.status}` : null,
      // PostgreSQL takes no NUL in a text.
      reply: reply.body.replaceAll('\u0000', '').slice(0, replyCharsKept),
      retryAfterMs: retryAfterMs(reply.retryAfter, nowMs),
    };
  } catch (error) {
    if (!(error instanceof GuardedFailure)) throw error;
    return { status: null, error: error.message, reply: null, retryAfterMs: null };
  }
}

/** Not an attempt: tried again within seconds, without a number and without a row. */
function hostBusy(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'HostBusy',
    message: 'This host has its share of deliveries; this one waits.',
    nextRetryDelay: 1_000 + Math.random() * 4_000,
    category: 'BENIGN',
  });
}
