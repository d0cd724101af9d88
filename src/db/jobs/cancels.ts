// Marks of jobs whose task has ended before them: to be cancelled, closed, given up.

import type { Knex } from 'knex';
import type { JobName } from '../../domain/job';

/**
 * True for a job that was sent and may still run upstream. The report of a job without upstream id
 * was written here, not by the provider, so it does not show that the job has ended.
 */
const mayRun = `
  sent_at is not null
  and (report is null or upstream_id is null or report->>'status' in ('queued', 'running'))`;

/**
 * Part of the statement that closes a task. The jobs of a failed task that may still run are to be
 * cancelled, whatever becomes of its workflow.
 */
export const closeJobsOfTask = `
  update jobs
     set state = 'closed',
         cancel = case when :status = 'failed' and ${mayRun} then 'wanted' else cancel end
    from closed where task_id = :taskId`;

/** Marks the sent, unfinished jobs of an ended task to be cancelled by the reconciler. */
export async function wantCancel(db: Knex, taskId: string): Promise<void> {
  await db.raw(
    `update jobs set cancel = 'wanted'
      where task_id = ? and ${mayRun}`,
    [taskId],
  );
}

/** any state → closed: the job of an ended task was cancelled, or there is nothing to cancel. */
export async function closeCancelled(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', cancel = null
      where task_id = ? and kind = ? and (state <> 'closed' or cancel is not null)`,
    [taskId, kind],
  );
}

/** any state → closed: no cancel of this job succeeded, and none is tried any more. */
export async function giveUpCancel(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', cancel = 'given up' where task_id = ? and kind = ?`,
    [taskId, kind],
  );
}
