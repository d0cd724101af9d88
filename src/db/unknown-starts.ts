// Ids whose callers were told that their task may not exist: the engine did not say whether it took
// the start. Whoever finds such a task running cancels it, and a caller who comes back with the
// same key takes the id back first; the row decides which of the two it is, whatever process either
// happens in.

import type { Knex } from 'knex';

interface UnknownStart {
  readonly taskId: string;
  /**
   * Of the start that is looked for; a start of another call under this id is not ours to cancel.
   */
  readonly nonce: string;
  readonly ageSeconds: number;
}

export async function noteUnknownStart(db: Knex, taskId: string, nonce: string): Promise<void> {
  await db.raw(
    `insert into unknown_starts (task_id, nonce) values (?, ?)
     on conflict (task_id) do update set nonce = excluded.nonce, noted_at = now()`,
    [taskId, nonce],
  );
}

/** True for exactly one of those who want it gone. */
export async function claimUnknownStart(db: Knex, taskId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    'delete from unknown_starts where task_id = ? returning 1',
    [taskId],
  );
  return rows.length > 0;
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
