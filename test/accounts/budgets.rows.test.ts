// Tests the budgets of accounts and keys in a real PostgreSQL. The tests show which amounts count,
// and in which period. They also show that concurrent creates do not exceed a budget.

import type { Knex } from 'knex';
import {
  listBudgets,
  listBudgetsQuery,
  setBudget,
  setTimeZone,
} from '../../src/accounts/budgets.rows';
import { createKey } from '../../src/accounts/keys.rows';
import { lockPending } from '../../src/accounts/pending-sums.rows';
import type { BudgetPeriod } from '../../src/contract/vocabulary';
import { connect } from '../../src/database/database';
import { audit } from '../../src/money/audit.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { acceptTask } from '../../src/tasks/accept.rows';
import { failPending } from '../../src/tasks/pending.rows';
import {
  aClosing,
  aNewTask,
  anAccountWith,
  anOpening,
  openStored,
  storePending,
} from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, statementsWaiting, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(10);
});
afterAll(() => database?.drop());

const accepting = { queuedTasksMax: 1_000 };

const lockTimeout = '55P03';

let accounts = 0;
async function anAccount() {
  accounts += 1;
  const { db } = database;
  const accountId = await anAccountWith(db, `acct_${accounts}`, 1_000_000);
  const { keyId } = await createKey(db, { accountId });
  const { keyId: otherKeyId } = await createKey(db, { accountId });
  const create = (hold: number, by = keyId, taskId = aTaskId(), on: Knex = db) =>
    acceptTask(on, { ...aNewTask(accountId, taskId, hold), keyId: by }, accepting);
  const accepts = async (hold: number, by = keyId) => (await create(hold, by)).outcome;
  const open = (taskId: string, hold: number) => openStored(db, anOpening(accountId, taskId, hold));
  const limit = (period: BudgetPeriod, limitMicros: number, of: string | null = null) =>
    setBudget(db, { accountId, keyId: of, period, limitMicros });
  const standing = async () =>
    (await listBudgets(db, accountId)).map((row) => [row.spentMicros, row.heldMicros]);
  return { accountId, keyId, otherKeyId, create, accepts, open, limit, standing };
}

afterEach(async () => {
  expect((await audit(database.db)).differences).toEqual([]);
});

test.each(['day', 'month', 'total'] as const)(
  'a %s budget for 10 tasks accepts exactly 10 of 100 creates, twenty at once through two pools',
  async (period) => {
    const { create, limit, standing, keyId, otherKeyId } = await anAccount();
    await limit(period, 109);
    const other = connect({ url: database.url, poolMax: 10, applicationName: 'another process' });
    try {
      // As many callers as connections: on a slow machine, more would wait in vain for one. There a
      // lock may also not come in time; the API answers 503, and its caller repeats the create.
      const callers = Array.from({ length: 20 }, async (_, caller) => {
        const on = caller % 2 ? other : database.db;
        const outcomes: string[] = [];
        while (outcomes.length < 5) {
          const by = (caller + outcomes.length) % 3 ? keyId : otherKeyId;
          try {
            outcomes.push((await create(10, by, aTaskId(), on)).outcome);
          } catch (error) {
            if ((error as { code?: string }).code !== lockTimeout) throw error;
          }
        }
        return outcomes;
      });
      const outcomes = (await Promise.all(callers)).flat();
      expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(10);
      expect(outcomes.filter((outcome) => outcome === 'over_budget')).toHaveLength(90);
      expect(await standing()).toEqual([[0, 100]]);
    } finally {
      await other.destroy();
    }
  },
);

test('an account that is full and over its budget hears of the budget, because waiting would not help', async () => {
  const { accountId, accepts, limit } = await anAccount();
  await database.db('accounts').where({ id: accountId }).update({ queued_max: 1 });
  await limit('total', 100);
  expect(await accepts(60)).toBe('stored');
  expect(await accepts(60)).toBe('over_budget');
  expect(await accepts(40)).toBe('full');
});

test('a create of a full account waits for no other create, even under a budget', async () => {
  const { accountId, accepts, limit } = await anAccount();
  const { db } = database;
  await db('accounts').where({ id: accountId }).update({ queued_max: 1 });
  await limit('total', 100);
  expect(await accepts(60)).toBe('stored');
  const trx = await db.transaction();
  try {
    await trx.raw('select 1 from balances where account_id = ? for update', [accountId]);
    expect(await accepts(40)).toBe('full');
    expect(await accepts(41)).toBe('over_budget');
  } finally {
    await trx.rollback();
  }
});

