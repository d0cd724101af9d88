// Tests migrations by several processes at once, failing migrations and schemas of another version.
// Also tests the time limits of a connection.

import type { Knex } from 'knex';
import { connect } from '../../src/database/database';
import { checkSchema, migrate, noRoles } from '../../src/database/migrate';
import { hashOf, migrations } from '../../src/database/migrations';
import { adminWith } from '../support/admin';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { runProcess } from '../support/processes';
import { temporalAddress } from '../support/temporal';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase(2);
  await empty(database.db);
});
afterEach(() => database.drop());

const fromTheFuture = { name: '9999_from_the_future', hash: 'x' };
const empty = (db: Knex) => db.raw('drop schema public cascade; create schema public');

test('if several processes migrate at once, one process applies all steps and the others apply none', async () => {
  const processes = Array.from({ length: 4 }, (_, number) =>
    connect({ url: database.url, poolMax: 1, applicationName: `process ${number}` }),
  );
  try {
    const applied = await Promise.all(processes.map((db) => migrate(db)));
    expect(applied.filter(({ length }) => length > 0)).toEqual([
      migrations.map(({ name }) => name),
    ]);
    await Promise.all(processes.map((db) => checkSchema(db)));
  } finally {
    await Promise.all(processes.map((db) => db.destroy()));
  }
});

describe('`admin migrate`', () => {
  const run = (over: Record<string, string> = {}) =>
    runProcess(['admin', 'migrate'], {
      ...{ DATABASE_URL: database.url, TEMPORAL_ADDRESS: temporalAddress() },
      ...over,
    });

  test('migrates, prints the steps and exits with 0', async () => {
    const { code, out } = await run();
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('0001_schema') });
    await checkSchema(database.db);
  });

  test.each([
    ['a Temporal that does not answer', { TEMPORAL_ADDRESS: '127.0.0.1:1' }],
    ['a namespace that Temporal does not have', { TEMPORAL_NAMESPACE: 'no-such-namespace' }],
  ])('prints one sentence about %s', async (_, over) => {
    expect(await run(over)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Temporal at \S+ \(TEMPORAL_ADDRESS\) .*\n$/),
    });
  });
});

test('a migration that fails changes nothing, and can be repeated', async () => {
  // This table makes a late statement fail. The earlier statements must be rolled back too.
  await database.db.raw('create table callbacks (mine text)');
  await expect(migrate(database.db)).rejects.toThrow(/callbacks/);
  const { rows } = await database.db.raw(
    `select table_name from information_schema.tables where table_schema = 'public'`,
  );
  expect(rows).toEqual([{ table_name: 'callbacks' }]);
  await database.db.raw('drop table callbacks');
  expect(await migrate(database.db)).toEqual(migrations.map(({ name }) => name));
});

test('an old schema is reported with its missing steps, and a newer schema is used and left as it is', async () => {
  await expect(checkSchema(database.db)).rejects.toThrow(/lacks 0001_schema:/);
  await migrate(database.db);
  await checkSchema(database.db);
  await database.db('schema_migrations').insert(fromTheFuture);
  await checkSchema(database.db);
  expect(await migrate(database.db)).toEqual([]);
});

test('a schema that has lost what a version uses is refused by that version, and used by the next one', async () => {
  await migrate(database.db);
  const { name, hash } = fromTheFuture;
  await database.db('schema_migrations').insert({ name: `${name}__0001`, hash });
  await checkSchema(database.db);
  expect(await migrate(database.db)).toEqual([]);
  await database.db('schema_migrations').insert({ name: `${name}__9998`, hash });
  const refusal = /another version .*9999_from_the_future__9998 took what this one uses/;
  await expect(checkSchema(database.db)).rejects.toThrow(refusal);
  await expect(migrate(database.db)).rejects.toThrow(refusal);
});

test('the privileges in a newer schema are left as they are', async () => {
  const { db } = database;
  const role = `future_${Date.now()}`;
  await migrate(db);
  await db.raw(`create role ${role}`);
  await db.raw(`grant select on tasks to ${role}`);
  await db('schema_migrations').insert(fromTheFuture);
  await migrate(db, { ...noRoles, api: role });
  const { rows } = await db.raw(`select has_table_privilege(?, 'balances', 'select') as may`, [
    role,
  ]);
  expect(rows[0].may).toBe(false);
  await db.raw(`drop owned by ${role}; drop role ${role}`);
});

test('a schema of another version that lacks a step of this one is refused', async () => {
  await migrate(database.db);
  await database.db('schema_migrations').delete();
  await database.db('schema_migrations').insert(fromTheFuture);
  const refusal = /another version .*9999_from_the_future.*nothing was changed/;
  await expect(checkSchema(database.db)).rejects.toThrow(refusal);
  await expect(migrate(database.db)).rejects.toThrow(refusal);
});

describe('a schema whose first step', () => {
  const refusal =
    /^The database was made by another version of the service \(.+\), and nothing was changed: use the version that ran on it last, or an empty database\.$/;
  const admin = adminWith(() => ({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
  }));
  const otherHash = () => database.db('schema_migrations').update({ hash: 'of another text' });
  const noHashes = () => database.db.raw('alter table schema_migrations drop column hash');

  // `checkSchema` is what an API and a worker ask before they start (wrong-use.test.ts).
  test.each([
    ['has another text', otherHash],
    ['has no hash', noHashes],
  ])('%s is refused with one sentence that names the remedy', async (_what, plant) => {
    await migrate(database.db);
    await plant();
    await expect(checkSchema(database.db)).rejects.toMatchObject({
      name: 'SchemaMismatch',
      message: expect.stringMatching(refusal),
    });
    for (const line of ['migrate', 'accounts list']) {
      const { exitCode, out, err } = await admin(line);
      expect({ exitCode, out, err: err.replace(/\n$/, '') }).toEqual({
        ...{ exitCode: 1, out: '' },
        err: expect.stringMatching(refusal),
      });
    }
  });
});

test('the hash of a step stays the same after a change of a comment, and not after a change of a word', () => {
  const of = (sql: string) => hashOf({ name: 'a', sql });
  expect(of('create table a ( -- one\n  b text)')).toBe(of('create table a ( b text)'));
  expect(of('create table a (b text)')).not.toBe(of('create table a (b int)'));
});

test('every connection has time limits for statements, locks and idle transactions', async () => {
  const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  const shown = await Promise.all(
    limits.map(async (name) => (await database.db.raw(`show ${name}`)).rows[0][name]),
  );
  expect(shown).toEqual(['5s', '2s', '10s']);
  const { rows } = await database.db.raw(
    'select application_name from pg_stat_activity where pid = pg_backend_pid()',
  );
  expect(rows[0].application_name).toMatch(/^test_/);
});
