// Starts of which the engine did not say whether it took them, and whose callers were told that
// nothing will be charged. While such a note stands its task is cancelled where it is found, and is
// closed uncharged if it succeeds before that. A caller who comes back with the same key takes the
// notes of that task away first, so the rows decide what becomes of it, whatever process asks.

import type { Knex } from 'knex';

interface UnknownStart {
  readonly taskId: string;
  /** Tells this start from one that another call made under the same id. */
  readonly nonce: string;
  readonly ageSeconds: number;
}

export async function noteUnknownStart(db: Knex, taskId: string, nonce: string): Promise<void> {
  await db.raw('insert into unknown_starts (task_id, nonce) values (?, ?) on conflict do nothing', [
    taskId,
    nonce,
  ]);
}

export async function isUnknownStart(db: Knex, taskId: string, nonce: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    'select 1 from unknown_starts where task_id = ? and nonce = ?',
    [taskId, nonce],
  );
  return rows.length > 0;
}

/** True when it was noted until now. */
export async function forgetUnknownStart(
  db: Knex,
  taskId: string,
  nonce: string,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    'delete from unknown_starts where task_id = ? and nonce = ? returning 1',
    [taskId, nonce],
  );
  return rows.length > 0;
}

/** Whichever call started it: from now on the task is somebody's. */
export async function takeBackTask(db: Knex, taskId: string): Promise<void> {
  await db.raw('delete from unknown_starts where task_id = ?', [taskId]);
}

export async function listUnknownStarts(
  db: Knex,
  olderThanSeconds: number,
  limit: number,
): Promise<readonly UnknownStart[]> {
  const { rows } = await db.raw<{ rows: UnknownStart[] }>(
    `select task_id as "taskId", nonce,
            extract(epoch from now() - noted_at)::int as "ageSeconds"
       from unknown_starts
      where noted_at < now() - make_interval(secs => ?)
      order by noted_at limit ?`,
    [olderThanSeconds, limit],
  );
  return rows;
}
