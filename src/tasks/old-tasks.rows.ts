// Finds ended tasks that have been kept long enough and are not forgotten yet. The tasks are read by
// account and creation time, which is the order of an index.

import type { Knex } from 'knex';
import { type ForgettableTask, neededFor, owesNothing } from './forget.rows';

/** The position of the last task that was read. */
export interface Position {
  readonly accountId: string;
  /** The creation time as PostgreSQL prints it, because a Date has no microseconds. */
  readonly createdAt: string;
  readonly id: string;
}

export interface OldTask extends Position, ForgettableTask {
  /** False while a job is open, a callback is due, or bytes of a result are kept. */
  readonly isSettled: boolean;
}

/**
 * The number of days for which tasks and files are kept if their account has no value of its own.
 * If `tasksKeptDays` is 0, tasks are kept for ever.
 */
export interface KeptDays {
  readonly tasksKeptDays: number;
  readonly filesKeptDays: number;
}

/**
 * The next old tasks after this position. A task is kept at least as long as its results. What an
 * erasure has left of a task is kept only as long as it may be needed.
 */
export async function listOldTasks(
  db: Knex,
  after: Position | null,
  kept: KeptDays,
  limit: number,
): Promise<readonly OldTask[]> {
  const { rows } = await db.raw<{ rows: OldTask[] }>(
    `select account.id as "accountId", old.created_at::text as "createdAt", old.id,
            object,
            ${owesNothing('old.id')}
              and not exists (select 1 from files where task_id = old.id and removed_at is null)
              as "isSettled"
       from (select id, now() - case when is_erased then ${neededFor}
                                     else make_interval(days => greatest(tasks_days, files_days)) end
                          as until
               from (select id, erased_at is not null as is_erased,
                            coalesce(tasks_kept_days, cast(:tasksKeptDays as int)) as tasks_days,
                            coalesce(files_kept_days, cast(:filesKeptDays as int)) as files_days
                       from accounts where id >= :accountId) terms
              where tasks_days > 0 or is_erased) account
      cross join lateral (
        select id, created_at, object from tasks
         where account_id = account.id and created_at < until and finished_at < until
           and finished_at is not null and request_hash <> ''
           and (created_at, id) >
               (case account.id when :accountId then cast(:createdAt as timestamptz)
                                else '-infinity' end,
                case account.id when :accountId then cast(:id as text) else '' end)
         order by created_at, id limit :limit) old
      order by account.id, old.created_at, old.id limit :limit`,
    { ...kept, ...(after ?? { accountId: '', createdAt: '-infinity', id: '' }), limit },
  );
  return rows;
}