test('a create of a full account is known, if the same create is stored before its budgets are read', async () => {
  const { accountId, create, limit } = await anAccount();
  const { db } = database;
  await db('accounts').where({ id: accountId }).update({ queued_max: 1 });
  await limit('total', 100);
  const [first, id] = [aTaskId(), aTaskId()];
  expect((await create(60, undefined, first)).outcome).toBe('stored');
  const [lock, patient] = [await db.transaction(), await db.transaction()];
  try {
    await patient.raw(`set local lock_timeout = '60s'`);
    await patient.raw(`set local statement_timeout = '60s'`);
    // The budgets are summed from the movements.
    await lock.raw('lock table transfers in access exclusive mode');
    const waiting = create(60, undefined, id, patient);
    await until('the create waits', async () => (await statementsWaiting(db)) === 1);
    await failPending(lock, first, 'cancelled');
    expect((await create(60, undefined, id, lock)).outcome).toBe('stored');
    await lock.commit();
    expect(await waiting).toMatchObject({ outcome: 'known', task: { id } });
  } finally {
    await lock.rollback();
    await patient.rollback();
  }
});

test('a hold counts in full against a budget until the task is settled; then only the charge counts', async () => {
  const { create, accepts, open, limit, standing } = await anAccount();
  await limit('total', 100);
  const id = aTaskId();
  expect(await create(100, undefined, id)).toMatchObject({ outcome: 'stored' });
  expect(await standing()).toEqual([[0, 100]]);
  expect((await open(id, 100)).outcome).toBe('opened');
  expect(await standing()).toEqual([[0, 100]]);
  expect(await accepts(1)).toBe('over_budget');
  await closeTask(database.db, aClosing(id, 100, 30));
  expect(await standing()).toEqual([[30, 0]]);
  expect(await accepts(71)).toBe('over_budget');
  expect(await accepts(70)).toBe('stored');
});

test('a failed task no longer counts against a budget, and a charge above the hold counts in full', async () => {
  const { create, open, limit, standing } = await anAccount();
  await limit('day', 100);
  const [failed, dearer, pending] = [aTaskId(), aTaskId(), aTaskId()];
  for (const id of [failed, dearer, pending]) await create(30, undefined, id);
  await open(failed, 30);
  await open(dearer, 30);
  await closeTask(database.db, aClosing(failed, 30, null));
  await closeTask(database.db, aClosing(dearer, 30, 45));
  expect(await standing()).toEqual([[45, 30]]);
  await failPending(database.db, pending, 'cancelled');
  expect(await standing()).toEqual([[45, 0]]);
});

test('a budget of a key counts only the tasks of that key, and the budget of the account still applies', async () => {
  const { accepts, limit, keyId, otherKeyId } = await anAccount();
  await limit('total', 100);
  await limit('day', 50, keyId);
  expect(await accepts(50, keyId)).toBe('stored');
  expect(await accepts(1, keyId)).toBe('over_budget');
  expect(await accepts(50, otherKeyId)).toBe('stored');
  expect(await accepts(1, otherKeyId)).toBe('over_budget');
});

test('a budget counts a task in the period of its creation, even if the task is settled later', async () => {
  const { accountId, open, limit, standing, accepts } = await anAccount();
  await limit('day', 100);
  await limit('total', 1_000);
  const id = aTaskId();
  const input = anOpening(accountId, id, 100);
  await storePending(database.db, { ...input, createdAtMs: Date.now() - 86_400_000 });
  expect(await standing()).toEqual([
    [0, 0],
    [0, 100],
  ]);
  await open(id, 100);
  expect(await standing()).toEqual([
    [0, 0],
    [0, 100],
  ]);
  await closeTask(database.db, aClosing(id, 100, 60));
  expect(await standing()).toEqual([
    [0, 0],
    [60, 0],
  ]);
  expect(await accepts(100)).toBe('stored');
});

/** Lists the budgets as if the clock of PostgreSQL showed `now`. */
async function standingAt(accountId: string, now: string) {
  const trx = await database.db.transaction();
  try {
    await trx.raw('create schema clock');
    await trx.raw(`create function clock.statement_timestamp() returns timestamptz immutable
                     language sql as $$ select '${now}'::timestamptz $$`);
    await trx.raw('set local search_path = clock, public, pg_catalog');
    const rows = await listBudgets(trx, accountId);
    return rows.map(({ heldMicros, beginsAnewAt }) => [heldMicros, beginsAnewAt?.toISOString()]);
  } finally {
    await trx.rollback();
  }
}

