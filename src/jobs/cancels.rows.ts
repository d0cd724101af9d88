// Jobs that may still run after their task has ended. Each function here marks such jobs as to be
// cancelled, as closed, or as given up. The request to the provider is in
// activities/jobs/read-and-cancel-job.ts.

import type { Knex } from 'knex';
import { isOwing } from '../database/by-key';
import { claimInTurns } from '../owed/claim.rows';
import type { JobInput, JobName, JobStatus } from './job.rules';

/**
 * True unless the provider has reported the end of the job. If the provider did not know the job any
 * more, its report does not show that the job has ended.
 */
export const isNotKnownToEnd = `
  (report is null or report->>'status' in ('queued', 'running')
   or report->'failure'->>'code' = 'job_gone')`;

/** The workflow of the task cancels its job at once. If it does not, a worker does after this time. */
export const afterWorkflow = `interval '15 seconds'`;

/** True for a job whose cancel is tried. The cancel of others was given up. */
export const isToBeCancelled = `(owes = 'cancel' and due_at < 'infinity') is true`;

/**
 * Part of the statement that closes a task. If the task failed, its jobs that may still run are
 * marked as to be cancelled. So these jobs are cancelled even if the workflow ends too early to cancel
 * them.
 */
export const closeJobsOfTask = `
  update jobs
     set state = 'closed',
         (owes, due_at) = (
           select 'cancel', now() + ${afterWorkflow}
            where ended.status = 'failed' and sent_at is not null and ${isNotKnownToEnd})
    from ended where task_id = :taskId`;

interface Cancelled extends JobName {
  readonly upstreamId: string | null;
  readonly status?: JobStatus | null;
}

/**
 * any state → closed: the job of an ended task was cancelled, or there is nothing to cancel. `status`
 * is the one before the cancel. A job that was running may have made its video, so its cost is not
 * known (money/usage-parts.rows.ts). `upstreamId` is the one that was cancelled, null if none was known.
 * If the row has got another one meanwhile, that job is still to be cancelled, and nothing changes.
 */
export async function closeCancelled(
  db: Knex,
  { taskId, kind, upstreamId, status = null }: Cancelled,
): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', owes = null, due_at = null,
            status = coalesce(cast(:status as text), status)
      where task_id = :taskId and kind = :kind and (state <> 'closed' or owes is not null)
        and upstream_id is not distinct from cast(:upstreamId as text)`,
    { taskId, kind, upstreamId, status },
  );
}

/** A job that must still be cancelled although its task has ended. */
export interface LeftJob extends JobInput {
  readonly channel: string | null;
  readonly endedSeconds: number;
}

/** What every claim of jobs has in common. */
export const ofJobs = {
  table: 'jobs',
  key: 'task_id, kind',
  joined: 'join tasks on tasks.id = task_id',
} as const;

/** Claims jobs that must be cancelled. A cancel that fails is tried again after a minute. */
export const claimCancels = (db: Knex) =>
  claimInTurns<LeftJob>(db, {
    ...ofJobs,
    owing: `owes = 'cancel'`,
    lease: `interval '1 minute'`,
    columns: `task_id as "taskId", claimed.account_id as "accountId", kind, channel, plan,
              trace_id as "traceId",
              extract(epoch from now() - finished_at)::int as "endedSeconds"`,
  });

/**
 * any state → closed: no cancel of this job succeeded, and no further cancel is tried, so it is taken
 * for one that runs. Returns false if the job owes none any more, because another attempt has
 * cancelled it meanwhile.
 */
export async function giveUpCancel(db: Knex, { taskId, kind }: JobName): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update jobs set state = 'closed', due_at = 'infinity',
            status = case status when 'queued' then 'running' else status end
      where task_id = ? and kind = ? and ${isOwing('cancel')} and due_at < 'infinity'
     returning 1`,
    [taskId, kind],
  );
  return rows.length > 0;
}
