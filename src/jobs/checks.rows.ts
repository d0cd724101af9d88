// Schedules checks of jobs that are being placed. The checks find jobs whose worker has died. All
// times come from the clock of the database, because the clock of a worker may be wrong.

import type { Knex } from 'knex';
import { isInState } from '../database/by-key';
import { prepare } from '../database/prepared-statement';
import type { JobName } from './job.rules';

export interface PlacementCheck extends JobName {
  /**
   * The attempt and the heartbeat of the activity at the previous check; null if no check saw them.
   */
  readonly seen: string | null;
}

/**
 * Claims the jobs whose check is due. Such a job has the state `planned` or `sending`, or has the
 * state `waiting` and a turn. Concurrent callers get different jobs. The time until the next check
 * grows with the time since the job was planned, because a channel may be down for hours.
 */
export function claimChecks(db: Knex, limit: number): Promise<readonly PlacementCheck[]> {
  return updateDue(db, { limit });
}

const updateDue = prepare<PlacementCheck>(
  'claim_checks',
  `
 update jobs
    set check_at = now() + greatest('5 seconds', least(now() - planned_at, '5 minutes'))
  where (task_id, kind) in (
          select task_id, kind from jobs
           where state in ('planned', 'waiting', 'sending') and check_at <= now()
           order by check_at limit :limit for update skip locked)
 returning task_id as "taskId", kind, seen`,
);

/** Stores the attempt and the heartbeat that a check has seen, and schedules the next check. */
export async function storeSeen(
  db: Knex,
  { taskId, kind }: JobName,
  seen: string | null,
  againInSeconds: number,
): Promise<void> {
  await db.raw(
    `update jobs set seen = ?, check_at = now() + make_interval(secs => ?)
      where task_id = ? and kind = ? and ${isInState('planned', 'waiting', 'sending')}`,
    [seen, againInSeconds, taskId, kind],
  );
}
