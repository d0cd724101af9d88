// Tests the scheduled audit. It reads what moved since the last audit without a difference, and
// compares the balances in any case. It reports a difference until the books agree again.

import { audit, auditNewMovements } from '../../src/money/audit.rows';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { damages, dropGuards, ofAccount, someBooks } from './damages';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase(6);
});
afterEach(() => database?.drop());

const found = async () =>
  (await auditNewMovements(database.db)).map(({ check, subject }) => `${subject}: ${check}`);
const foundByAll = async () =>
  (await audit(database.db)).differences.map(({ check, subject }) => `${subject}: ${check}`);

/** The number of movements that the next scheduled audit would not read. */
async function movementsThatAgreed(): Promise<number> {
  const { rows } = await database.db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from transfers
      where created_at < (select agreed_until from loops where kind = 'audit')`,
  );
  return rows[0]?.n ?? 0;
}

/** Makes all movements so old that an audit which finds no difference is done with them. */
async function age(): Promise<void> {
  await database.db.raw('alter table transfers disable trigger user');
  await database.db.raw(`update transfers set created_at = created_at - interval '1 hour'`);
  await database.db.raw('alter table transfers enable trigger user');
}

async function aTask(account: string, taskId: string): Promise<void> {
  await openNew(database.db, anOpening(account, taskId, 100));
  await closeTask(database.db, aClosing(taskId, 100, 40));
}

test('an audit that finds no difference is done with all movements but the latest', async () => {
  await someBooks(database.db, 'a');
  await age();
  expect(await found()).toEqual([]);
  expect(await movementsThatAgreed()).toBe(5);
  await closeTask(database.db, aClosing('a_open', 10, 4));
  await aTask('a', 'task_next');
  expect(await found()).toEqual([]);
  expect(await movementsThatAgreed()).toBe(5);
  const { rows } = await database.db.raw<{ rows: { recent: boolean }[] }>(
    `select ran_at > now() - interval '1 minute' as recent from loops where kind = 'audit'`,
  );
  expect(rows).toEqual([{ recent: true }]);
});

describe('in new movements of an audited account, the scheduled audit', () => {
  test.each([
    [
      'a changed amount',
      `update transfers set amount = 41 where id = 'task_new:settle'`,
      /^a: .*sums/,
    ],
    [
      'a changed balance in the row of the first new movement',
      `update transfers set available_after = 1 where id = 'task_new:hold'`,
      /^task_new:hold: .*follow/,
    ],
    ['a deleted movement', `delete from transfers where id = 'task_new:hold'`, /^a: .*gap/],
    [
      'a movement that did not change the balance',
      `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                              held_after)
       values ('gift', 'a', 9, 'credit', 'credits', 'available', 5, 955, 10)`,
      /^a: .*sums/,
    ],
    [
      'a refund that the task does not show',
      `update tasks set object = '{"billing":{"charged":"0.000041"}}' where id = 'task_new'`,
      /^task_new: .*agrees with its movements/,
    ],
    [
      'a task that was closed without closeTask',
      `update tasks set object = '{}', finished_at = now() where id = 'a_open'`,
      /^a: .*has a hold left/,
    ],
  ])('finds %s each time it runs', async (_, sql, difference) => {
    await someBooks(database.db, 'a');
    await someBooks(database.db, 'b');
    await age();
    expect(await found()).toEqual([]);
    await aTask('a', 'task_new');
    await dropGuards(database.db);
    await database.db.raw(sql);
    expect(await found()).toContainEqual(expect.stringMatching(difference));
    expect(await found()).toContainEqual(expect.stringMatching(difference));
    expect(await foundByAll()).toContainEqual(expect.stringMatching(difference));
  });
});

test('the scheduled audit finds no difference in a late correction of a task', async () => {
  await someBooks(database.db, 'a');
  await closeTask(database.db, aClosing('a_open', 10, 4));
  await age();
  expect(await found()).toEqual([]);
  const correction = { kind: 'correction', reason: 'test', taskId: 'a_done' } as const;
  for (const amountMicros of [30, -5]) {
    const reference = `case${amountMicros}`;
    const moved = { accountId: 'a', amountMicros, reference, ...correction };
    expect(await creditAccount(database.db, moved)).toBe('created');
    expect([await found(), await foundByAll()]).toEqual([[], []]);
    await age();
  }
  await dropGuards(database.db);
  await database.db.raw(
    `update tasks set object = '{"billing":{"charged":"0.000041"}}' where id = 'a_done'`,
  );
  const misshown = expect.stringMatching(/^a_done: .*agrees with its movements/);
  expect(await foundByAll()).toContainEqual(misshown);
});

test('the full audit finds a changed old movement; the scheduled audit finds it only if the balances differ too', async () => {
  await someBooks(database.db, 'a');
  await age();
  expect(await found()).toEqual([]);
  await dropGuards(database.db);
  await database.db.raw(`update transfers set available_after = 891 where id = 'a_done:hold'`);
  const changed = expect.stringMatching(/^a_done:hold: .*follow/);
  expect(await foundByAll()).toContainEqual(changed);
  // As documented, the scheduled audit does not read movements that agreed before.
  expect(await found()).toEqual([]);
  await database.db.raw(`update balances set available = available + 1 where account_id = 'a'`);
  // A difference makes the audit read the account from its first movement.
  const differences = await found();
  expect(differences).toContainEqual(expect.stringMatching(/^a: .*sums/));
  expect(differences).toContainEqual(changed);
});

test('the scheduled audit finds an account whose balance was deleted after the previous audit', async () => {
  await someBooks(database.db, 'a');
  await age();
  expect(await found()).toEqual([]);
  await database.db.raw(`delete from balances where account_id = 'a'`);
  const removed = [expect.stringMatching(/^a: .*books/)];
  expect([await found(), await found()]).toEqual([removed, removed]);
});

test('movements count as audited only after the differences are repaired', async () => {
  await someBooks(database.db, 'a');
  await age();
  await database.db.raw(`update balances set available = available + 1 where account_id = 'a'`);
  expect(await found()).not.toEqual([]);
  expect(await movementsThatAgreed()).toBe(0);
  await database.db.raw(`update balances set available = available - 1 where account_id = 'a'`);
  expect(await found()).toEqual([]);
  expect(await movementsThatAgreed()).toBe(5);
});

describe('an audit that fails before it has stored its result', () => {
  test('does not hide a difference from the next audit', async () => {
    await someBooks(database.db, 'a');
    await someBooks(database.db, 'b');
    await database.db.raw(`update balances set held = held + 1 where account_id = 'b'`);
    await dieBeforeResult();
    expect(await found()).toContainEqual(expect.stringMatching(/^b: .*sums/));
  });

  test('leaves its movements to the next audit, which finds a difference in a new movement', async () => {
    await someBooks(database.db, 'a');
    await age();
    await dieBeforeResult();
    expect(await movementsThatAgreed()).toBe(0);
    await aTask('a', 'task_new');
    await dropGuards(database.db);
    await database.db.raw(`update transfers set amount = 41 where id = 'task_new:settle'`);
    expect(await found()).toContainEqual(expect.stringMatching(/^a: .*sums/));
  });

  async function dieBeforeResult(): Promise<void> {
    await database.db.raw(`
      create function die() returns trigger language plpgsql as $$
      begin raise exception 'cut'; end $$;
      create trigger die before insert or update on loops for each row execute function die()`);
    await expect(found()).rejects.toThrow('cut');
    await database.db.raw('drop trigger die on loops');
  }
});

test('the scheduled audit includes the accounts after its first batch', async () => {
  await database.db.raw(`
    insert into accounts (id, name) select 'n' || n, 'n' from generate_series(1000, 1600) n;
    insert into balances (account_id) select 'n' || n from generate_series(1000, 1600) n`);
  expect(await found()).toEqual([]);
  await database.db.raw(`update balances set available = 1 where account_id = 'n1600'`);
  expect(await found()).toEqual([expect.stringMatching(/^n1600: .*sums/)]);
});

// Damage that no audit finds by the balances or by the last movement of an account.
const inOldMovements = [
  'a movement to an unknown ledger account',
  'a changed balance in the row of a movement',
  'a changed held balance in the row of a movement',
  'a movement of an unknown kind',
  'a final task that never moved anything',
];

describe.each(damages.map(([name], index) => [name, index] as const))(
  'after %s in audited books of a quiet account',
  (name, index) => {
    test(`the scheduled audit ${inOldMovements.includes(name) ? 'may miss it, the full audit finds it' : 'finds it'}`, async () => {
      const account = `damaged_${index}`;
      await someBooks(database.db, 'whole');
      await someBooks(database.db, account);
      await age();
      expect(await found()).toEqual([]);
      await dropGuards(database.db);
      const [, sql, subject, rule] = damages[index] ?? ['', '', '', ''];
      await database.db.raw(ofAccount(sql, index));
      const difference = `^${ofAccount(subject, index)}: .*${rule}`;
      expect(await foundByAll()).toContainEqual(expect.stringMatching(difference));
      if (!inOldMovements.includes(name))
        expect(await found()).toContainEqual(expect.stringMatching(difference));
      else expect(await found()).toEqual([]);
    });
  },
);

test('movements during a scheduled audit cause no differences', async () => {
  const accounts = ['a', 'b', 'c'];
  for (const account of accounts) await anAccountWith(database.db, account, 1_000_000);
  let busy = true;
  const moving = accounts.map(async (account) => {
    for (let n = 0; n < 40; n += 1) await aTask(account, `task_${account}_${n}`);
  });
  const done = Promise.all(moving).finally(() => {
    busy = false;
  });
  const auditing = async () => {
    do expect(await found()).toEqual([]);
    while (busy);
  };
  await Promise.all([auditing(), auditing(), done]);
  expect(await found()).toEqual([]);
  expect(await foundByAll()).toEqual([]);
});
