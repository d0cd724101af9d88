// Jobs that may still run after their task has ended. Each function here marks such jobs as to be
// cancelled, as closed, or as given up. The request to the provider is in
// activities/jobs/read-and-cancel-job.ts.

import type { Knex } from 'knex';
import type { JobName } from './job.rules';

/**
 * True unless the provider has reported the end of the job. If a job has no upstream id, or if the
 * provider did not know it any more, its report comes from this service and not from the provider.
 * Such a report does not show that the job has ended.
 */
export const isNotKnownToEnd = `
  (report is null or upstream_id is null or report->>'status' in ('queued', 'running')
   or report->'failure'->>'code' = 'job_gone')`;

/**
 * Part of the statement that closes a task. If the task failed, its jobs that may still run are
 * marked as to be cancelled. So the reconciler cancels these jobs even if the workflow ends too
 * early to cancel them.
 */
export const closeJobsOfTask = `
  update jobs
     set state = 'closed',
         cancel = case when ended.status = 'failed' and sent_at is not null
                       and ${isNotKnownToEnd} then 'wanted' else cancel end
    from ended where task_id = :taskId`;

/** any state → closed: the job of an ended task was cancelled, or there is nothing to cancel. */
export async function closeCancelled(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', cancel = null
      where task_id = ? and kind = ? and (state <> 'closed' or cancel is not null)`,
    [taskId, kind],
  );
}

/** any state → closed: no cancel of this job succeeded, and no further cancel is tried. */
export async function giveUpCancel(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', cancel = 'given up' where task_id = ? and kind = ?`,
    [taskId, kind],
  );
}
