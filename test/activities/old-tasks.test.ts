// These tests delete old tasks with all their rows, and the ledger must keep its sums. The deletion
// connects with the database role of the service.

import type { Knex } from 'knex';
import { createDeleteOld } from '../../activities/reconcile/old-tasks';
import { setTerms } from '../../src/db/account-terms';
import { createKey } from '../../src/db/api-keys';
import { listBudgets, setBudget } from '../../src/db/budgets';
import { connect } from '../../src/db/database';
import { closeTask, creditAccount, openTask } from '../../src/db/ledger';
import { audit } from '../../src/db/ledger-audit';
import { auditNewMovements } from '../../src/db/ledger-audit-new';
import { closeTasks, listOldTasks } from '../../src/db/old-tasks';
import { failPending } from '../../src/db/pending-tasks';
import { statement } from '../../src/db/statement';
import { reasonOf } from '../../src/domain/transfers';
import { aClosing, anAccountWith, anOpening, openNew, storePending } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
let db: Knex;
let service: Knex;
beforeEach(async () => {
  database = await createTestDatabase(8);
  db = database.db;
  service = connect({ url: database.workerUrl, poolMax: 4, applicationName: 'retention' });
});
afterEach(async () => {
  try {
    expect((await audit(db)).differences).toEqual([]);
    expect(await auditNewMovements(db)).toEqual([]);
  } finally {
    await service?.destroy();
    await database?.drop();
  }
});

const dayMs = 86_400_000;
const kept = { tasksKeptDays: 40, filesKeptDays: 30 };
const deleteOld = () => createDeleteOld({ db: service, ...kept })();

interface Planted {
  readonly daysAgo?: number;
  readonly keyId?: string | null;
  /** Null if the task failed. */
  readonly charge?: number | null;
}

/** Stores an ended task that had a hold of 100, and returns its id. */
async function plant(
  accountId: string,
  { daysAgo = 50, keyId = null, charge = 40 }: Planted = {},
): Promise<string> {
  const id = aTaskId();
  const opening = anOpening(accountId, id, 100);
  const input = { ...opening.input, createdAtMs: Date.now() - daysAgo * dayMs };
  await storePending(db, input);
  await db('tasks').where({ id }).update({ key_id: keyId });
  await openTask(db, { ...opening, input });
  await closeTask(db, aClosing(id, 100, charge));
  await db('tasks')
    .where({ id })
    .update({ finished_at: db.raw('now() - make_interval(days => ?)', [daysAgo]) });
  return id;
}

async function addCallback(id: string, state: string): Promise<void> {
  const task = await db('tasks').where({ id }).first('account_id');
  await db('callbacks').insert({ task_id: id, url: 'https://example.com', state, ...task });
  await db('callback_attempts').insert({ task_id: id, delivery: 1, attempt: 1, at: db.fn.now() });
}

async function addResult(id: string, columns: object): Promise<void> {
  const task = await db('tasks').where({ id }).first('account_id');
  const names = { id: `file_${id}`, key: `results/${id}/video`, link_token: id };
  const file = { role: 'video', media: 'video', expires_at: db.fn.now(), ...columns };
  await db('files').insert({ task_id: id, ...task, ...names, ...file });
}

const taskIds = () => db('tasks').orderBy('id').pluck('id');
const removed = { state: 'removed', removed_because: 'expired' };

