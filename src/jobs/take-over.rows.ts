// A new attempt of the activity `runJob` takes over the job of an earlier attempt, whatever its
// state. From then on, a rejection that the earlier attempt receives is ignored (forgetSending and
// storeRejected in steps.rows.ts).

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
