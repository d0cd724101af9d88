// Finds and deletes ended tasks that have been kept long enough. The tasks are read by account and
// creation time, which is the order of an index. The database function close_tasks (close-tasks.ts)
// decides which of these tasks may be deleted.

import type { Knex } from 'knex';

/** The position of the last task that was read. */
export interface Position {
  readonly accountId: string;
  /** The creation time as PostgreSQL prints it, because a Date has no microseconds. */
  readonly createdAt: string;
  readonly id: string;
}

/**
 * The number of days for which tasks and files are kept if their account has no value of its own.
 * If `tasksKeptDays` is 0, tasks are kept for ever.
 */
export interface KeptDays {
  readonly tasksKeptDays: number;
  readonly filesKeptDays: number;
}

/** The next old tasks after this position. A task is kept at least as long as its results. */
export async function listOldTasks(
  db: Knex,
  after: Position | null,
  kept: KeptDays,
  limit: number,
): Promise<readonly Position[]> {
  const { rows } = await db.raw<{ rows: Position[] }>(
    `select account.id as "accountId", old.created_at::text as "createdAt", old.id
       from (select id, now() - make_interval(days => greatest(tasks_days, files_days)) as until
               from (select id, coalesce(tasks_kept_days, cast(:tasksKeptDays as int)) as tasks_days,
                            coalesce(files_kept_days, cast(:filesKeptDays as int)) as files_days
                       from accounts where id >= :accountId) terms
              where tasks_days > 0) account
      cross join lateral (
        select id, created_at from tasks
         where account_id = account.id and created_at < until and finished_at < until
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

/** Deletes the tasks that may be deleted and returns the number of deleted tasks. */
export async function closeTasks(db: Knex, ids: readonly string[]): Promise<number> {
  const { rows } = await db.raw<{ rows: { closed: number }[] }>('select close_tasks(?) as closed', [
    [...ids],
  ]);
  return rows[0]?.closed ?? 0;
}