test('old tasks are deleted with all their rows, and younger and unfinished tasks stay', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const patient = await anAccountWith(db, 'acct_patient', 1_000_000);
  const forEver = await anAccountWith(db, 'acct_for_ever', 1_000_000);
  const showing = await anAccountWith(db, 'acct_showing', 1_000_000);
  await setTerms(db, patient, { tasksKeptDays: 60 });
  await setTerms(db, forEver, { tasksKeptDays: 0 });
  await setTerms(db, showing, { filesKeptDays: 90 });

  const old = await plant(accountId);
  await addCallback(old, 'delivered');
  await addResult(old, removed);
  await db('task_labels').insert({
    ...{ task_id: old, account_id: accountId, name: 'a', value: 'b' },
    created_at: db.fn.now(),
  });
  const unpaid = aTaskId();
  await storePending(db, anOpening(accountId, unpaid, 10 ** 9).input);
  expect(await failPending(db, unpaid, 'too little money')).not.toBeNull();
  await db('tasks')
    .where({ id: unpaid })
    .update({ start_at: null, finished_at: db.raw(`now() - interval '50 days'`) });
  await db('tasks')
    .where({ id: unpaid })
    .update({ created_at: db.raw('finished_at') });
  const leaving = [
    old,
    await plant(accountId, { charge: null }),
    await plant(patient, { daysAgo: 61 }),
  ];

  const staying = [await plant(accountId, { daysAgo: 39 }), await plant(patient)];
  staying.push(await plant(forEver, { daysAgo: 5_000 }), await plant(showing, { daysAgo: 80 }));
  const blocked = await Promise.all(Array.from({ length: 5 }, () => plant(accountId)));
  staying.push(...blocked);
  const [due = '', stored = '', awaited = '', open = '', cancelled = ''] = blocked;
  await addCallback(due, 'pending');
  const known = { content_type: 'video/mp4', length: 1 };
  await addResult(stored, { state: 'stored', ...known });
  await addResult(awaited, { state: 'awaited' });
  await db('jobs').where({ task_id: open }).update({ state: 'planned' });
  await db('jobs').where({ task_id: cancelled }).update({ cancel: 'wanted' });
  const opened = aTaskId();
  const opening = anOpening(accountId, opened, 100);
  const input = { ...opening.input, createdAtMs: Date.now() - 50 * dayMs };
  await storePending(db, input);
  await openTask(db, { ...opening, input });
  staying.push(opened);

  // Before the audit of their movements only the task without a movement may be deleted.
  expect(await deleteOld()).toBe(1);
  expect(await auditNewMovements(db)).toEqual([]);
  expect(await deleteOld()).toBe(leaving.length);
  expect(await taskIds()).toEqual(staying.sort());
  for (const table of ['jobs', 'callbacks', 'callback_attempts', 'files', 'task_labels']) {
    const left: string[] = await db(table).pluck('task_id');
    expect(left.filter((id) => !staying.includes(id))).toEqual([]);
  }
  expect(await deleteOld()).toBe(0);

  await db('callbacks').update({ state: 'delivered' });
  await db('jobs').update({ state: 'closed', cancel: null });
  await db('files').update(removed);
  expect(await deleteOld()).toBe(5);
});

test('paging through the old tasks reads each task exactly once, even if no task is deleted', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const others = await anAccountWith(db, 'acct_others', 1_000_000);
  const ids = [];
  for (const one of [accountId, others]) {
    for (const daysAgo of [70, 60, 50]) ids.push(await plant(one, { daysAgo }));
  }
  const seen: string[] = [];
  let [last] = await listOldTasks(service, null, kept, 1);
  for (; last; [last] = await listOldTasks(service, last, kept, 1)) seen.push(last.id);
  expect(seen).toEqual(ids);
});

test('the deletion of old tasks changes no balance, no revenue, no budget and no sum of a statement', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const key = async () => (await createKey(db, { accountId })).keyId;
  const [one, other] = [await key(), await key()];
  for (const keyId of [null, one]) {
    await setBudget(db, { accountId, keyId, period: 'total', limitMicros: 10 ** 6 });
  }
  const sums = async () => {
    const { rows: revenue } = await db.raw(
      `select credit, sum(amount)::int as amount from transfers where credit like 'revenue%'
        group by credit order by credit`,
    );
    const books = await db('balances').select('available', 'held', 'last_seq', 'open_tasks');
    const budgets = await listBudgets(db, accountId);
    return {
      revenue,
      books,
      budgets: budgets.map((it) => [it.keyId, it.spentMicros, it.heldMicros]),
    };
  };
  const round = async () => {
    await plant(accountId, { keyId: one, charge: 40, daysAgo: 100 });
    await plant(accountId, { keyId: other, charge: 130, daysAgo: 100 });
    await creditAccount(db, { accountId, amountMicros: 7, reference: aTaskId(), reason: 'a gift' });
    await plant(accountId, { keyId: one, charge: null, daysAgo: 50 });
    await plant(accountId, { keyId: one, charge: 100 });
    await plant(accountId, { keyId: one, charge: 11, daysAgo: 1 });
    await openNew(db, anOpening(accountId, aTaskId(), 100));
    expect(await auditNewMovements(db)).toEqual([]);
    const before = await sums();
    expect(await deleteOld()).toBe(4);
    expect(await sums()).toEqual(before);
    expect((await audit(db)).differences).toEqual([]);
    return before;
  };
  const first = await round();
  expect(first.budgets).toEqual([
    [null, 281, 100],
    [one, 151, 0],
  ]);
  const entries = () => db('transfers').where({ kind: 'closing' }).orderBy('seq');
  const closings = await entries();
  // There is one closing entry for each month and key.
  expect(closings.map(({ key_id }) => key_id)).toEqual([one, other, one]);
  expect(closings.map(({ amount }) => Number(amount))).toEqual([40, 130, 100]);
  expect(closings.map(({ closes }) => closes)).toEqual([3, 3, 4]);
  await round();
  const [entry] = await entries();
  // The movements of the second round were added to the same entries.
  expect((await entries()).length).toBe(3);
  expect(entry).toMatchObject({ key_id: one, closes: 6, amount: 80 });

  const rows = await statement(db, { accountId, limit: 100 });
  expect(rows.reduce((sum, { changeMicros }) => sum + changeMicros, 0)).toBe(
    Number((await db('balances').first('available')).available),
  );
  const shown = rows.find(({ seq }) => seq === Number(entry.seq));
  expect(shown && { ...shown, reason: reasonOf(shown) }).toMatchObject({
    kind: 'closing',
    changeMicros: -80,
    taskId: null,
    reason: 'charged for deleted tasks, 6 movements',
  });
});

