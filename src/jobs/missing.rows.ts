// Stores since when the provider has not known an open job. The rules are in
// src/jobs/missing-job.rules.ts.

import type { Knex } from 'knex';
import { isInState, isOneOf } from '../database/by-key';
import type { JobName } from './job.rules';

/**
 * `missing`: the provider does not know the job, from now on. `back`: the provider knows the job
 * again.
 */
export async function storeMissing(
  db: Knex,
  jobs: Readonly<Record<'missing' | 'back', readonly JobName[]>>,
): Promise<void> {
  const changes = (['missing', 'back'] as const).flatMap((change) =>
    jobs[change].map(({ taskId, kind }) => ({ task_id: taskId, kind, back: change === 'back' })),
  );
  if (changes.length === 0) return;
  await db.raw(
    `update jobs
        set missing_since = case when not back then coalesce(missing_since, now()) end
       from json_to_recordset(?) as change (task_id text, kind text, back boolean)
      where jobs.task_id = change.task_id and jobs.kind = change.kind and ${isInState('open')}
        and ${isOneOf('jobs.task_id', '?')}`,
    [JSON.stringify(changes), changes.map((change) => change.task_id)],
  );
}
