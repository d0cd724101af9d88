// Marks open jobs that their provider does not know any more. The rules are in
// src/domain/missing-job.ts.

import type { Knex } from 'knex';
import type { JobName } from '../../domain/job';

/**
 * Stores news about open jobs; their state stays `open`. `missing`: the provider has just answered
 * that it does not know the job. `gone`: the provider has not known the job for too long, so the
 * job holds no slot any more. `back`: the provider knows the job again.
 */
export async function storeMissing(
  db: Knex,
  jobs: Readonly<Record<'missing' | 'gone' | 'back', readonly JobName[]>>,
): Promise<void> {
  const changes = (['missing', 'gone', 'back'] as const).flatMap((step) =>
    jobs[step].map(({ taskId, kind }) => ({ task_id: taskId, kind, step })),
  );
  if (changes.length === 0) return;
  await db.raw(
    `with change as (
       select task_id, kind, bool_or(step = 'gone') as gone, bool_or(step = 'back') as back
         from json_to_recordset(?) as c (task_id text, kind text, step text)
        group by task_id, kind
     )
     update jobs
        set missing_since = case when not back then coalesce(missing_since, now()) end,
            gone_at = case when not back then coalesce(gone_at, case when gone then now() end) end
       from change
      where jobs.task_id = change.task_id and jobs.kind = change.kind and state = 'open'`,
    [JSON.stringify(changes)],
  );
}
