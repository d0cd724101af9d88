// Finds the task of a create that is repeated without an Idempotency-Key, as long as its caller has
// evidently not got the id of the task.

import type { Knex } from 'knex';
import { mayAnswerRepeats } from '../database/by-key';
import { prepare } from '../database/prepared-statement';

interface Repeated {
  readonly accountId: string;
  readonly keyId: string;
  readonly requestHash: string;
  /** The number of the repeat. A task answers at most one repeat of each number. */
  readonly repeat: number;
  readonly withinSeconds: number;
}

/**
 * SQL for the number of an advisory lock. A create that may be repeated stores its task under this
 * lock, shared. A repeat needs the lock alone, so it notices that the first attempt is being stored.
 */
export const repeatLock = `hashtextextended(
  concat_ws(' ', cast(:accountId as text), cast(:keyId as text), cast(:requestHash as text)), 0)`;

const answer = prepare<{ readonly id: string | null }>(
  'answer_repeat',
  `select answer_repeat(${repeatLock}, cast(:accountId as text), cast(:keyId as text),
                        cast(:requestHash as text), cast(:repeat as smallint),
                        make_interval(secs => cast(:withinSeconds as float8))) as id`,
);

/** The id of the task; null if there is none; `running` if the first attempt is being stored. */
export async function answerRepeat(db: Knex, repeated: Repeated): Promise<string | null> {
  const [found] = await answer(db, { ...repeated });
  return found?.id ?? null;
}

/** Their caller has the ids of these tasks, so they answer no more repeats. */
export async function endRepeats(db: Knex, ids: readonly string[]): Promise<void> {
  await end(db, { ids });
}

const end = prepare(
  'end_repeats',
  `update tasks set repeats = null where id = any(:ids) and ${mayAnswerRepeats}`,
);
