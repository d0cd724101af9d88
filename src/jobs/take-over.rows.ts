// An attempt of the activity `runJob` that can take no slot, because the job is past `waiting` or its
// task is over, takes the job over from the earlier attempt, whatever its state. From then on, a rejection
// that the earlier attempt receives is ignored (forgetSending and storeRejected in steps.rows.ts); a job
// that it gets counts (storeOpened).

import type { Knex } from 'knex';
import type { JobName } from './job.rules';
import { type Job, jobColumns, secondsLeft } from './queries.rows';

/** `secondsLeft` is null if no create of the job was sent. */
export type JobTaken = Job & { readonly secondsLeft: number | null };

/**
 * Takes the job over and returns the job; null if there is no such job. One statement does both,
 * because the earlier attempt may still send the job to the next channel.
 */
export async function takeOver(
  db: Knex,
  { taskId, kind }: JobName,
  attempt: string,
): Promise<JobTaken | null> {
  const { rows } = await db.raw<{ rows: JobTaken[] }>(
    `update jobs set attempt = ? where task_id = ? and kind = ?
     returning ${jobColumns}, ${secondsLeft} as "secondsLeft"`,
    [attempt, taskId, kind],
  );
  return rows[0] ?? null;
}
