// The audit finds what it is there to find: each kind of damage is done to an account of its own,
// behind the back of the triggers and constraints that make it impossible otherwise; that they do
// is shown first.

import { closeTask, openTask } from '../../src/db/ledger';
import { type Audit, audit } from '../../src/db/ledger-audit';
import { aClosing, anAccountWith, anOpening } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';

// What is done to the books of one account, `:a`: it has 1,000, a task `:a_open` that holds 10, and
// a task `:a_done` that held 100 and was charged 40. Then where it shows, and under which rule.
const damages: readonly (readonly [name: string, sql: string, subject: string, rule: string])[] = [
  [
    'a balance that was changed by hand',
    `update balances set available = available + 1 where account_id = ':a'`,
    ':a',
    'balances are the sums of their movements',
  ],
  [
    'a hold that was changed by hand',
    `update balances set held = held + 1 where account_id = ':a'`,
    ':a',
    'no hold outlives its task, and no task is open without one',
  ],
  [
    'a count of open tasks that was changed by hand',
    `update balances set open_tasks = 2 where account_id = ':a'`,
    ':a',
    'no hold outlives its task, and no task is open without one',
  ],
  [
    'books that were removed',
    `delete from balances where account_id = ':a'`,
    ':a',
    'every movement belongs to an account with books',
  ],
  [
    'a movement that is gone',
    `delete from transfers where id = ':a_done:refund'`,
    ':a',
    'the numbers of an account have no gap',
  ],
  [
    'the last movement gone, and the balances made to fit',
    `delete from transfers where id = ':a_done:refund';
     update balances set available = available - 60, held = 70, last_seq = 4
      where account_id = ':a'`,
    ':a_done',
    'every final task returned or spent exactly its hold',
  ],
  [
    'a movement with another number',
    `update transfers set seq = 99 where id = ':a_done:refund'`,
    ':a',
    'the numbers of an account have no gap',
  ],
  [
    'a changed amount',
    `update transfers set amount = 41 where id = ':a_done:settle'`,
    ':a',
    'balances are the sums of their movements',
  ],
  [
    'a changed balance beside a movement',
    `update transfers set available_after = 891 where id = ':a_done:hold'`,
    ':a_done:hold',
    'the balances after a movement follow from those before it',
  ],
  [
    'a changed hold beside a movement',
    `update transfers set held_after = 0 where id = ':a_done:hold'`,
    ':a_done:hold',
    'the balances after a movement follow from those before it',
  ],
  [
    'a movement that no balance knows',
    `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                            held_after)
     values (':a:gift', ':a', 6, 'credit', 'credits', 'available', 5, 955, 10)`,
    ':a',
    'balances are the sums of their movements',
  ],
  [
    'a movement that gives what it does not take',
    `update transfers set debit = 'available' where id = ':a_done:settle'`,
    ':a_done:settle',
    'a movement takes from one account what it gives to another',
  ],
  [
    'a movement to an account nobody has',
    `update transfers set credit = 'pocket' where id = ':a_done:settle'`,
    ':a_done:settle',
    'a movement takes from one account what it gives to another',
  ],
  [
    'a movement backwards',
    `update transfers set amount = -40 where id = ':a_done:settle'`,
    ':a_done:settle',
    'a movement takes from one account what it gives to another',
  ],
  [
    'a movement of an unknown kind',
    `update transfers set kind = 'gift' where id = ':a:credit:start'`,
    ':a:credit:start',
    'a movement takes from one account what it gives to another',
  ],
  [
    'a task closed without its movements',
    `update tasks set finished_at = now() where id = ':a_open'`,
    ':a_open',
    'every final task returned or spent exactly its hold',
  ],
  [
    'a task that is open again',
    `update tasks set finished_at = null where id = ':a_done'`,
    ':a_done',
    'an open task has moved nothing but its hold',
  ],
  [
    'a task that is gone',
    `delete from tasks where id = ':a_done'`,
    ':a_done',
    'every movement of a task belongs to one',
  ],
  [
    'a final task that never moved anything',
    `insert into tasks select (json_populate_record(tasks, '{"id":":a_ghost"}')).*
       from tasks where id = ':a_done'`,
    ':a_ghost',
    'a task has one hold',
  ],
  [
    'a second hold',
    `update transfers set kind = 'hold', debit = 'available', credit = 'held'
      where id = ':a_done:refund'`,
    ':a_done',
    'a task has one hold',
  ],
  [
    'a movement of one customer for a task of another',
    `update tasks set account_id = 'whole' where id = ':a_done'`,
    ':a_done',
    'a task moves money of its own account only',
  ],
  [
    'a charge the task does not show',
    `update tasks set object = '{"billing":{"charged":"0.000041"}}' where id = ':a_done'`,
    ':a_done',
    'a final task shows what moved',
  ],
  [
    'a charge of a task that shows no bill',
    `update tasks set object = '{}' where id = ':a_done'`,
    ':a_done',
    'a final task shows what moved',
  ],
  [
    'a refund the task does not show',
    `update tasks set object = replace(object::text, '"refunded":"0.000060"',
                                       '"refunded":"0.000061"')::json where id = ':a_done'`,
    ':a_done',
    'a final task shows what moved',
  ],
  [
    'a failed task that was charged',
    `update tasks set status = 'failed' where id = ':a_done'`,
    ':a_done',
    'a failed task is charged nothing',
  ],
];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(4);
  await Promise.all(['whole', ...damages.map((_, index) => `damaged_${index}`)].map(someBooks));
});
afterAll(() => database?.drop());

