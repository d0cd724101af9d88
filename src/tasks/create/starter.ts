// Starts the workflows of stored tasks. A create starts its own task if few starts are in progress
// and Temporal answers. All other tasks are started by a loop, which every API process runs: tasks of
// a burst, tasks that were accepted while Temporal was unavailable, and tasks of a process that died
// after its caller got the id. A task that is not answered is withdrawn by the reconciler.
// A lease in the row keeps two processes from starting the same task; a second start would do no harm,
// because the task's id is the workflow's.

import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Submission, TemporalClient } from '../../engine/client';
import { claimStarts, failPending, releaseStart } from '../pending.rows';
import { stoppedMessage } from '../task.rules';
import type { TaskInput } from '../task-transactions.rules';

/** A start that is reserved for a create until `leave` is called. */
export interface Start {
  leave(): void;
}

export interface Starter {
  /** Null if the loop must start the task of the create. */
  enter(accountId: string): Start | null;
  submit(input: TaskInput): Promise<Submission>;
  /** Lets the loop claim tasks at once. */
  wake(): void;
  /** Stops the loop and waits for its starts in progress. */
  close(): Promise<void>;
}

type Temporal = Pick<TemporalClient, 'submit' | 'deliverCallback'>;
type OnError = (what: string, error: unknown) => void;

/**
 * The lease must be longer than a start waits for its answer (ACCEPT_TIMEOUT_MS, at most 15 s), and
 * shorter than the minute after which the reconciler withdraws or starts the task.
 */
export const leaseSeconds = 35;
// A task whose start failed is due again after this time, so that other tasks go first.
export const startAgainSeconds = 5;
// Sixteen starts at once keep a small Temporal server busy. Creates may have as many for one
// account, and the loop has as many of its own.
const startsMax = 16;
// After so many unanswered starts in a row no create waits for Temporal, and the loop starts one task
// a second, to find out whether Temporal answers again.
const unansweredMax = 3;
// Nothing wakes the loop for tasks of a process that died, or for tasks that are due again.
const idleMs = 1_000;

export function createStarter(db: Knex, temporal: Temporal, onError: OnError): Starter {
  const reserve = limitPerAccount(startsMax);
  const byLoop = new Set<Promise<void>>();
  let unanswered = 0;
  let lastTurn = '';
  let isClosed = false;
  let alarm = new AbortController();
  const isAway = () => unanswered >= unansweredMax;
  const wake = (): void => {
    if (!isAway()) alarm.abort();
  };

  const submit = async (input: TaskInput): Promise<Submission> => {
    const submission = await temporal.submit(input);
    unanswered = submission.outcome === 'unanswered' ? unanswered + 1 : 0;
    return submission;
  };

  /** Returns true if more tasks may be due. */
  const claim = async (): Promise<boolean> => {
    const limit = Math.min(startsMax - byLoop.size, isAway() ? 1 : startsMax);
    if (limit === 0 || isClosed) return false;
    const inputs = await claimStarts(db, { limit, lastTurn, leaseSeconds });
    for (const input of inputs) {
      const started = submit(input)
        .then((submission) => repairRow(db, temporal, input, submission))
        .catch((error: unknown) => onError('start', error))
        .finally(() => {
          byLoop.delete(started);
          // Not after every start, so that one claim takes several tasks.
          if (byLoop.size % 4 === 0) wake();
        });
      byLoop.add(started);
    }
    lastTurn = inputs.at(-1)?.accountId ?? lastTurn;
    return inputs.length > 0 && !isAway();
  };

  const loop = async (): Promise<void> => {
    while (!isClosed) {
      alarm = new AbortController();
      while (await claim().catch((error: unknown) => onError('claim', error)));
      // `wake` ends the pause, even if `wake` was called while `claim` was running.
      await pause(idleMs, undefined, alarm).catch(() => undefined);
    }
  };

  const looping = loop();
  return {
    enter: (accountId) => (isAway() ? null : reserve(accountId)),
    submit,
    wake,
    async close() {
      isClosed = true;
      alarm.abort();
      await looping;
      await Promise.all(byLoop);
    },
  };
}

/** Repairs the row of a task that the loop has submitted. */
async function repairRow(
  db: Knex,
  temporal: Temporal,
  { taskId }: TaskInput,
  { outcome }: Submission,
): Promise<void> {
  if (outcome === 'unanswered') return releaseStart(db, taskId, startAgainSeconds);
  // The workflow has opened or refused the task, or it has ended. If the row is pending all the same,
  // the database of the service or of Temporal was restored from a backup, or the workflow was
  // terminated. It does not open the task any more, so the task fails.
  const ended = await failPending(db, taskId, stoppedMessage);
  // If this call fails, the reconciler starts the delivery.
  if (ended?.hasCallback) await temporal.deliverCallback(taskId);
}

function limitPerAccount(max: number): (accountId: string) => Start | null {
  const running = new Map<string, number>();
  const add = (accountId: string, change: number): void => {
    const count = (running.get(accountId) ?? 0) + change;
    if (count > 0) running.set(accountId, count);
    else running.delete(accountId);
  };
  return (accountId) => {
    if ((running.get(accountId) ?? 0) >= max) return null;
    add(accountId, 1);
    return { leave: () => add(accountId, -1) };
  };
}
