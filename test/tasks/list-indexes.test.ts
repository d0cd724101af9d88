// Every list of tasks uses an index.

import type { Knex } from 'knex';
import { labelledQuery, listTasksQuery } from '../../src/tasks/list.rows';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(1);
});
afterAll(() => database?.drop());

const page = { accountId: 'acct_test', limit: 20 };

/**
 * The query plan of this statement if PostgreSQL avoids sequential scans, sorts and bitmap scans.
 */
async function planOf(query: (db: Knex) => Knex.QueryBuilder): Promise<string> {
  return database.db.transaction(async (trx) => {
    await trx.raw('set local enable_seqscan = off');
    await trx.raw('set local enable_sort = off');
    await trx.raw('set local enable_bitmapscan = off');
    const { sql, bindings } = query(trx).toSQL();
    const { rows } = await trx.raw<{ rows: { 'QUERY PLAN': string }[] }>(`explain ${sql}`, [
      ...bindings,
    ]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}

test.each([
  ['without a filter', {}],
  ['of one model', { model: 'zzz' }],
  ['with the status failed', { status: 'failed' }],
  ['with the status submitted', { status: 'submitted' }],
  ['of one model with the status failed', { model: 'zzz', status: 'failed' }],
  ['of one model with the status submitted', { model: 'zzz', status: 'submitted' }],
  ['of one period', { createdAfter: 1, createdBefore: 2 }],
] as const)('a list of tasks %s is read from an index without a sort', async (_, filter) => {
  const text = await planOf((db) => listTasksQuery(db, { ...page, ...filter }));
  expect(text).toMatch(/Scan using tasks_account/);
  expect(text).not.toMatch(/Sort|Seq Scan/);
});

test.each([
  ['with a label', {}],
  ['with a label in one period', { createdAfter: 1, createdBefore: 2 }],
] as const)('a list of tasks %s is read from an index without a sort', async (_, filter) => {
  const text = await planOf((db) => labelledQuery(db, { ...page, ...filter }, ['order', '1']));
  expect(text).toMatch(/Scan using task_labels_list/);
  expect(text).not.toMatch(/Sort|Seq Scan/);
});

test.each([
  ['without a filter', {}, 'tasks_account'],
  ['of one model', { model: 'zzz' }, 'tasks_account_model'],
  ['with the status failed', { status: 'failed' }, 'tasks_account_ended'],
  [
    'of one model with the status failed',
    { model: 'zzz', status: 'failed' },
    'tasks_account_model_ended',
  ],
] as const)(
  'a list of all accounts %s reads the first tasks of each account from an index',
  async (_, filter, index) => {
    const text = await planOf((db) => listTasksQuery(db, { limit: 20, ...filter }));
    expect(text).toMatch(new RegExp(`Index Only Scan using ${index} on tasks`));
    expect(text).not.toMatch(/Seq Scan on tasks/);
  },
);