async function someBooks(account: string): Promise<void> {
  const { db } = database;
  await anAccountWith(db, account, 1_000);
  await openTask(db, anOpening(account, `${account}_open`, 10));
  await openTask(db, anOpening(account, `${account}_done`, 100));
  await closeTask(db, aClosing(`${account}_done`, 100, 40));
}

const in_ = (text: string, index: number) => text.replaceAll(':a', `damaged_${index}`);

test('whole books have no differences', async () => {
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
  ['a kind that is none', written(good.replace("'credit'", "'gift'")), /transfers_kinds/],
  ['money for nobody', written(good.replace("'available'", "'nobody'")), /transfers_kinds/],
  ['nothing', written(good.replace(' 1,', ' 0,')), /transfers_amount_check/],
  ['less than nothing', written(good.replace(' 1,', ' -1,')), /transfers_amount_check/],
  ['half a movement', written(good.replace("'available'", 'null')), /null value/],
  ['a number twice', written(good.replace(' 6,', ' 5,')), /transfers_account_id_seq_key/],
  ['an id twice', written(good.replace("'x'", "'whole_done:hold'")), /transfers_pkey/],
])('the database itself refuses %s', async (_, sql, why) => {
  await expect(database.db.raw(sql)).rejects.toThrow(why);
  expect((await audit(database.db)).differences).toEqual([]);
});

describe('behind its back', () => {
  let found: Audit['differences'];
  beforeAll(async () => {
    const { db } = database;
    await db.raw('alter table transfers disable trigger user');
    await db.raw('alter table transfers drop constraint transfers_kinds');
    await db.raw('alter table transfers drop constraint transfers_amount_check');
    for (const [index, [, sql]] of damages.entries()) await db.raw(in_(sql, index));
    found = (await audit(db)).differences;
  });

  test.each(damages.map(([name, , subject, rule], index) => [name, subject, rule, index] as const))(
    '%s is found',
    (_, subject, rule, index) => {
      const rules = found.filter((one) => one.subject === in_(subject, index));
      expect(rules.map(({ check }) => check)).toContain(rule);
    },
  );

  test('and nobody else is suspected', () => {
    expect(found.filter(({ subject }) => subject.startsWith('whole'))).toEqual([]);
    const suspected = new Set(found.map(({ subject }) => subject.match(/^damaged_\d+/)?.[0]));
    expect(suspected.size).toBe(damages.length);
    for (const { found: words } of found) expect(words).toMatch(/\d/);
  });
});
