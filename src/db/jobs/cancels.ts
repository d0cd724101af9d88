// Marks of jobs whose task has ended before them: to be cancelled, given up, closed.

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
 * Part of the statement that closes a task. If `:cancelJobs` is true, the reconciler cancels the
 * jobs that may still run.
 */
export const closeJobsOfTask = `
  update jobs
     set state = 'closed',
         cancel = case when cast(:cancelJobs as boolean) and ${mayRun} then 'wanted' else cancel end
    from closed where task_id = :taskId`;

/** Marks the sent, unfinished jobs of an ended task to be cancelled by the reconciler. */
export async function wantCancel(db: Knex, taskId: string): Promise<void> {
  await db.raw(
    `update jobs set cancel = 'wanted'
      where task_id = ? and ${mayRun}`,
    [taskId],
  );
}

/** Records that no cancel of this job succeeded and none is tried any more. */
export async function giveUpCancel(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(`update jobs set cancel = 'given up' where task_id = ? and kind = ?`, [
    taskId,
    kind,
  ]);
}

/** any state → closed, for a job whose task has ended before it. */
export async function closeJob(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', cancel = nullif(cancel, 'wanted')
      where task_id = ? and kind = ?`,
    [taskId, kind],
  );
}
