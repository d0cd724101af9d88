// Jobs owe `turn` if their workflow must be told that they can be placed. The watcher tells it at once.
// If the watcher died before that, the signal is sent here. If the worker of the attempt died before it
// reported that the job waits, the attempt is still open. It is failed, and the next one uses the turn.
// A signal that was not needed only causes one more attempt.

import { claimTurns, closeLeft, endTurn } from '../../src/jobs/owed.rows';
import type { Duty } from '../../src/owed/loop';
import type { WorkerDeps } from '../deps';
import { failAttempt } from '../jobs/fail-attempt';
import { offerTurn } from '../jobs/notify-tasks';

type Turning = Pick<WorkerDeps, 'db' | 'client' | 'events'>;
type Owing = Awaited<ReturnType<ReturnType<typeof claimTurns>>>[number];

const why = 'The worker that reported the wait of the job died or fell silent.';

export function owedTurns({ db, client, events }: Turning): Duty<Owing> {
  return {
    name: 'turn',
    atOnce: 16,
    idleMs: 1_000,
    claim: claimTurns(db),
    async fulfil(job) {
      if (job.isLeft) await closeLeft(db, job);
      else if (job.isOver) await endTurn(db, job);
      else {
        // The order matters: a signal starts an attempt, which must not be failed.
        if (!(await failAttempt(client, job, why))) return offerTurn(client, job);
        events.attemptSilent(job.taskId);
      }
      return true;
    },
  };
}
