// The migration of a later version, while somebody reads tables for longer than a statement of a caller
// may wait, as a dump does.

import type { Knex } from 'knex';
import { migrate } from '../../src/database/migrate';
import { migrations } from '../../src/database/migrations';
import { roleNames } from '../../src/embedded/postgres';
import { until } from '../support/until';

export const laterStep = {
  name: '9999_later',
  sql: `alter table tasks add column later int;
        alter table accounts add column later int not null default 1`,
};

/** Returns the applied steps. */
export async function migrateBesideAReader(db: Knex): Promise<readonly string[]> {
  const reader = await db.transaction();
  await reader.raw('lock table tasks, accounts, balances in access share mode');
  const migrated = migrate(db, roleNames, [...migrations, laterStep]);
  migrated.catch(() => undefined);
  try {
    // At the second try the reader has read for more than four seconds.
    await until('the step waits', () => isWaiting(db));
    await until('the step lets callers pass', async () => !(await isWaiting(db)), 8_000);
    await until('the step waits again', () => isWaiting(db));
  } finally {
    await reader.rollback();
    await migrated.catch(() => undefined);
  }
  return migrated;
}

async function isWaiting(db: Knex): Promise<boolean> {
  const { rows } = await db.raw(
    `select 1 from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and mode = 'AccessExclusiveLock' and not granted`,
  );
  return rows.length > 0;
}
