// Files whose time is over, and keys that no file has.

import type { Knex } from 'knex';

interface ExpiredFile {
  readonly id: string;
  readonly key: string;
}

export async function listExpired(db: Knex, limit: number): Promise<readonly ExpiredFile[]> {
  const { rows } = await db.raw<{ rows: ExpiredFile[] }>(
    `select id, key from files
      where state <> 'removed' and expires_at < now() order by expires_at limit ?`,
    [limit],
  );
  return rows;
}

/** The bytes of these files are deleted. */
export async function markExpired(db: Knex, ids: readonly string[]): Promise<void> {
  await db.raw(
    `update files set state = 'removed', removed_because = 'expired', removed_at = now()
      where id = any(?) and state <> 'removed'`,
    [[...ids]],
  );
}

/** Those of the keys under which a file has bytes, or soon will. */
export async function findKeysInUse(
  db: Knex,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `select key from files where key = any(?) and state <> 'removed'`,
    [[...keys]],
  );
  return new Set(rows.map(({ key }) => key));
}
