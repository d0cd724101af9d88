// Starts the workflows of stored tasks. Each API process runs this loop. A create wakes the loop of
// its process. The loops of all processes also look for due tasks once a second: tasks that were
// accepted while Temporal was away, and tasks of a process that died.
// A lease in the row keeps two processes from starting the same task; a second start would do no harm,
// because the task's id is the workflow's.

import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Submission, TemporalClient } from '../../engine/client';
import { claimStarts, failPending, releaseStart } from '../pending.rows';
import { stoppedMessage } from '../task.rules';
import type { TaskInput } from '../task-transactions.rules';

export interface Starter {
  /** True if Temporal has not answered the last starts. */
  isAway(): boolean;
  /** Lets the loop claim tasks at once. */
  wake(): void;
  /** Stops the loop and waits for its starts in progress. */
  close(): Promise<void>;
}

type Temporal = Pick<TemporalClient, 'submit'>;
type OnError = (what: string, error: unknown) => void;

// The lease is longer than a start waits for its answer (engine/connection.ts), and shorter than the
// minute after which the reconciler starts the task.
const leaseSeconds = 35;
// A task whose start failed is due again after this time, so that other tasks go first.
const startAgainSeconds = 5;
// Sixteen starts at once keep a small Temporal server busy.
const startsMax = 16;
// After so many unanswered starts in a row the loop starts one task a second, to find out whether
// Temporal answers again.
const unansweredMax = 3;
// Nothing wakes the loop for tasks of a process that died, or for tasks that are due again.
const idleMs = 1_000;

export function createStarter(db: Knex, temporal: Temporal, onError: OnError): Starter {
  const running = new Set<Promise<void>>();
  let unanswered = 0;
  let lastTurn = '';
  let isClosed = false;
  let alarm = new AbortController();
  const isAway = () => unanswered >= unansweredMax;
  const wake = (): void => {
    if (!isAway()) alarm.abort();
  };

  const start = async (input: TaskInput): Promise<void> => {
    const { outcome } = await temporal.submit(input);
    unanswered = outcome === 'unanswered' ? unanswered + 1 : 0;
    await repairRow(db, input, outcome);
  };

  /** Returns true if more tasks may be due. */
  const claim = async (): Promise<boolean> => {
    const limit = Math.min(startsMax - running.size, isAway() ? 1 : startsMax);
    if (limit === 0 || isClosed) return false;
    const inputs = await claimStarts(db, { limit, lastTurn, leaseSeconds });
    for (const input of inputs) {
      const started = start(input)
        .catch((error: unknown) => onError('start', error))
        .finally(() => {
          running.delete(started);
          // Not after every start, so that one claim takes several tasks.
          if (running.size % 4 === 0) wake();
        });
      running.add(started);
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
    isAway,
    wake,
    async close() {
      isClosed = true;
      alarm.abort();
      await looping;
      await Promise.all(running);
    },
  };
}

/** A started task stays pending until its workflow opens it. */
async function repairRow(
  db: Knex,
  { taskId }: TaskInput,
  outcome: Submission['outcome'],
): Promise<void> {
  if (outcome === 'started') return;
  if (outcome === 'unanswered') return releaseStart(db, taskId, startAgainSeconds);
  // The workflow has ended. If the row is pending all the same, the database of the service or of
  // Temporal was restored from a backup, or the workflow was terminated. It does not open the task any
  // more, so the task fails.
  await failPending(db, taskId, stoppedMessage);
}
