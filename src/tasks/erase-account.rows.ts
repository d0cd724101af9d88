// Erases the content of an account: the texts and files that its callers sent, and the results of
// its tasks. forget.rows.ts reduces the tasks to slim rows. A repeated run skips forgotten tasks.

import type { Knex } from 'knex';
import { slowLimitOf, slowTransaction, withSlowStatements } from '../database/silent-connections';
import { unfinishedFor } from '../files/uploads.rows';
import type { ForgettableTask } from './forget.rows';
import { erasedHash } from './task.rules';

const isNotErased = `request_hash <> '' and request_hash <> '${erasedHash}'`;

/**
 * Disables the account, so that no new task begins, and returns null. If the account has unfinished
 * tasks, nothing changes and their number is returned.
 */
export async function beginErasure(
  trx: Knex.Transaction,
  accountId: string,
): Promise<number | null> {
  await lockAccount(trx, accountId);
  const { rows } = await trx.raw<{ rows: { unfinished: number }[] }>(
    `select count(*)::int as unfinished from tasks where account_id = ? and finished_at is null`,
    [accountId],
  );
  const unfinished = rows[0]?.unfinished ?? 0;
  if (unfinished > 0) return unfinished;
  await trx.raw(
    `update accounts set disabled_at = coalesce(disabled_at, now()), erased_at = null where id = ?`,
    [accountId],
  );
  return null;
}

/** Records that the account is erased. Returns false if some content is left, or if it was enabled. */
export async function finishErasure(trx: Knex.Transaction, accountId: string): Promise<boolean> {
  await lockAccount(trx, accountId);
  // Erased tasks stay in the index for weeks, so the search may read millions of them.
  if (await withSlowStatements(trx, slowLimitOf(trx), () => hasContent(trx, accountId)))
    return false;
  const { rows } = await trx.raw<{ rows: unknown[] }>(
    'update accounts set erased_at = now() where id = ? and disabled_at is not null returning 1',
    [accountId],
  );
  if (rows.length === 0) return false;
  await trx.raw('delete from webhooks where account_id = ?', [accountId]);
  await trx.raw('delete from alerts where account_id = ?', [accountId]);
  await trx.raw('delete from refusals_days where account_id = ?', [accountId]);
  return true;
}

/** Until the transaction ends, no new task and no upload of the account can be stored. */
async function lockAccount(trx: Knex.Transaction, accountId: string): Promise<void> {
  await trx.raw('select 1 from accounts where id = ? for update', [accountId]);
}

async function hasContent(trx: Knex.Transaction, accountId: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { has: boolean }[] }>(
    `select exists (select from tasks where account_id = :accountId and finished_at is null)
         or exists (select from files where account_id = :accountId and role = 'upload')
         or exists (select from tasks
                     where account_id = :accountId and finished_at is not null
                       and ${isNotErased}) as has`,
    { accountId },
  );
  return rows[0]?.has === true;
}

interface ErasablePage {
  readonly accountId: string;
  readonly after: string | null;
  readonly limit: number;
}

/**
 * The next finished tasks that are not erased yet, newest first. Those that an earlier run has erased
 * are read too, which may take long.
 */
export function listErasable(db: Knex, page: ErasablePage): Promise<readonly ForgettableTask[]> {
  return slowTransaction(db, async (trx) => {
    const { rows } = await trx.raw<{ rows: ForgettableTask[] }>(
      `select id, object from tasks
        where account_id = :accountId and finished_at is not null
          and ${isNotErased}
          and exists (select from accounts where id = :accountId and disabled_at is not null)
          and (cast(:after as text) is null or (created_at, id) <
               (select created_at, id from tasks where id = :after and account_id = :accountId))
        order by created_at desc, id desc limit :limit`,
      { ...page },
    );
    return rows;
  });
}

/**
 * Marks the results of these tasks as removed and returns their keys in the storage. The caller
 * deletes the bytes. A copy that is in progress deletes its own bytes, because its file is marked
 * as removed.
 */
export async function markResultsRemoved(
  db: Knex,
  tasks: readonly ForgettableTask[],
): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `with removed as (
       update files
          set state = 'removed', removed_because = 'operator', expires_at = now()
        where task_id = any(:ids) and state <> 'removed'
     )
     select key from files where task_id = any(:ids)`,
    { ids: tasks.map(({ id }) => id) },
  );
  return rows.map(({ key }) => key);
}

/**
 * Marks the uploads of a disabled account as removed. The caller deletes their bytes. An upload in
 * progress fails. Returns false, and changes nothing, if the account was enabled.
 */
export async function markUploadsRemoved(db: Knex, accountId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { isDisabled: boolean }[] }>(
    `with disabled as (
       select from accounts where id = :accountId and disabled_at is not null for share
     ), marked as (
       update files set state = 'removed', removed_because = 'operator', expires_at = now()
        where account_id = :accountId and role = 'upload' and state <> 'removed'
          and exists (select from disabled)
     )
     select exists (select from disabled) as "isDisabled"`,
    { accountId },
  );
  return rows[0]?.isDisabled === true;
}

interface UploadKey {
  readonly key: string;
  readonly isRemoved: boolean;
}

/** The keys of all uploads. An account that was enabled has new ones, which are not removed. */
export async function listUploadKeys(db: Knex, accountId: string): Promise<readonly UploadKey[]> {
  const { rows } = await db.raw<{ rows: UploadKey[] }>(
    `select key, state = 'removed' as "isRemoved" from files
      where account_id = ? and role = 'upload'`,
    [accountId],
  );
  return rows;
}

/**
 * Deletes the rows of the removed uploads with these keys, whose bytes the caller has deleted. An
 * upload that may still be in progress keeps its row until its time is over, so the account counts
 * as not erased.
 */
export async function forgetUploads(
  db: Knex,
  accountId: string,
  keys: readonly string[],
): Promise<void> {
  await db.raw(
    `delete from files
      where account_id = ? and role = 'upload' and state = 'removed' and key = any(?)
        and (sha256 is not null or created_at < now() - ${unfinishedFor})`,
    [accountId, [...keys]],
  );
}
