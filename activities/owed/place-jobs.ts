// Jobs owe `place` while an attempt to place them is at work: it renews its lease. If the lease has
// lapsed, the worker of the attempt died or is frozen. The attempt is failed, and Temporal starts the
// next one, which takes the job over. An attempt that lives after all loses nothing: a job that it gets
// still counts (docs/decisions.md, 29). If Temporal has lost its last seconds, the workflow may wait for
// a turn although the row says that an attempt is at work. The turn is then signalled here.

import { claimLapsed, closeLeft, pausePlacing } from '../../src/jobs/owed.rows';
import { afterOutages } from '../../src/owed/claim.rows';
import type { Duty } from '../../src/owed/loop';
import type { WorkerDeps } from '../deps';
import { failAttempt } from '../jobs/fail-attempt';
import { offerTurn } from '../jobs/notify-tasks';

type Placing = Pick<WorkerDeps, 'db' | 'client' | 'events'>;
type Lapsed = Awaited<ReturnType<ReturnType<typeof claimLapsed>>>[number];

const why = 'The worker that placed the job died or fell silent.';

export function lapsedPlacements(
  { db, client, events }: Placing,
  answersForMs?: number,
): Duty<Lapsed> {
  return {
    name: 'place',
    atOnce: 16,
    idleMs: 1_000,
    claim: afterOutages(() => db.raw('select 1'), claimLapsed(db), answersForMs),
    async fulfil(job) {
      if (job.isLeft) await closeLeft(db, job);
      else if (await failAttempt(client, job, why)) events.attemptSilent(job.taskId);
      else if (job.hasWaited) return offerTurn(client, job);
      return true;
    },
    postpone: (job) => pausePlacing(db, job, 0),
  };
}
