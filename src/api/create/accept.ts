// Stores a create as a pending task. Either this call or the starter then starts the task's
// workflow. The reply comes from the workflow's answer, or from the task's row if there is no such
// answer.

import { type Acceptance, acceptTask } from '../../db/accept-task';
import { isOutcomeUnknown, isRetryable } from '../../db/database';
import { accountDisabled, insufficientBalance } from '../../db/payment-refusals';
import { markAnswered } from '../../db/pending-tasks';
import type { StoredTask } from '../../db/tasks';
import { budgetExceeded } from '../../domain/budget';
import { askedFor } from '../../domain/pricing';
import type { NewTask, TaskInput } from '../../domain/task-transactions';
import type { AtOnce } from '../at-once';
import { type KeyedCall, Refused } from '../context';
import type { ApiDeps } from '../deps';
import { limitHeaders, rateLimited } from '../limits';
import {
  type CreateOutcome,
  maybeStarted,
  maybeStored,
  notAccepted,
  storedOutcome,
} from './answer';
import { mayBeRepeated } from './repeat';
import type { Replay } from './replay';
import type { StartSlot } from './start-slots';
import { leaseSeconds, startAgainSeconds } from './starter';

export type Accept = (ctx: KeyedCall, task: NewTask) => Promise<CreateOutcome>;

export function createAccept(deps: ApiDeps, replay: Replay, atOnce: AtOnce): Accept {
  const { observer } = deps;
  return async (ctx, task) => {
    let result: Awaited<ReturnType<typeof store>>;
    try {
      result = await atOnce(task.accountId, () => store(deps, ctx, task));
    } catch (error) {
      if (!isRetryable(error)) throw error;
      observer.failed(error, ctx.state.requestId);
      return isOutcomeUnknown(error) ? maybeStored(task.taskId) : notAccepted();
    }
    const { stored, slot } = result;
    if (stored.outcome === 'stored') {
      const input = inputOf(task, stored);
      if (slot && !slot.isProbe) return startAndWait(deps, ctx, input, slot);
      return answerPending(deps, ctx, input, slot);
    }
    slot?.leave();
    if (stored.outcome !== 'known') return notStored(task, stored);
    return replay.of(stored.task, task.requestHash);
  };
}

async function store({ db, settings, starter }: ApiDeps, ctx: KeyedCall, task: NewTask) {
  // Nobody would learn the id of this task, and a repeat of the call may come already.
  if (ctx.res.destroyed && !ctx.headers['idempotency-key']) throw new Refused(callerGone);
  const slot = starter.slots.take(task.accountId);
  try {
    const { queuedTasksMax } = settings;
    // Without a slot this call does not start the task, so it takes no lease. After the row is
    // marked as answered, the starter of any API process may start the task.
    const options = {
      leaseSeconds: slot ? leaseSeconds : 0,
      queuedTasksMax,
      mayBeRepeated: mayBeRepeated(ctx),
    };
    return { stored: await acceptTask(db, task, options), slot };
  } catch (error) {
    slot?.leave();
    throw error;
  }
}

const callerGone = {
  code: 'unavailable',
  param: '',
  message: 'The connection was closed before the task was stored, so there is no task.',
} as const;

function notStored(
  { plan }: NewTask,
  found: Exclude<Acceptance, { outcome: 'stored' | 'known' }>,
): CreateOutcome {
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

/**
 * Answers `pending` without waiting for the workflow. If `slot` is null, the starter starts the
 * task. A slot is given here only while Temporal counts as unavailable. This call then starts the
 * task at once, to find out whether Temporal answers again.
 */
async function answerPending(
  deps: ApiDeps,
  ctx: KeyedCall,
  input: TaskInput,
  slot: StartSlot | null,
): Promise<CreateOutcome> {
  const { db, starter, observer } = deps;
  const { taskId } = input;
  let row: StoredTask;
  try {
    row = await markAnswered(db, taskId, null);
  } catch (error) {
    slot?.leave();
    if (!isRetryable(error)) throw error;
    observer.failed(error, ctx.state.requestId);
    // If the statement succeeded and only its answer was lost, the starter will start the task.
    return isOutcomeUnknown(error) ? maybeStarted(taskId) : maybeStored(taskId);
  }
  if (slot) {
    void starter.start(input, slot);
  } else {
    starter.wake();
  }
  return storedOutcome('created', row);
}

async function startAndWait(
  deps: ApiDeps,
  ctx: KeyedCall,
  input: TaskInput,
  slot: StartSlot,
): Promise<CreateOutcome> {
  const submission = await deps.temporal.submit(input);
  slot.release(submission.outcome !== 'unanswered');
  if (submission.outcome === 'accepted') return { outcome: 'created', task: submission.task };
  if (submission.outcome === 'refused') return new Refused(submission.refusal);
  try {
    // Temporal neither accepted nor refused the task, so the row tells the state of the task. The
    // caller now gets the id of the task, so the reconciler must not withdraw the task any more.
    const row = await markAnswered(deps.db, input.taskId, startAgainSeconds);
    return storedOutcome('created', row);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    deps.observer.failed(error, ctx.state.requestId);
    return maybeStarted(input.taskId);
  }
}
