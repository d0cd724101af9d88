// Tests the scheduled audit. The audit reads each account from its last checkpoint. It finds
// differences in new movements and in balances. It reports a difference until the books agree
// again.

import { closeTask } from '../../src/db/ledger';
import { audit } from '../../src/db/ledger-audit';
import { auditNewMovements } from '../../src/db/ledger-audit-new';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import {
  damageAll,
  damages,
  dropGuards,
  ofAccount,
  someBooks,
  writeDamagedAccounts,
} from './ledger.damages';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase(6);
});
afterEach(() => database?.drop());

const found = async () =>
  (await auditNewMovements(database.db)).map(({ check, subject }) => `${subject}: ${check}`);
const foundByAll = async () =>
  (await audit(database.db)).differences.map(({ check, subject }) => `${subject}: ${check}`);

async function checkpoints(): Promise<Record<string, number>> {
  const { rows } = await database.db.raw<{ rows: { account_id: string; seq: number }[] }>(
    'select account_id, seq from audited_books order by account_id',
  );
  return Object.fromEntries(rows.map(({ account_id, seq }) => [account_id, seq]));
}

async function aTask(account: string, taskId: string): Promise<void> {
  await openNew(database.db, anOpening(account, taskId, 100));
  await closeTask(database.db, aClosing(taskId, 100, 40));
}

test('if the audit finds no difference in an account, its checkpoint is the last movement of the account', async () => {
  await someBooks(database.db, 'a');
  expect(await found()).toEqual([]);
  expect(await checkpoints()).toEqual({ a: 5 });
  await closeTask(database.db, aClosing('a_open', 10, 4));
  await aTask('a', 'task_next');
  expect(await found()).toEqual([]);
  expect(await checkpoints()).toEqual({ a: 10 });
  const { rows } = await database.db.raw<{ rows: { recent: boolean }[] }>(
    `select audited_at > now() - interval '1 minute' as recent from reconcile_state`,
  );
  expect(rows).toEqual([{ recent: true }]);
});

describe('in new movements of an audited account, the scheduled audit', () => {
  test.each([
    [
      'a changed amount',
      `update transfers set amount = 41 where id = 'task_new:settle'`,
      'a: balances are the sums of their movements',
    ],
    [
      'a changed balance in the row of the first new movement',
      `update transfers set available_after = 1 where id = 'task_new:hold'`,
      'task_new:hold: the balances after a movement follow from those before it',
    ],
    [
      'a deleted movement',
      `delete from transfers where id = 'task_new:hold'`,
      'a: the numbers of an account have no gap',
    ],
    [
      'a movement that did not change the balance',
      `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                              held_after)
       values ('gift', 'a', 9, 'credit', 'credits', 'available', 5, 955, 10)`,
      'a: balances are the sums of their movements',
    ],
    [
      'a refund that the task does not show',
      `update tasks set object = '{"billing":{"charged":"0.000041"}}' where id = 'task_new'`,
      'task_new: a final task shows what moved',
    ],
    [
      'a task that was closed without closeTask',
      `update tasks set finished_at = now() where id = 'a_open'`,
      'a: no hold outlives its task, and no task is open without one',
    ],
  ])('finds %s each time it runs', async (_, sql, difference) => {
    await someBooks(database.db, 'a');
    await someBooks(database.db, 'b');
    expect(await found()).toEqual([]);
    await aTask('a', 'task_new');
    await dropGuards(database.db);
    await database.db.raw(sql);
    expect(await found()).toContain(difference);
    expect(await found()).toContain(difference);
    expect(await foundByAll()).toContain(difference);
  });
});

