// Tasks owe `start` while they are pending: their workflow must be started. Each API process and each
// worker runs this loop. A create wakes the loop of its process. The others find the tasks that were
// accepted while Temporal was away, and those of a process that died. A second start does no harm,
// because the task's id is the workflow's. A task that cannot be started any more ends here.

import type { Knex } from 'knex';
import type { TemporalClient } from '../../engine/client';
import { createLoop, type Duty, type Loop } from '../../owed/loop';
import {
  claimStarts,
  failPending,
  type Owing,
  releaseStart,
  startLater,
  startLeaseSeconds,
} from '../pending.rows';
import { expiredMessage, stoppedMessage } from '../task.rules';
import type { TaskInput } from '../task-transactions.rules';

interface Starts {
  readonly db: Knex;
  /** `ended`: the workflow of the task has completed. `refused`: Temporal refuses each start. */
  start(input: TaskInput): Promise<'started' | 'ended' | 'refused' | 'unanswered'>;
  onEnded?(taskId: string, message: string): void;
}

// A task whose start failed is due again after this time, so that other tasks go first.
const startAgainSeconds = 5;

export function taskStarts({ db, start, onEnded }: Starts): Duty<Owing> {
  const end = async (taskId: string, message: string): Promise<void> => {
    if (await failPending(db, taskId, message)) onEnded?.(taskId, message);
  };
  return {
    name: 'start',
    // Sixteen starts at once keep a small Temporal server busy.
    atOnce: 16,
    idleMs: 1_000,
    claim: claimStarts(db),
    async fulfil({ isExpired, ...input }) {
      const { taskId, plan } = input;
      if (isExpired) {
        await end(taskId, expiredMessage(plan.expiresAfterSeconds));
        return true;
      }
      const outcome = await start(input);
      // If the workflow has ended although the row is pending, the database of the service or of
      // Temporal was restored from a backup, or the workflow was terminated.
      if (outcome === 'ended') await end(taskId, stoppedMessage);
      if (outcome === 'unanswered') return false;
      // A started task stays pending until its workflow opens it, usually before its lease ends.
      if (Date.now() - input.createdAtMs > startLeaseSeconds * 1_000) await startLater(db, taskId);
      return true;
    },
    postpone: ({ taskId }) => releaseStart(db, taskId, startAgainSeconds),
  };
}

// The gRPC code of a call that Temporal refuses, however often it is repeated.
const invalidArgument = 3;

/** True if Temporal refuses to start the workflow, however often it is tried. */
export function isRefusedStart(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return cause?.code === invalidArgument;
}

/** The loop of an API process. A create is told whether Temporal is away. */
export function createStarter(
  db: Knex,
  temporal: Pick<TemporalClient, 'submit'>,
  onError: (what: string, error: unknown) => void,
): Loop {
  const starts = taskStarts({
    db,
    async start(input) {
      const submission = await temporal.submit(input);
      if (submission.outcome !== 'unanswered') return submission.outcome;
      return isRefusedStart(submission.error) ? 'refused' : 'unanswered';
    },
  });
  return createLoop(starts, onError);
}
