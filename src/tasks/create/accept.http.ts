// Stores a create as a pending task and answers it. The starter of this process is woken and starts
// the workflow; no call waits for Temporal.

import { budgetExceeded } from '../../accounts/budget.rules';
import { accountDisabled, insufficientBalance } from '../../accounts/payment-refusals.rows';
import { alertBudgets } from '../../callbacks/alerts.rows';
import { isOutcomeUnknown, isRetryable } from '../../database/database';
import { type KeyedCall, Refused } from '../../gateway/context';
import type { KeyedDeps } from '../../gateway/deps';
import { limitHeaders, rateLimited } from '../../gateway/limits';
import { mayBeRepeated } from '../../gateway/retry-hints';
import { askedFor } from '../../planning/pricing.rules';
import { type Acceptance, acceptTask } from '../accept.rows';
import { acceptedTask } from '../task.rules';
import type { NewTask } from '../task-transactions.rules';
import { type CreateOutcome, notAccepted, outcomeUnknown } from './answer.http';
import type { Replay } from './replay.http';

export type Accept = (ctx: KeyedCall, task: NewTask) => Promise<CreateOutcome>;

export function createAccept(deps: KeyedDeps, replay: Replay): Accept {
  const { settings, starter } = deps;
  return async (ctx, task) => {
    // The row keeps this word, because reads must not go back from it.
    const toldPending = starter.isAway();
    const acceptance = await acceptTask(ctx.state.db, task, {
      toldPending,
      queuedTasksMax: settings.queuedTasksMax,
      mayBeRepeated: mayBeRepeated(ctx),
      // Nobody would learn the id of this task, and a repeat of the call may come already.
      isWanted: () => !ctx.res.destroyed || ctx.headers['idempotency-key'] !== undefined,
      budgetsRead(budgets, isStored) {
        const { amountMicros } = task.plan.hold;
        const { currency } = task.plan.price;
        // The answer is already decided, and does not wait. What fails here, the next create announces.
        void alertBudgets(ctx.state.db, budgets, { amountMicros, currency, isStored }).catch(
          (error: unknown) => {
            if (!(error instanceof Refused)) deps.observer.failed(error, ctx.state);
          },
        );
      },
    }).catch((error: unknown) => failed(deps, ctx, task, error));
    switch (acceptance.outcome) {
      case 'stored': {
        starter.wake();
        const status = toldPending ? 'pending' : 'submitted';
        return { outcome: 'created', task: acceptedTask(task.taskId, status) };
      }
      case 'known':
        return replay.of(acceptance.task, task.requestHash);
      case 'refused':
        return acceptance;
      case 'unwanted':
        ctx.state.isAbandoned = true;
        return new Refused(callerGone);
      default:
        return notStored(task, acceptance);
    }
  };
}

const callerGone = {
  code: 'unavailable',
  param: '',
  message: 'The connection was closed before the task was stored, so there is no task.',
} as const;

function failed(
  { observer, starter }: KeyedDeps,
  ctx: KeyedCall,
  { taskId }: NewTask,
  error: unknown,
): Refused {
  if (error instanceof Refused) return error;
  if (!isRetryable(error)) throw error;
  observer.failed(error, ctx.state);
  if (!isOutcomeUnknown(error)) return notAccepted();
  // The task may be stored.
  starter.wake();
  return outcomeUnknown(taskId);
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