// The clocks of Havana go back at 05:00 UTC, those of the Azores at 01:00 UTC: from one o'clock to
// midnight. In March, Havana has no midnight.
test.each([
  ['America/Havana', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ['Atlantic/Azores', '2026-10-25T00:00:00.000Z', '2026-10-26T01:00:00.000Z'],
  ['America/Havana', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
])('a day of %s in which a midnight occurs twice or never begins at %s', async (zone, from, to) => {
  const { accountId, limit } = await anAccount();
  const at = (minutes: number) => new Date(Date.parse(from) + minutes * 60_000);
  await limit('day', 100);
  if (zone === 'America/Havana' && from.includes('-11-')) await limit('month', 100);
  await setTimeZone(database.db, accountId, zone);
  for (const [minutes, hold] of [
    [-10, 1],
    [10, 2],
    [70, 4],
  ] as const) {
    const input = anOpening(accountId, aTaskId(), hold);
    await storePending(database.db, { ...input, createdAtMs: at(minutes).getTime() });
  }
  const days = async (minutes: number) => standingAt(accountId, at(minutes).toISOString());
  expect((await days(-5))[0]).toEqual([1, from]);
  for (const minutes of [0, 20, 59, 60, 80, 600]) {
    const [day, month] = await days(minutes);
    expect([minutes, ...day!]).toEqual([minutes, 6, to]);
    if (month) expect(month).toEqual([6, '2026-12-01T05:00:00.000Z']);
  }
});

test('the days and months of a budget begin at midnight in the time zone of the account', async () => {
  const { accountId, limit } = await anAccount();
  await limit('day', 1);
  await limit('month', 1);
  await limit('total', 1);
  const { db } = database;
  expect(await setTimeZone(db, accountId, 'Mars/Olympus')).toBe(false);
  for (const zone of ['Asia/Kathmandu', 'America/New_York', 'UTC']) {
    expect(await setTimeZone(db, accountId, zone)).toBe(true);
    const [day, month, total] = await listBudgets(db, accountId);
    const there = (at: Date | null | undefined) =>
      new Intl.DateTimeFormat('en-GB', {
        timeZone: zone,
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        hourCycle: 'h23',
      })
        .formatToParts(at ?? undefined)
        .flatMap(({ type, value }) => (type === 'literal' ? [] : [Number(value)]));
    expect(there(day?.beginsAnewAt).slice(1)).toEqual([0, 0]);
    expect(day!.beginsAnewAt!.getTime() - Date.now()).toBeLessThanOrEqual(25 * 3_600_000);
    expect(day!.beginsAnewAt!.getTime()).toBeGreaterThan(Date.now() - 5_000);
    expect(there(month?.beginsAnewAt)).toEqual([1, 0, 0]);
    expect(total).toMatchObject({ timeZone: zone, beginsAnewAt: null });
  }
});

test('a create that waits for a budget is no older than the creates that were stored meanwhile', async () => {
  const { create, limit, accountId, keyId, otherKeyId } = await anAccount();
  const { db } = database;
  await limit('day', 100, keyId);
  const [id, meanwhile] = [aTaskId(), aTaskId()];
  const trx = await db.transaction();
  await lockPending(trx, accountId);
  const waiting = create(10, keyId, id);
  await until('the create waits', async () => (await statementsWaiting(db)) === 1);
  expect((await create(10, otherKeyId, meanwhile, trx)).outcome).toBe('stored');
  await trx.commit();
  expect((await waiting).outcome).toBe('stored');
  const stored = await db('tasks').where({ account_id: accountId }).orderBy('created_at');
  expect(stored.map((task) => task.id)).toEqual([meanwhile, id]);
  const secondsAfter = ({ created_at: created }: { created_at: Date }, at: Date) =>
    (at.getTime() - created.getTime()) / 1_000;
  const after = stored.map((task) => [
    secondsAfter(task, task.due_at),
    secondsAfter(task, task.deadline_at),
  ]);
  expect(after).toEqual([
    [0, expect.any(Number)],
    [0, after[0]?.[1]],
  ]);
});

test('a repeated create with the same task id finds the stored task, even if the budget is used up', async () => {
  const { create, limit } = await anAccount();
  await limit('total', 10);
  const id = aTaskId();
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => create(10, undefined, id)));
  expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1);
  expect(outcomes.filter(({ outcome }) => outcome === 'known')).toHaveLength(19);
});

test('the query of a budget uses indexes and reads only the movements of the period', async () => {
  const { accountId, limit, keyId } = await anAccount();
  await limit('day', 1);
  const trx = await database.db.transaction();
  try {
    await trx.raw(
      `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                              held_after, task_id, key_id, task_created_at)
       select 'old' || n, :accountId, n + 10, 'hold', 'available', 'held', 1, 0, 0, 'task' || n, :keyId,
              now() - n * interval '1 hour'
         from generate_series(1, 5000) n`,
      { accountId, keyId },
    );
    await trx.raw('analyze transfers');
    await trx.raw('set local enable_seqscan = off');
    const { sql, bindings } = listBudgetsQuery(trx, accountId, keyId).toSQL();
    const explained = await trx.raw<{ rows: { 'QUERY PLAN': string }[] }>(`explain ${sql}`, [
      ...bindings,
    ]);
    const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Only Scan using transfers_budgets/);
    expect(plan).toMatch(/Index Cond: .*task_created_at/);
    expect(plan).toMatch(/Scan using tasks_due/);
    expect(plan).not.toMatch(/Seq Scan/);
  } finally {
    await trx.rollback();
  }
});
