// Stores a create as a pending task. Either this call starts the task's workflow and answers with the
// workflow's answer, or with the task's row if there is no such answer. Or the starter starts it, and
// the call is answered at once.

import { budgetExceeded } from '../../accounts/budget.rules';
import { accountDisabled, insufficientBalance } from '../../accounts/payment-refusals.rows';
import { isOutcomeUnknown, isRetryable } from '../../database/database';
import { type KeyedCall, Refused } from '../../gateway/context';
import type { KeyedDeps } from '../../gateway/deps';
import { limitHeaders, rateLimited } from '../../gateway/limits';
import { mayBeRepeated } from '../../gateway/retry-hints';
import { askedFor } from '../../planning/pricing.rules';
import { type Acceptance, acceptTask } from '../accept.rows';
import { markAnswered } from '../pending.rows';
import { pendingTask } from '../task.rules';
import type { NewTask, TaskInput } from '../task-transactions.rules';
import {
  type CreateOutcome,
  maybeStarted,
  maybeStored,
  notAccepted,
  storedOutcome,
} from './answer.http';
import type { Replay } from './replay.http';
import { leaseSeconds, type Start, startAgainSeconds } from './starter';

export type Accept = (ctx: KeyedCall, task: NewTask) => Promise<CreateOutcome>;

export function createAccept(deps: KeyedDeps, replay: Replay): Accept {
  return async (ctx, task) => {
    let start = null as Start | null;
    try {
      start = deps.starter.enter(task.accountId);
      const acceptance = await store(deps, ctx, task, start !== null).catch((error: unknown) =>
        unknownOutcome(deps, ctx, task, { error, startsNow: start !== null }),
      );
      switch (acceptance.outcome) {
        case 'stored':
          if (start) return await startAndWait(deps, ctx, inputOf(task, acceptance));
          deps.starter.wake();
          return { outcome: 'created', task: pendingTask(task.taskId) };
        case 'known':
          return await replay.of(ctx, acceptance.task, task.requestHash);
        case 'refused':
          return acceptance;
        case 'unwanted':
          ctx.state.isAbandoned = true;
          return new Refused(callerGone);
        default:
          return notStored(task, acceptance);
      }
    } finally {
      start?.leave();
    }
  };
}

async function store(
  { settings }: KeyedDeps,
  ctx: KeyedCall,
  task: NewTask,
  startsNow: boolean,
): Promise<Acceptance> {
  return acceptTask(ctx.state.db, task, {
    // If this call does not start the task, the call is answered as soon as the row is stored. It
    // takes no lease: the starter of any API process may start the task.
    leaseSeconds: startsNow ? leaseSeconds : 0,
    answered: !startsNow,
    queuedTasksMax: settings.queuedTasksMax,
    mayBeRepeated: mayBeRepeated(ctx),
    // Nobody would learn the id of this task, and a repeat of the call may come already.
    isWanted: () => !ctx.res.destroyed || ctx.headers['idempotency-key'] !== undefined,
  });
}

const callerGone = {
  code: 'unavailable',
  param: '',
  message: 'The connection was closed before the task was stored, so there is no task.',
} as const;

function unknownOutcome(
  { observer }: KeyedDeps,
  ctx: KeyedCall,
  { taskId }: NewTask,
  { error, startsNow }: { readonly error: unknown; readonly startsNow: boolean },
): Refused {
  if (error instanceof Refused) return error;
  if (!isRetryable(error)) throw error;
  observer.failed(error, ctx.state);
  if (!isOutcomeUnknown(error)) return notAccepted();
  // Another call with the same key may have started the task.
  const isOurs = startsNow && !ctx.headers['idempotency-key'];
  return isOurs ? maybeStored(taskId) : maybeStarted(taskId);
}

function notStored(
  { plan }: NewTask,
  found: Exclude<Acceptance, { outcome: 'stored' | 'known' | 'unwanted' }>,
): Refused {
  switch (found.outcome) {
    case 'disabled':
      return new Refused(accountDisabled);
    case 'short':
      return new Refused(insufficientBalance(askedFor(plan), found));
    case 'over_budget':
      return new Refused(budgetExceeded(found.budget, askedFor(plan)));
    case 'full': {
      const { unfinished, queuedMax } = found;
      const message =
        `This account has ${unfinished} unfinished tasks, and its limit is ${queuedMax}. ` +
        'Try again when some of them have finished.';
      return new Refused(rateLimited(message), limitHeaders(queuedMax, 10));
    }
  }
}

function inputOf(
  { taskId, accountId, plan, traceId, request: { metadata } }: NewTask,
  { createdAtMs, deadlineAtMs }: Extract<Acceptance, { outcome: 'stored' }>,
): TaskInput {
  const labels = metadata.labels ?? null;
  const times = { createdAtMs, deadlineAtMs };
  return { taskId, accountId, plan, traceId, ...times, labels };
}

async function startAndWait(
  deps: KeyedDeps,
  ctx: KeyedCall,
  input: TaskInput,
): Promise<CreateOutcome> {
  const submission = await deps.starter.submit(input);
  switch (submission.outcome) {
    case 'accepted':
      return { outcome: 'created', task: submission.task };
    case 'refused':
      return new Refused(submission.refusal);
    default:
      return answerMaybeStarted(deps, ctx, input.taskId);
  }
}

/**
 * Answers from the task's row, because its workflow has not answered. From then on the caller has the
 * id of the task, so the row is marked first, and the reconciler does not withdraw the task.
 */
async function answerMaybeStarted(
  { observer }: KeyedDeps,
  ctx: KeyedCall,
  taskId: string,
): Promise<CreateOutcome> {
  try {
    return storedOutcome('created', await markAnswered(ctx.state.db, taskId, startAgainSeconds));
  } catch (error) {
    if (!isRetryable(error)) throw error;
    observer.failed(error, ctx.state);
    return maybeStarted(taskId);
  }
}