test('the full audit finds a changed old movement; the scheduled audit finds it only if the balances differ too', async () => {
  await someBooks(database.db, 'a');
  expect(await found()).toEqual([]);
  await dropGuards(database.db);
  await database.db.raw(`update transfers set amount = 41 where id = 'a_done:settle'`);
  expect(await foundByAll()).toContain('a: balances are the sums of their movements');
  // As documented, the scheduled audit does not read movements before the checkpoint.
  expect(await found()).toEqual([]);
  await database.db.raw(`update balances set available = available + 1 where account_id = 'a'`);
  expect(await found()).toContain('a: balances are the sums of their movements');
  // After a difference the account is read from its first movement, so the old movement is reported
  // too.
  expect(await found()).toContain(
    'a_done:settle: the balances after a movement follow from those before it',
  );
});

test('the scheduled audit finds an account whose balance was deleted after the previous audit', async () => {
  await someBooks(database.db, 'a');
  expect(await found()).toEqual([]);
  await database.db.raw(`delete from balances where account_id = 'a'`);
  const removed = ['a: every movement belongs to an account with books'];
  expect([await found(), await found()]).toEqual([removed, removed]);
});

test('after a repair the audit reads the account from its first movement and finds no difference', async () => {
  await someBooks(database.db, 'a');
  expect(await found()).toEqual([]);
  await database.db.raw(`update balances set available = available + 1 where account_id = 'a'`);
  expect(await found()).not.toEqual([]);
  expect(await checkpoints()).toEqual({});
  await database.db.raw(`update balances set available = available - 1 where account_id = 'a'`);
  expect(await found()).toEqual([]);
  expect(await checkpoints()).toEqual({ a: 5 });
});

describe('an audit that fails before it has stored its result', () => {
  test('does not hide a difference from the next audit', async () => {
    await someBooks(database.db, 'a');
    await someBooks(database.db, 'b');
    await database.db.raw(`update balances set held = held + 1 where account_id = 'b'`);
    await dieBeforeResult();
    expect(await found()).toContain('b: balances are the sums of their movements');
  });

  test('leaves correct checkpoints, so the next audit finds a difference in a new movement', async () => {
    await someBooks(database.db, 'a');
    await dieBeforeResult();
    expect(await checkpoints()).toEqual({ a: 5 });
    await aTask('a', 'task_new');
    await dropGuards(database.db);
    await database.db.raw(`update transfers set amount = 41 where id = 'task_new:settle'`);
    expect(await found()).toContain('a: balances are the sums of their movements');
  });

  async function dieBeforeResult(): Promise<void> {
    await database.db.raw(`
      create function die() returns trigger language plpgsql as $$
      begin raise exception 'cut'; end $$;
      create trigger die before update on reconcile_state for each row execute function die()`);
    await expect(found()).rejects.toThrow('cut');
    await database.db.raw('drop trigger die on reconcile_state');
  }
});

test('the scheduled audit includes the accounts after its first batch', async () => {
  await database.db.raw(`
    insert into accounts (id, name) select 'n' || n, 'n' from generate_series(1000, 1600) n;
    insert into balances (account_id) select 'n' || n from generate_series(1000, 1600) n`);
  expect(await found()).toEqual([]);
  await database.db.raw(`update balances set available = 1 where account_id = 'n1600'`);
  expect(await found()).toEqual(['n1600: balances are the sums of their movements']);
  expect(Object.keys(await checkpoints())).toContain('n1000');
});

test('the scheduled audit finds every kind of damage to audited books, except a final task without movements', async () => {
  await writeDamagedAccounts(database.db);
  expect(await found()).toEqual([]);
  await damageAll(database.db);
  // The first audit finds balances that differ. The second audit reads those accounts from their
  // first movement.
  const first = await found();
  const differences = [...first, ...(await found())];
  const missed = damages.filter(
    ([, , subject, rule], index) => !differences.includes(`${ofAccount(subject, index)}: ${rule}`),
  );
  expect(missed.map(([name]) => name)).toEqual(['a final task that never moved anything']);
  expect(differences.filter((difference) => difference.startsWith('whole'))).toEqual([]);
});

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
  expect(await checkpoints()).toEqual({ a: 121, b: 121, c: 121 });
  expect(await foundByAll()).toEqual([]);
});
