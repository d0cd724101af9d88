// A new attempt of the activity `runJob` takes over the job of an earlier attempt, whatever its
// state. From then on, a rejection that the earlier attempt receives is ignored (forgetSending and
// storeRejected in steps.ts).

import type { Knex } from 'knex';
import type { JobName } from '../../domain/job';
import { type Job, jobColumns, secondsLeft } from './queries';

/** `secondsLeft` is null if no create of the job was sent. */
export type JobTaken = Job & { readonly secondsLeft: number | null };

/**
 * Takes the job over and returns the job; null if there is no such job. One statement does both,
 * because the earlier attempt may still send the job to the next channel. If a channel has accepted
 * the job, this activity now waits for the end of the job.
 */
export async function takeOver(
  db: Knex,
  { taskId, kind }: JobName,
  { activityId, attempt }: { readonly activityId: string; readonly attempt: string },
): Promise<JobTaken | null> {
  const { rows } = await db.raw<{ rows: JobTaken[] }>(
    `update jobs
        set attempt = ?, activity_id = case when upstream_id is not null then ? else activity_id end
      where task_id = ? and kind = ?
     returning ${jobColumns}, ${secondsLeft} as "secondsLeft"`,
    [attempt, activityId, taskId, kind],
  );
  return rows[0] ?? null;
}
