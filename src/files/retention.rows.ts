// Files whose time is over, and what is still to be deleted of them.

import type { Knex } from 'knex';
import type { ResultRole } from './results.rules';

export interface ExpiredFile {
  readonly id: string;
  readonly key: string;
  /** The task and the role of a result; null for an upload. */
  readonly result: { readonly taskId: string; readonly role: ResultRole } | null;
}

/**
 * Claims files that have expired or were removed, and whose bytes may still be in the storage, once no
 * more bytes can arrive (`due_at`). For ten minutes no other caller claims them. Nobody waits for a
 * deletion, so the oldest is first, whoever owns it.
 */
export async function claimDeletions(db: Knex, limit: number): Promise<readonly ExpiredFile[]> {
  const { rows } = await db.raw<{ rows: ExpiredFile[] }>(
    `update files set due_at = now() + interval '10 minutes'
      where id in (select id from files
                    where removed_at is null and greatest(due_at, expires_at) < now()
                    order by greatest(due_at, expires_at) limit ? for update skip locked)
     returning id, key,
               case when task_id is not null
                    then json_build_object('taskId', task_id, 'role', role) end as result`,
    [limit],
  );
  return rows;
}

/** Records that the storage has no bytes of this removed file any more. */
export async function markDeleted(db: Knex, id: string): Promise<void> {
  await db.raw(`update files set removed_at = now() where id = ? and state = 'removed'`, [id]);
}

/** Part of the statement that closes a task: the object of a failed one shows no links to results. */
export const expireResultsOfFailed = `
  update files set expires_at = now()
    from ended
   where ended.status = 'failed' and files.task_id = ended.id and state <> 'removed'`;

/**
 * Lets the results of a task expire now if one of them is not stored yet. Its task will fail. Returns
 * false, and changes nothing, if another attempt has stored all of them.
 */
export async function giveUpResults(db: Knex, taskId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `with results as (
       select id, state from files where task_id = :taskId and state <> 'removed'
        order by role for update
     )
     update files set expires_at = now()
       from results
      where files.id = results.id
        and exists (select 1 from results where state = 'awaited')
     returning 1`,
    { taskId },
  );
  return rows.length > 0;
}
