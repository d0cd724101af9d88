// Removes files: their links end here. The row of a result and the object of its task change in one
// transaction, so that every reply about the task shows why the result is gone. Then the callers delete
// the bytes from the storage, or leave them to the duty `delete` (activities/owed/delete-files.ts).

import type { Knex } from 'knex';
import { goneReasonOf, type RemovedBecause, type ResultRole } from '../files/results.rules';
import type { ExpiredFile } from '../files/retention.rows';
import { withoutResults } from './task.rules';
import { changeFinalObject } from './tasks.rows';

/**
 * Ends the link of an expired file. A file that is already removed keeps its reason. Returns false if
 * the time of the file was extended meanwhile, or if the task of a result is not over: its bytes may just be
 * copied.
 */
export async function endLink(db: Knex, { id, result }: ExpiredFile): Promise<boolean> {
  if (result) {
    await removeResults(db, result.taskId, 'expired', [result.role]);
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `select 1 from files where id = ? and state = 'removed'`,
      [id],
    );
    return rows.length > 0;
  }
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update files
        set state = 'removed', removed_because = coalesce(removed_because, 'expired')
      where id = ? and expires_at < now()
     returning 1`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Marks results of an ended task as removed and removes their links from the object of the task. A
 * result that is already removed keeps the reason of its removal, and `expired` removes none that a task has
 * just been accepted with. Returns the results that were removed.
 */
export async function removeResults(
  db: Knex,
  taskId: string,
  because: RemovedBecause,
  roles: readonly ResultRole[],
): Promise<readonly ResultRole[]> {
  return db.transaction(async (trx) => {
    let gone: readonly ResultRole[] = [];
    await changeFinalObject(trx, taskId, async (object) => {
      const { rows } = await trx.raw<{ rows: { role: ResultRole }[] }>(
        // All bytes of a stored result have arrived, so they are deleted at once.
        `update files set state = 'removed', removed_because = :because,
                          expires_at = least(expires_at, now()),
                          due_at = case state when 'stored' then null else due_at end
          where task_id = :taskId and role = any(:roles) and state <> 'removed'
            and (:because <> 'expired' or expires_at < now())
         returning role`,
        { because, taskId, roles: [...roles] },
      );
      gone = rows.map(({ role }) => role);
      return gone.length > 0 ? withoutResults(object, gone, goneReasonOf[because]) : null;
    });
    return gone;
  });
}

interface TakenDown {
  readonly id: string;
  readonly accountId: string;
  /** Null for an upload. */
  readonly taskId: string | null;
}

/**
 * Removes one file for the operator. `named` is its id or the token of its link. Returns null if
 * there is no such file that is not removed yet, or if its task has not ended: nobody has its link.
 */
export async function takeDown(db: Knex, named: string): Promise<TakenDown | null> {
  const { rows } = await db.raw<{ rows: (TakenDown & { role: ResultRole })[] }>(
    `select id, account_id as "accountId", task_id as "taskId", role from files
      where (id = :named or link_token = :named) and state = 'stored'`,
    { named },
  );
  const [file] = rows;
  if (!file) return null;
  const { id, accountId, taskId, role } = file;
  if (taskId !== null) {
    const gone = await removeResults(db, taskId, 'operator', [role]);
    if (gone.length === 0) return null;
  } else {
    await db.raw(
      `update files set state = 'removed', removed_because = 'operator', expires_at = now()
        where id = ? and state = 'stored'`,
      [id],
    );
  }
  return { id, accountId, taskId };
}
