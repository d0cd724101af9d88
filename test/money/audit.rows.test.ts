// Tests that the full audit finds every kind of damage to the books. The triggers and constraints
// of the schema refuse such damage, which the first tests show. Later tests remove these guards and
// damage one account in each way.

import { type Audit, audit } from '../../src/money/audit.rows';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { damageAll, damages, ofAccount, writeDamagedAccounts } from './damages';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(4);
  await writeDamagedAccounts(database.db);
});
afterAll(() => database?.drop());

test('the full audit finds no difference in undamaged books', async () => {
  const accounts = damages.length + 1;
  expect(await audit(database.db)).toEqual({ accounts, transfers: accounts * 5, differences: [] });
});

test('the full audit also checks the accounts after one that fills a batch', async () => {
  const accounts = damages.length + 1;
  await database.db.raw('update balances set last_seq = last_seq + 2000000');
  const found = await audit(database.db);
  await database.db.raw('update balances set last_seq = last_seq - 2000000');
  expect(found.accounts).toBe(accounts);
  expect(new Set(found.differences.map(({ subject }) => subject)).size).toBe(accounts);
});

const columns =
  'id, account_id, seq, kind, debit, credit, amount, available_after, held_after, task_id';
const written = (values: string) => `insert into transfers (${columns}) values (${values})`;
const good = `'x', 'whole', 6, 'credit', 'credits', 'available', 1, 951, 10, null`;

test.each([
  ['a change of one side of a movement', `update transfers set debit = 'credits'`, /never changed/],
  ['a change of an amount', 'update transfers set amount = amount + 1', /never changed/],
  [
    'the removal of a movement',
    `delete from transfers where id = 'whole_done:refund'`,
    /never changed/,
  ],
  ['the removal of all movements', 'truncate transfers', /never changed/],
  [
    'a movement from a ledger account that its kind does not allow',
    written(good.replace("'credits'", "'held'")),
    /domain movement/,
  ],
  [
    'a movement from a ledger account to itself',
    written(good.replace("'credits'", "'available'")),
    /domain movement/,
  ],
  ['a movement of an unknown kind', written(good.replace("'credit'", "'gift'")), /domain movement/],
  [
    'a movement to an unknown ledger account',
    written(good.replace("'available'", "'nobody'")),
    /domain movement/,
  ],
  ['an amount of zero', written(good.replace(' 1,', ' 0,')), /domain moved_micros/],
  ['a negative amount', written(good.replace(' 1,', ' -1,')), /domain moved_micros/],
  ['a movement without a credit side', written(good.replace("'available'", 'null')), /null value/],
  [
    'a second movement with the same number',
    written(good.replace(' 6,', ' 5,')),
    /transfers_account_id_seq_key/,
  ],
  [
    'a second movement with the same id',
    written(good.replace("'x'", "'whole_done:hold'")),
    /transfers_pkey/,
  ],
])('the schema refuses %s', async (_, sql, why) => {
  await expect(database.db.raw(sql)).rejects.toThrow(why);
  expect((await audit(database.db)).differences).toEqual([]);
});

describe('without triggers and constraints', () => {
  let found: Audit['differences'];
  beforeAll(async () => {
    const { db } = database;
    await damageAll(db);
    found = (await audit(db)).differences;
  });

  test.each(damages.map(([name, , subject, rule], index) => [name, subject, rule, index] as const))(
    'the full audit finds %s',
    (_, subject, rule, index) => {
      const rules = found.filter((one) => one.subject === ofAccount(subject, index));
      expect(rules.map(({ check }) => check)).toContainEqual(expect.stringContaining(rule));
    },
  );

  test('the full audit reports no difference for undamaged accounts', () => {
    expect(found.filter(({ subject }) => subject.startsWith('whole'))).toEqual([]);
    const suspected = new Set(found.map(({ subject }) => subject.match(/^damaged_\d+/)?.[0]));
    expect(suspected.size).toBe(damages.length);
    for (const { found: words } of found) expect(words).toMatch(/\d/);
  });
});
