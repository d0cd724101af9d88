// Ended tasks that are past their time. They are read in the order of accounts and of their
// creation, which an index gives. The function close_tasks (schema.ts) decides which of them may be
// deleted.

import type { Knex } from 'knex';

/** The last task that was read. */
export interface Position {
  readonly accountId: string;
  /** The database's own text, because a Date has no microseconds. */
  readonly createdAt: string;
  readonly id: string;
}

/** Apply to accounts without terms of their own. 0 days for tasks means for ever. */
export interface KeptDays {
  readonly tasksKeptDays: number;
  readonly filesKeptDays: number;
}

/** A task is kept at least as long as its results. */
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

/** Deletes those of these tasks that may be deleted; returns their number. */
export async function closeTasks(db: Knex, ids: readonly string[]): Promise<number> {
  const { rows } = await db.raw<{ rows: { closed: number }[] }>('select close_tasks(?) as closed', [
    [...ids],
  ]);
  return rows[0]?.closed ?? 0;
}
