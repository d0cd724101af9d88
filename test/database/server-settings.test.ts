// Tests with a PostgreSQL database that has other defaults. Each connection sets what the
// statements need. If that is not possible, the database or the connection is refused before
// anything is stored.

import knex, { type Knex } from 'knex';
import { listBudgets, setBudget } from '../../src/accounts/budgets.rows';
import { createKey } from '../../src/accounts/keys.rows';
import { connect } from '../../src/database/database';
import { checkSchema, migrate } from '../../src/database/migrate';
import { acceptTask } from '../../src/tasks/accept.rows';
import { aNewTask, anAccountWith } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let db: Knex;
beforeAll(async () => {
  database = await createTestDatabase(10);
  const name = new URL(database.url).pathname.slice(1);
  for (const setting of [
    `default_transaction_isolation = 'repeatable read'`,
    `timezone = 'Europe/Berlin'`,
    `datestyle = 'German'`,
    `intervalstyle = 'sql_standard'`,
    `extra_float_digits = -10`,
    'jit = on',
    'jit_above_cost = 0',
  ]) {
    await database.db.raw(`alter database ${name} set ${setting}`);
  }
  db = connect({ url: database.url, poolMax: 10, applicationName: 'other defaults' });
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

const accepting = { queuedTasksMax: 1_000 };

test('concurrent creates stay within a budget if the server has another default isolation level', async () => {
  const accountId = await anAccountWith(db, 'acct_budget', 1_000_000);
  const { keyId } = await createKey(db, { accountId });
  await setBudget(db, { accountId, keyId: null, period: 'total', limitMicros: 109 });
  const creates = Array.from({ length: 60 }, () =>
    acceptTask(db, { ...aNewTask(accountId, aTaskId(), 10), keyId }, accepting),
  );
  const outcomes = (await Promise.all(creates)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(10);
  expect(outcomes.filter((outcome) => outcome === 'over_budget')).toHaveLength(50);
});

test('statements are not compiled if the server compiles all statements', async () => {
  const { rows } = await db.raw('explain analyze select count(*) from accounts');
  expect(JSON.stringify(rows)).not.toContain('JIT');
});

test('times and days are in UTC if the server has another default time zone', async () => {
  const accountId = await anAccountWith(db, 'acct_times', 1_000_000);
  const { keyId } = await createKey(db, { accountId });
  await setBudget(db, { accountId, keyId: null, period: 'day', limitMicros: 100 });
  const id = aTaskId();
  await acceptTask(db, { ...aNewTask(accountId, id, 10), keyId }, accepting);
  const [task] = await db('tasks').where({ id });
  expect(Math.abs(task.created_at.getTime() - Date.now())).toBeLessThan(600_000);
  const [day] = await listBudgets(db, accountId);
  expect(day?.heldMicros).toBe(10);
  expect((day?.beginsAnewAt?.getTime() ?? 1) % 86_400_000).toBe(0);
});

test('a day has 24 hours if the server has a time zone with summer time', async () => {
  const { rows } = await db.raw<{ rows: { hours: number }[] }>(
    `select extract(epoch from timestamptz '2027-03-01T00:00Z' + make_interval(days => 30)
                    - timestamptz '2027-03-01T00:00Z')::float8 / 3600 as hours`,
  );
  expect(rows[0]?.hours).toBe(720);
});

test('the schema check refuses a connection if a pooler has dropped the settings of the connection', async () => {
  await checkSchema(db);
  const dropped = knex({ client: 'pg', connection: database.url });
  try {
    await expect(checkSchema(dropped)).rejects.toThrow(/leads to a pooler .* PostgreSQL itself/);
  } finally {
    await dropped.destroy();
  }
});

test('a migration refuses a database whose encoding cannot store every text', async () => {
  const name = `latin_${Date.now()}`;
  await database.db.raw(
    `create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`,
  );
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const latin = connect({ url: url.href, poolMax: 1, applicationName: 'latin' });
  try {
    await expect(migrate(latin)).rejects.toThrow('encoding');
  } finally {
    await latin.destroy();
    await database.db.raw(`drop database ${name}`);
  }
});
