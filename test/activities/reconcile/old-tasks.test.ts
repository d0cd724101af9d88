// These tests reduce old tasks to slim rows, and the ledger must not change. The work connects with
// the database role of the service.

import type { Knex } from 'knex';
import { createForgetOld } from '../../../activities/reconcile/old-tasks';
import { setAccountDisabled } from '../../../src/accounts/accounts.rows';
import { listBudgets, setBudget } from '../../../src/accounts/budgets.rows';
import { createKey } from '../../../src/accounts/keys.rows';
import { setTerms } from '../../../src/accounts/terms.rows';
import { connect } from '../../../src/database/database';
import { audit, auditNewMovements } from '../../../src/money/audit.rows';
import { closeTask, creditAccount, openTask } from '../../../src/money/ledger.rows';
import {
  beginErasure,
  finishErasure,
  listErasable,
  markResultsRemoved,
} from '../../../src/tasks/erase-account.rows';
import { forgetTasks } from '../../../src/tasks/forget.rows';
import { listOldTasks } from '../../../src/tasks/old-tasks.rows';
import { failPending } from '../../../src/tasks/pending.rows';
import { stopping } from '../../support/activity-settings';
import { aClosing, anAccountWith, anOpening, openNew, storePending } from '../../support/books';
import { aTaskId } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { until } from '../../support/until';

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
const forgetOld = () => createForgetOld({ db: service, stopping }, kept)();

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
  const createdAtMs = Date.now() - daysAgo * dayMs;
  const input = { ...anOpening(accountId, id, 100), createdAtMs };
  await storePending(db, input);
  await db('tasks').where({ id }).update({ key_id: keyId });
  await openTask(db, input);
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

const keptIds = () => db('tasks').whereNot({ request_hash: '' }).orderBy('id').pluck('id');
const removed = { state: 'removed', removed_because: 'expired', removed_at: new Date() };

