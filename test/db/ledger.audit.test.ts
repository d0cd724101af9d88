// The full audit finds every kind of damage. Each is done to its own account with triggers and
// constraints removed; the first tests show that these refuse such damage.

import { type Audit, audit } from '../../src/db/ledger-audit';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { damageAll, damages, ofAccount, writeDamagedAccounts } from './ledger.damages';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(4);
  await writeDamagedAccounts(database.db);
});
afterAll(() => database?.drop());

test('undamaged books have no differences', async () => {
  const accounts = damages.length + 1;
  expect(await audit(database.db)).toEqual({ accounts, transfers: accounts * 5, differences: [] });
});

const columns =
  'id, account_id, seq, kind, debit, credit, amount, available_after, held_after, task_id';
const written = (values: string) => `insert into transfers (${columns}) values (${values})`;
const good = `'x', 'whole', 6, 'credit', 'credits', 'available', 1, 951, 10, null`;

test.each([
  ['one side of a movement changed', `update transfers set debit = 'credits'`, /never changed/],
  ['an amount changed', 'update transfers set amount = amount + 1', /never changed/],
  ['a movement removed', `delete from transfers where id = 'whole_done:refund'`, /never changed/],
  ['all movements removed', 'truncate transfers', /never changed/],
  [
    'money from an account that its kind may not touch',
    written(good.replace("'credits'", "'held'")),
    /transfers_kinds/,
  ],
  ['money to itself', written(good.replace("'credits'", "'available'")), /transfers_kinds/],
  ['an unknown kind', written(good.replace("'credit'", "'gift'")), /transfers_kinds/],
  [
    'money to an unknown ledger account',
    written(good.replace("'available'", "'nobody'")),
    /transfers_kinds/,
  ],
  ['nothing', written(good.replace(' 1,', ' 0,')), /transfers_amount_check/],
  ['a negative amount', written(good.replace(' 1,', ' -1,')), /transfers_amount_check/],
  ['a movement without a credit side', written(good.replace("'available'", 'null')), /null value/],
  ['a number twice', written(good.replace(' 6,', ' 5,')), /transfers_account_id_seq_key/],
  ['an id twice', written(good.replace("'x'", "'whole_done:hold'")), /transfers_pkey/],
])('the schema refuses %s', async (_, sql, why) => {
  await expect(database.db.raw(sql)).rejects.toThrow(why);
  expect((await audit(database.db)).differences).toEqual([]);
});

describe('damage done with triggers and constraints removed', () => {
  let found: Audit['differences'];
  beforeAll(async () => {
    const { db } = database;
    await damageAll(db);
    found = (await audit(db)).differences;
  });

  test.each(damages.map(([name, , subject, rule], index) => [name, subject, rule, index] as const))(
    '%s is found',
    (_, subject, rule, index) => {
      const rules = found.filter((one) => one.subject === ofAccount(subject, index));
      expect(rules.map(({ check }) => check)).toContain(rule);
    },
  );

  test('no difference is reported for undamaged accounts', () => {
    expect(found.filter(({ subject }) => subject.startsWith('whole'))).toEqual([]);
    const suspected = new Set(found.map(({ subject }) => subject.match(/^damaged_\d+/)?.[0]));
    expect(suspected.size).toBe(damages.length);
    for (const { found: words } of found) expect(words).toMatch(/\d/);
  });
});
