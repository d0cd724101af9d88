// Sums of the stored files and bytes, for the metrics and the operator.

import type { Knex } from 'knex';
import { slowTransaction } from '../database/silent-connections';
import type { FileRole } from './links.rows';

interface RoleUsage {
  readonly role: FileRole;
  readonly bytes: number;
}

interface AccountUsage {
  readonly accountId: string;
  readonly name: string;
  readonly results: number;
  readonly resultBytes: number;
  readonly uploads: number;
  readonly uploadBytes: number;
  /** The number of results that must still be copied. */
  readonly awaited: number;
}

/**
 * The bytes of stored files by role. The query reads the row of every stored file, so it must not
 * run at every scrape.
 */
export async function readStoredBytes(db: Knex): Promise<readonly RoleUsage[]> {
  const { rows } = await db.raw<{ rows: RoleUsage[] }>(`
    select role, coalesce(sum(length), 0)::float8 as bytes
      from unnest(array['upload', 'video', 'last_frame']) as role
      left join (select role, length from files where state = 'stored' and removed_at is null) stored
           using (role)
     group by role`);
  return rows;
}

/** True if the storage may have bytes of any file. */
export async function hasFiles(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { hasFiles: boolean }[] }>(
    'select exists (select from files where removed_at is null) as "hasFiles"',
  );
  return rows[0]?.hasFiles === true;
}

/**
 * The storage keys of some stored files: the newest of the account, and the newest and the oldest of
 * all. The oldest remain if the storage was restored from an older state, and the newest if it
 * began again empty. The query may read the row of every file.
 */
export async function sampleKeys(db: Knex, accountId: string): Promise<readonly string[]> {
  const sampled = (order: 'asc' | 'desc', condition = '') =>
    `(select key from files
       where state = 'stored' and removed_at is null and expires_at > now() ${condition}
       order by created_at ${order} limit 10)`;
  return slowTransaction(db, async (trx) => {
    const { rows } = await trx.raw<{ rows: { key: string }[] }>(
      `${sampled('desc', 'and account_id = ?')}
       union all ${sampled('desc')} union all ${sampled('asc')}`,
      [accountId],
    );
    return rows.map(({ key }) => key);
  });
}

/** The accounts that have files, the one with the most bytes first. The query reads all files. */
export async function readUsageByAccount(db: Knex): Promise<readonly AccountUsage[]> {
  return slowTransaction(db, async (trx) => {
    const { rows } = await trx.raw<{ rows: AccountUsage[] }>(`
    select accounts.id as "accountId", accounts.name,
           count(*) filter (where role <> 'upload' and state = 'stored')::int as results,
           coalesce(sum(length) filter (where role <> 'upload' and state = 'stored'), 0)::float8
             as "resultBytes",
           count(*) filter (where role = 'upload' and state = 'stored')::int as uploads,
           coalesce(sum(length) filter (where role = 'upload' and state = 'stored'), 0)::float8
             as "uploadBytes",
           count(*) filter (where role <> 'upload' and state = 'awaited')::int as awaited
      from files join accounts on accounts.id = files.account_id
     where state <> 'removed'
     group by accounts.id, accounts.name
     order by coalesce(sum(length), 0) desc, accounts.id`);
    return rows;
  });
}