test('an old task is not deleted if not all of its movements are found', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const id = await plant(accountId);
  expect(await auditNewMovements(db)).toEqual([]);
  await db('tasks')
    .where({ id })
    .update({ created_at: db.raw(`created_at - interval '1 day'`) });
  expect(await deleteOld()).toBe(0);
  expect(await taskIds()).toEqual([id]);
});

test.each([
  ['amount', 'amount = amount + 1', 'balances are the sums of their movements'],
  ['count of movements', 'closes = closes + 1', 'the numbers of an account have no gap'],
  ['sequence number', 'seq = 99', 'the numbers of an account have no gap'],
  ['balance', 'held_after = 1', 'the balances after a movement follow from those before it'],
  [
    'revenue account',
    `credit = 'held'`,
    'a movement takes from one account what it gives to another',
  ],
])('the audit finds a closing entry with a changed %s', async (_, change, rule) => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  await plant(accountId);
  await plant(accountId, { daysAgo: 1 });
  expect(await auditNewMovements(db)).toEqual([]);
  expect(await deleteOld()).toBe(1);
  const entry = await db('transfers').where({ kind: 'closing' }).first();
  await db.raw('alter table transfers disable trigger all');
  await db.raw('alter table transfers drop constraint transfers_kinds');
  await db.raw(`update transfers set ${change} where kind = 'closing'`);
  expect((await audit(db)).differences.map(({ check }) => check)).toContain(rule);
  await db('transfers').where({ kind: 'closing' }).update(entry);
});

test('no role may delete a movement directly', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const id = await plant(accountId, { daysAgo: 34 });
  expect(await auditNewMovements(db)).toEqual([]);
  expect(await closeTasks(service, [id])).toBe(0);
  await expect(
    service.raw(`set video.closing = 'on'; delete from transfers`),
  ).rejects.toMatchObject({ code: '42501' });
  await expect(db.raw('delete from transfers')).rejects.toThrow('never changed or removed');
  const operator = connect({ url: database.operatorUrl, poolMax: 1, applicationName: 'operator' });
  await expect(closeTasks(operator, [id])).rejects.toMatchObject({ code: '42501' });
  await operator.destroy();
});

test('the sums of the ledger stay right if old tasks are deleted during creates, settlements and killed sessions', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const { keyId } = await createKey(db, { accountId });
  await setBudget(db, { accountId, keyId, period: 'total', limitMicros: 10 ** 6 });
  const count = 150;
  for (let nth = 0; nth < count; nth += 1)
    await plant(accountId, { keyId, charge: nth % 3 ? 40 : null });
  expect(await auditNewMovements(db)).toEqual([]);
  const spentOf = async () => (await listBudgets(db, accountId)).map((it) => it.spentMicros);
  const spent = await spentOf();

  let isDone = false;
  let made = 0;
  const create = async () => {
    while (!isDone) {
      const id = aTaskId();
      await openNew(db, anOpening(accountId, id, 100));
      await closeTask(db, aClosing(id, 100, 30));
      made += 1;
    }
  };
  const auditAgain = async () => {
    while (!isDone) {
      expect((await audit(db)).differences).toEqual([]);
      expect(await auditNewMovements(db)).toEqual([]);
      expect(await spentOf()).toEqual(spent);
    }
  };
  let interrupted = 0;
  const killActive = () =>
    db.raw(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'retention'
          and query like 'select close_tasks%' and state = 'active'`,
    );
  const kill = async (lock: Knex.Transaction) => {
    // Until the lock is released, a call that deletes the locked movement cannot end.
    await until('a call was interrupted', async () => {
      await killActive();
      return interrupted > 0;
    });
    await lock.commit();
    while (!isDone && interrupted < 10) {
      await killActive();
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  };
  const leave = async () => {
    while ((await db('tasks').where({ key_id: keyId }).first('id')) !== undefined) {
      const batch = await listOldTasks(service, null, kept, 7).catch(() => []);
      await closeTasks(
        service,
        batch.map(({ id }) => id),
      ).catch(() => {
        interrupted += 1;
      });
    }
    isDone = true;
  };
  const lock = await db.transaction();
  await lock('transfers').where({ key_id: keyId }).forUpdate().first('id');
  await Promise.all([create(), auditAgain(), kill(lock), leave(), leave()]);
  expect(made).toBeGreaterThan(0);
  expect(await db('tasks').count('* as n').first()).toEqual({ n: made });
  const [closing] = await db('transfers').where({ kind: 'closing' });
  expect(closing).toMatchObject({ amount: 100 * 40, closes: count * 2 + 100 });
  expect(await spentOf()).toEqual(spent);
});
