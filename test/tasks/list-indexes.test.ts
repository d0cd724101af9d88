// Every list of tasks uses an index.

import type { Knex } from 'knex';
import { labelledQuery, listTasks, listTasksQuery } from '../../src/tasks/list.rows';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(1);
});
afterAll(() => database?.drop());

const page = { accountId: 'acct_test', limit: 20 };

interface Statement {
  readonly sql: string;
  readonly bindings: readonly Knex.RawBinding[];
}

/**
 * The query plan of a statement if PostgreSQL avoids sequential scans, sorts and bitmap scans.
 */
async function explained(
  statementOf: (trx: Knex.Transaction) => Statement | Promise<Statement>,
): Promise<string> {
  return database.db.transaction(async (trx) => {
    await trx.raw('set local enable_seqscan = off');
    await trx.raw('set local enable_sort = off');
    await trx.raw('set local enable_bitmapscan = off');
    const { sql, bindings } = await statementOf(trx);
    const { rows } = await trx.raw<{ rows: { 'QUERY PLAN': string }[] }>(`explain ${sql}`, [
      ...bindings,
    ]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}

const planOf = (query: (db: Knex) => Knex.QueryBuilder) => explained((trx) => query(trx).toSQL());

/** The plan of the only statement that is sent. */
const planOfSent = (send: (db: Knex) => Promise<unknown>) =>
  explained(async (trx) => {
    const sent: Statement[] = [];
    trx.on('query', (statement: Statement) => sent.push(statement));
    await send(trx);
    expect(sent).toHaveLength(1);
    const { sql = '', bindings = [] } = sent[0] ?? {};
    return { sql: sql.replaceAll(/\$\d+/g, '?'), bindings };
  });

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

test('a list with what the callers asked for is read from indexes, and sorts only its page', async () => {
  const text = await planOfSent((db) => listTasks(db, { ...page, withAsked: true }));
  // The only sort is outside of the limit.
  expect(text).toMatch(/^Sort [\s\S]*Limit [\s\S]*Scan using tasks_account/);
  expect(text).toMatch(/Index Scan using tasks_pkey on tasks /);
  expect(text).not.toMatch(/Seq Scan|-> +(Incremental )?Sort/);
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
