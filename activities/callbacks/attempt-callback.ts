// Makes one attempt to deliver a callback: signs the message, posts it and records the result. The
// workflow counts the attempts and schedules the next attempt. If the receiver has reached its
// limit of concurrent deliveries, nothing is sent, and no attempt is counted.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Delivery } from '../../src/callbacks/callbacks.rows';
import {
  beginAttempt,
  findDelivery,
  finishAttempt,
  stopDelivery,
} from '../../src/callbacks/callbacks.rows';
import { afterAttempt, nextGapMs } from '../../src/callbacks/schedule.rules';
import type {
  CallbackAttempt,
  CallbackName,
  CallbackOutcome,
  WebhookTest,
} from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { whileBeating } from '../heartbeat';
import { inTrace } from '../task-trace';
import { enterFor } from './receiver-slot';
import { type Post, type PostLimits, postSigned } from './signed-post';
import { testWebhook } from './test-webhook';

type Sender = Pick<WorkerDeps, 'db' | 'events' | 'now' | 'settings' | 'hostShare'>;

/** Tests set shorter times than the contract's. */
export function createCallbackActivities(deps: Sender, shorter: Partial<PostLimits> = {}) {
  const post: Post = (message) =>
    postSigned(deps, message, shorter, Context.current().cancellationSignal);
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
      const slot = enterFor(deps, delivery);
      if (slot.comeBackInMs !== undefined) throw hostBusy(slot.comeBackInMs);
      let receiverMs: number | null = null;
      const onAnswer = (ms: number) => {
        receiverMs = ms;
      };
      try {
        return await inTrace(delivery.traceId, () =>
          whileBeating(() => makeAttempt(deps, post, input, delivery, onAnswer)),
        );
      } finally {
        slot.leave(receiverMs);
      }
    },

    async stopCallback({ taskId, delivery }: CallbackName): Promise<void> {
      await stopDelivery(deps.db, taskId, delivery);
    },

    testWebhook: (input: WebhookTest) =>
      testWebhook(deps, post, (receiver) => enterFor(deps, receiver), input),
  };
}

/**
 * The outcome if no request is needed: a newer delivery has begun, the callback is final, or the
 * answer was recorded before a crash. Null if a request is needed.
 */
function knownOutcome(
  deps: Sender,
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
  deps: Sender,
  post: Post,
  { taskId, delivery, attempt, chance }: CallbackAttempt,
  message: Delivery,
  onAnswer: (receiverMs: number) => void,
): Promise<CallbackOutcome> {
  const id = await beginAttempt(deps.db, taskId, delivery, attempt, new Date(deps.now()));
  // The measured latency begins here and does not include the time of the database.
  const started = performance.now();
  const { url, body, secrets } = message;
  const sent = await post({ id: `${taskId}:${message.status}`, url, body, secrets });
  const latencyMs = Math.round(performance.now() - started);
  onAnswer(latencyMs);
  const { state, nextInMs } = afterAttempt(attempt, chance, sent);
  await finishAttempt(
    deps.db,
    { id, taskId, delivery },
    { status: sent.status, latencyMs, error: sent.error, reply: sent.reply },
    { state, nextAt: nextInMs === null ? null : new Date(deps.now() + nextInMs) },
  );
  deps.events.callbackAttempt(state === 'pending' ? 'again' : state, latencyMs, taskId);
  return { state, status: sent.status, error: sent.error, nextInMs };
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