test('old tasks become slim rows without other rows, and younger and unfinished tasks stay', async () => {
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
  await storePending(db, anOpening(accountId, unpaid, 10 ** 9));
  expect(await failPending(db, unpaid, 'too little money')).not.toBeNull();
  await db('tasks')
    .where({ id: unpaid })
    .update({ finished_at: db.raw(`now() - interval '50 days'`) });
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
  const blocked = await Promise.all(Array.from({ length: 6 }, () => plant(accountId)));
  staying.push(...blocked);
  const [due = '', stored = '', awaited = '', open = '', cancelled = '', unlinked = ''] = blocked;
  await addCallback(due, 'pending');
  const known = { content_type: 'video/mp4', length: 1 };
  await addResult(stored, { state: 'stored', ...known });
  await addResult(awaited, { state: 'awaited' });
  // The link has ended, but the bytes are not deleted yet.
  await addResult(unlinked, { ...removed, removed_at: null });
  await db('jobs').where({ task_id: open }).update({ state: 'planned' });
  await db('jobs').where({ task_id: cancelled }).update({ owes: 'cancel', due_at: new Date() });
  const opened = aTaskId();
  const createdAtMs = Date.now() - 50 * dayMs;
  const input = { ...anOpening(accountId, opened, 100), createdAtMs };
  await storePending(db, input);
  await openTask(db, input);
  staying.push(opened);

  leaving.push(unpaid);
  const rowOf = (id: string) => db('tasks').where({ id }).first();
  const before = await rowOf(old);
  expect(await forgetOld()).toBe(leaving.length);
  expect(await keptIds()).toEqual(staying.sort());
  for (const table of ['jobs', 'callbacks', 'callback_attempts', 'files', 'task_labels']) {
    const left: string[] = await db(table).pluck('task_id');
    expect(left.filter((id) => !staying.includes(id))).toEqual([]);
  }
  const after = await rowOf(old);
  const gone = ['object', 'plan', 'request', 'request_hash'];
  expect(after).toMatchObject(
    Object.fromEntries(Object.entries(before).filter(([name]) => !gone.includes(name))),
  );
  const { id, status, model, billing, created_at, finished_at } = before.object;
  expect(after.object).toEqual({
    ...{ id, task_id: id, status, model, billing, created_at, finished_at },
    ...{ object: before.object.object, trace_id: before.object.trace_id, data: expect.any(Array) },
    message: 'The content of this task was erased.',
    ...(before.object.usage ? { usage: before.object.usage } : {}),
    ...(before.object.duration ? { duration: before.object.duration } : {}),
    ...(before.object.timings ? { timings: before.object.timings } : {}),
  });
  expect([after.request, after.plan]).toEqual([{}, {}]);
  expect(await forgetOld()).toBe(0);

  await db('callbacks').update({ state: 'delivered' });
  await db('jobs').update({ state: 'closed', owes: null, due_at: null });
  await db('files').update(removed);
  expect(await forgetOld()).toBe(6);
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

test('forgetting old tasks changes no movement, no balance and no budget', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const { keyId } = await createKey(db, { accountId });
  await setBudget(db, { accountId, keyId, period: 'total', limitMicros: 10 ** 6 });
  const books = async () => ({
    movements: await db('transfers').orderBy('seq'),
    balances: await db('balances'),
    budgets: await listBudgets(db, accountId),
  });
  await plant(accountId, { keyId, charge: 40, daysAgo: 100 });
  await plant(accountId, { keyId, charge: 130, daysAgo: 100 });
  await creditAccount(db, { accountId, amountMicros: 7, reference: 'gift', reason: 'a gift' });
  await plant(accountId, { keyId, charge: null });
  await plant(accountId, { keyId, charge: 11, daysAgo: 1 });
  await openNew(db, anOpening(accountId, aTaskId(), 100));
  const before = await books();
  expect(await forgetOld()).toBe(3);
  expect(await books()).toEqual(before);
});

/** Erases what the account has, as the command does, but for bytes in the storage. */
async function erase(accountId: string): Promise<void> {
  expect(await db.transaction((trx) => beginErasure(trx, accountId))).toBeNull();
  const erasable = await listErasable(db, { accountId, after: null, limit: 99 });
  await markResultsRemoved(db, erasable);
  await forgetTasks(db, erasable);
  expect(await db.transaction((trx) => finishErasure(trx, accountId))).toBe(true);
}

const later = (days: number) =>
  db.raw(
    `update tasks set finished_at = finished_at - make_interval(days => :days),
            created_at = created_at - make_interval(days => :days)`,
    { days },
  );

/** How many rows these tasks have in other tables, and the plans that they still have. */
async function restOf(ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const rest: Record<string, number> = {};
  for (const table of ['jobs', 'callbacks', 'callback_attempts', 'files', 'task_labels']) {
    rest[table] = (await db(table).whereIn('task_id', ids)).length;
  }
  rest.plans = (await db('tasks').whereIn('id', ids).whereRaw(`plan::text <> '{}'`)).length;
  return rest;
}

const nothing = { jobs: 0, callbacks: 0, callback_attempts: 0, files: 0, task_labels: 0, plans: 0 };

test('what an erasure leaves of young tasks goes 35 days after their end, though others are kept for ever', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  await setTerms(db, accountId, { tasksKeptDays: 0 });
  const ids = [await plant(accountId, { daysAgo: 30 }), await plant(accountId, { daysAgo: 1 })];
  await addCallback(ids[0] ?? '', 'delivered');
  await addCallback(ids[1] ?? '', 'exhausted');
  await addResult(ids[0] ?? '', { state: 'stored', content_type: 'video/mp4', length: 1 });
  const movements = await db('transfers').orderBy('seq');
  await erase(accountId);
  // The reconciler and a search for a lost job may still read these.
  expect(await restOf(ids)).toEqual({ ...nothing, jobs: 2, callbacks: 2, plans: 2 });
  expect(await forgetOld()).toBe(0);
  await later(6);
  expect(await forgetOld()).toBe(1);
  expect(await restOf(ids)).toEqual({ ...nothing, jobs: 1, callbacks: 1, plans: 1 });
  await later(29);
  expect(await forgetOld()).toBe(1);
  expect(await restOf(ids)).toEqual(nothing);
  expect(await forgetOld()).toBe(0);
  expect(await keptIds()).toEqual([]);
  expect(await db('transfers').orderBy('seq')).toEqual(movements);
});

