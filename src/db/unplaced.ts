// Tasks whose job no channel has yet, and when to look after them. All times are the database's: a
// worker's clock may be wrong.

import type { Knex } from 'knex';

export interface Unplaced {
  readonly taskId: string;
  /** How its activity was found by the last look. */
  readonly seen: string | null;
  /** Of its job: in line for a place, with a channel, or neither as far as is known. */
  readonly state: 'waiting' | 'placed' | 'unknown';
}

/**
 * The next rows to look after. Who asks at the same time is given others. What waits for its next
 * try is looked at less often the older it is: a channel may be in trouble for hours.
 */
export async function claimUnplaced(db: Knex, limit: number): Promise<readonly Unplaced[]> {
  const { rows } = await db.raw<{ rows: Unplaced[] }>(
    `update unplaced
        set look_at = now() + greatest('5 seconds', least(now() - since, '5 minutes'))
      where task_id in (select task_id from unplaced where look_at <= now()
                         order by look_at limit ? for update skip locked)
     returning task_id as "taskId", seen,
               coalesce((select case when state = 'waiting' and signalled_at is null then 'waiting'
                                     when state in ('open', 'reported') then 'placed' end
                           from jobs where jobs.task_id = unplaced.task_id
                          order by kind desc limit 1), 'unknown') as state`,
    [limit],
  );
  return rows;
}

/** How it was found, and when to look again whether anything has moved. */
export async function noteSeen(
  db: Knex,
  taskId: string,
  seen: string | null,
  againInSeconds: number,
): Promise<void> {
  await db.raw(
    `update unplaced set seen = ?, look_at = now() + make_interval(secs => ?) where task_id = ?`,
    [seen, againInSeconds, taskId],
  );
}

export async function forgetUnplaced(db: Knex, taskId: string): Promise<void> {
  await db.raw('delete from unplaced where task_id = ?', [taskId]);
}

/** Tasks that were given their turn; they may have been in line for long. */
export async function expectPlaced(db: Knex, taskIds: readonly string[]): Promise<void> {
  if (taskIds.length === 0) return;
  await db.raw(
    `update unplaced set since = now(), look_at = now() + interval '5 seconds'
      where task_id = any(?)`,
    [[...taskIds]],
  );
}

/** For a task that goes on without anybody having noted that its next job is to be placed. */
export async function noteUnplaced(db: Knex, taskId: string): Promise<void> {
  await db.raw('insert into unplaced (task_id) values (?) on conflict do nothing', [taskId]);
}
