// Marks of jobs whose task has ended before them: to be cancelled, given up, closed.

import type { Knex } from 'knex';
import type { JobName } from '../../domain/job';

/** Marks the sent, unfinished jobs of an ended task to be cancelled by the reconciler. */
export async function wantCancel(db: Knex, taskId: string): Promise<void> {
  await db.raw(
    `update jobs set cancel = 'wanted'
      where task_id = ? and sent_at is not null
        and (report is null or report->>'status' in ('queued', 'running'))`,
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