test('what an erased task owes is done first, also if it ended long ago', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const [due, cancelled] = [await plant(accountId), await plant(accountId)];
  await addCallback(due, 'pending');
  const owed = { owes: 'cancel', due_at: new Date() };
  await db('jobs').where({ task_id: cancelled }).update(owed);
  await erase(accountId);
  expect(await restOf([due])).toMatchObject({ callbacks: 1 });
  expect(await restOf([cancelled])).toEqual({ ...nothing, jobs: 1, plans: 1 });
  expect(await forgetOld()).toBe(1);
  expect(await restOf([due])).toEqual(nothing);
  await db('jobs').where({ task_id: cancelled }).update({ owes: null, due_at: null });
  expect(await forgetOld()).toBe(1);
  expect(await restOf([cancelled])).toEqual(nothing);
});

test('an erased account that is enabled again keeps the rest of its tasks as long as others', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const ids = [await plant(accountId, { daysAgo: 30 })];
  await erase(accountId);
  await setAccountDisabled(db, accountId, false);
  await later(6);
  expect(await forgetOld()).toBe(0);
  await later(5);
  expect(await forgetOld()).toBe(1);
  expect(await restOf(ids)).toEqual(nothing);
});

test('an open task is never forgotten', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const id = aTaskId();
  const opening = anOpening(accountId, id, 100);
  await openNew(db, opening);
  const { object } = aClosing(id, 100, null);
  expect(await forgetTasks(service, [{ id, object }])).toBe(0);
  expect(await keptIds()).toEqual([id]);
});

test('no role may delete a movement', async () => {
  await plant(await anAccountWith(db, 'acct', 1_000_000));
  const operator = connect({ url: database.operatorUrl, poolMax: 1, applicationName: 'operator' });
  for (const role of [service, operator]) {
    await expect(role.raw('delete from transfers')).rejects.toMatchObject({ code: '42501' });
  }
  await expect(db.raw('delete from transfers')).rejects.toThrow('never changed or removed');
  await operator.destroy();
});

test('every old task is forgotten during creates, settlements, audits and killed sessions', async () => {
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const { keyId } = await createKey(db, { accountId });
  const count = 150;
  for (let nth = 0; nth < count; nth += 1)
    await plant(accountId, { keyId, charge: nth % 3 ? 40 : null });
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
    }
  };
  let interrupted = 0;
  const kill = async (lock: Knex.Transaction) => {
    // Until the lock is released, a call that forgets the locked task cannot end.
    await until('a call was interrupted', async () => {
      await db.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'retention'
            and query like 'with forgotten%' and state = 'active'`,
      );
      // Without this statement the server would end the idle transaction after ten seconds.
      await lock.raw('select 1');
      return interrupted > 2;
    });
    await lock.commit();
  };
  const leave = async () => {
    for (;;) {
      const batch = await listOldTasks(service, null, kept, 7).catch(() => null);
      if (batch?.length === 0) break;
      await forgetTasks(service, batch ?? []).catch(() => {
        interrupted += 1;
      });
    }
    isDone = true;
  };
  const lock = await db.transaction();
  await lock('tasks').where({ key_id: keyId }).forUpdate().first('id');
  await Promise.all([create(), auditAgain(), kill(lock), leave(), leave()]);
  expect(made).toBeGreaterThan(0);
  expect(await keptIds()).toHaveLength(made);
  expect(await db('tasks').count('* as n').first()).toEqual({ n: made + count });
});
