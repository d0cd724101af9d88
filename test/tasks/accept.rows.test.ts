// Concurrent creates on a real PostgreSQL, through two pools of connections, as two API processes
// have them. The pending sums of the accounts stay exact, whatever happens to the tasks.

import assert from 'node:assert/strict';
import type { Knex } from 'knex';
import { setAccountDisabled } from '../../src/accounts/accounts.rows';
import { setBudget } from '../../src/accounts/budgets.rows';
import { connect } from '../../src/database/database';
import { claimDeletions } from '../../src/files/retention.rows';
import { audit } from '../../src/money/audit.rows';
import { closeTask, creditAccount, openTask } from '../../src/money/ledger.rows';
import { acceptTask } from '../../src/tasks/accept.rows';
import { claimStarts, failPending } from '../../src/tasks/pending.rows';
import { endLink } from '../../src/tasks/remove-files.rows';
import {
  aClosing,
  aNewTask,
  anAccountWith,
  anOpening,
  openNew,
  openStored,
} from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, statementsWaiting, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
let pools: Knex[] = [];
beforeAll(async () => {
  database = await createTestDatabase(10);
  pools = [1, 2].map(() =>
    connect({ url: database.apiUrl, poolMax: 20, applicationName: 'accepting' }),
  );
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()));
  await database?.drop();
});
afterEach(async () => {
  expect((await audit(database.db)).differences).toEqual([]);
});

let accounts = 0;
function anAccount(available: number): Promise<string> {
  accounts += 1;
  return anAccountWith(database.db, `acct_${accounts}`, available);
}

const hold = 10;
const accept = (db: Knex, accountId: string, taskId = aTaskId(), queuedTasksMax = 1_000) =>
  acceptTask(db, aNewTask(accountId, taskId, hold), { queuedTasksMax });

/** Forty creates at once, half of them in each pool. Returns the number of each outcome. */
async function fortyCreates(accountId: string, idOf = aTaskId, queuedTasksMax = 1_000) {
  const created = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      accept(pools[n % 2] as Knex, accountId, idOf(), queuedTasksMax),
    ),
  );
  const counts: Record<string, number> = {};
  for (const { outcome } of created) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** The available amount, the pending sum and the number of pending tasks. */
async function sumsOf(accountId: string) {
  const [row] = await database.db('balances').where({ account_id: accountId });
  return [row.available, row.pending, row.pending_tasks];
}

describe('forty concurrent creates', () => {
  test('with money for seven store exactly seven tasks', async () => {
    const account = await anAccount(7 * hold + hold - 1);
    expect(await fortyCreates(account)).toEqual({ stored: 7, short: 33 });
    expect(await sumsOf(account)).toEqual([7 * hold + hold - 1, 7 * hold, 7]);
    expect(await database.db('tasks').where({ account_id: account })).toHaveLength(7);
  });

  test('with places for seven in the queue store exactly seven tasks', async () => {
    const account = await anAccount(1_000 * hold);
    expect(await fortyCreates(account, aTaskId, 7)).toEqual({ stored: 7, full: 33 });
    expect(await sumsOf(account)).toEqual([1_000 * hold, 7 * hold, 7]);
  });

  test('with room for seven in a budget store exactly seven tasks', async () => {
    const account = await anAccount(1_000 * hold);
    const budget = { accountId: account, keyId: null, limitMicros: 7 * hold };
    await setBudget(database.db, { ...budget, period: 'total' });
    expect(await fortyCreates(account)).toEqual({ stored: 7, over_budget: 33 });
    expect(await sumsOf(account)).toEqual([1_000 * hold, 7 * hold, 7]);
  });

  test('with one task id store one task, which is counted once', async () => {
    const account = await anAccount(1_000 * hold);
    const id = aTaskId();
    expect(await fortyCreates(account, () => id)).toEqual({ stored: 1, known: 39 });
    expect(await sumsOf(account)).toEqual([1_000 * hold, hold, 1]);
  });

  test('with money for seven store exactly seven tasks while other tasks are opened and closed', async () => {
    const account = await anAccount(10 * hold);
    const ids = [aTaskId(), aTaskId(), aTaskId()];
    for (const id of ids) await accept(database.db, account, id);
    const [created] = await Promise.all([
      fortyCreates(account),
      ...ids.map((id) => openStored(database.db, anOpening(account, id, hold))),
    ]);
    expect(created).toEqual({ stored: 7, short: 33 });
    expect(await sumsOf(account)).toEqual([7 * hold, 7 * hold, 7]);
    await Promise.all(ids.map((id) => closeTask(database.db, aClosing(id, hold, hold))));
    expect(await sumsOf(account)).toEqual([7 * hold, 7 * hold, 7]);
  });
});

test('a create that waits for another create is no older than the creates that were stored meanwhile', async () => {
  const account = await anAccount(100 * hold);
  const { db } = database;
  const [first, waiting] = [aTaskId(), aTaskId()];
  const trx = await db.transaction();
  let created: ReturnType<typeof accept> | undefined;
  let meanwhile = 0;
  try {
    expect((await accept(trx, account, first)).outcome).toBe('stored');
    created = accept(pools[0] as Knex, account, waiting);
    await until('the create waits', async () => (await statementsWaiting(db)) === 1);
    const { rows } = await db.raw<{ rows: { at: Date }[] }>('select clock_timestamp() as at');
    meanwhile = rows[0]?.at.getTime() ?? Number.POSITIVE_INFINITY;
  } finally {
    await trx.commit();
  }
  expect((await created).outcome).toBe('stored');
  const [task] = await db('tasks').where({ id: waiting });
  expect(task.created_at.getTime()).toBeGreaterThanOrEqual(meanwhile);
});

describe('the pending sums', () => {
  /** A stored task of a new account that has money for one task. */
  async function aStoredTask() {
    const account = await anAccount(hold);
    const id = aTaskId();
    expect((await accept(database.db, account, id)).outcome).toBe('stored');
    expect(await sumsOf(account)).toEqual([hold, hold, 1]);
    return { account, id, input: anOpening(account, id, hold) };
  }

  test('lose a task that is opened', async () => {
    const { account, input } = await aStoredTask();
    expect((await openStored(database.db, input)).outcome).toBe('opened');
    expect((await openStored(database.db, input)).outcome).toBe('exists');
    expect(await sumsOf(account)).toEqual([0, 0, 0]);
  });

  test('lose a task that fails, once', async () => {
    const { account, id } = await aStoredTask();
    const ends = [1, 2, 3].map(() => failPending(database.db, id, 'cancelled'));
    const ended = (await Promise.all(ends)).filter((end) => end !== null);
    expect(ended).toHaveLength(1);
    expect(await sumsOf(account)).toEqual([hold, 0, 0]);
  });

  test('lose a task that is cancelled while it is opened, once', async () => {
    const { account, id, input } = await aStoredTask();
    const [failed, opened] = await Promise.all([
      failPending(database.db, id, 'cancelled'),
      openStored(database.db, input),
    ]);
    expect(failed === null).toBe(opened.outcome === 'opened');
    expect((await sumsOf(account)).slice(1)).toEqual([0, 0]);
  });

  test('lose a task whose deadline has passed', async () => {
    const { account, id } = await aStoredTask();
    await database
      .db('tasks')
      .where({ id })
      .update({ deadline_at: new Date(0) });
    expect((await openTask(database.db, anOpening(account, id, hold))).outcome).toBe('exists');
    expect(await sumsOf(account)).toEqual([hold, 0, 0]);
  });

  test.each<[string, (account: string) => Promise<unknown>, number]>([
    [
      'correction',
      (accountId) =>
        creditAccount(database.db, {
          ...{ accountId, amountMicros: -1, reference: 'c', reason: 'test', kind: 'correction' },
        }),
      hold - 1,
    ],
    ['disabling', (accountId) => setAccountDisabled(database.db, accountId, true), hold],
  ])('lose a task that is refused after a %s', async (_, change, left) => {
    const { account, input } = await aStoredTask();
    await change(account);
    expect(await openStored(database.db, input)).toMatchObject({
      outcome: 'refused',
      object: { status: 'failed', error: { code: 'task_error' } },
    });
    expect(await sumsOf(account)).toEqual([left, 0, 0]);
  });

  test('keep a task that is claimed for its start', async () => {
    const { account, id } = await aStoredTask();
    const claimed = await claimStarts(database.db)(100);
    expect(claimed.map(({ taskId }) => taskId)).toContain(id);
    expect(await sumsOf(account)).toEqual([hold, hold, 1]);
  });
});

describe('an input file that has expired', () => {
  test.each([
    ['a result', true],
    ['an upload', false],
  ])(
    'is kept for a task that is accepted just before its link would end: %s',
    async (_, isResult) => {
      const { db } = database;
      const account = await anAccount(2 * hold);
      const taskId = aTaskId();
      await openNew(db, anOpening(account, taskId, hold));
      await closeTask(db, aClosing(taskId, hold, hold));
      const id = `file_${taskId}`;
      await db('files').insert({
        ...{ id, account_id: account, state: 'stored', key: id, link_token: id, media: 'video' },
        ...{ content_type: 'video/mp4', length: 5 },
        ...(isResult ? { task_id: taskId, role: 'video' } : { role: 'upload' }),
        expires_at: db.raw(`now() - interval '1 second'`),
      });
      const expired = (await claimDeletions(db, 100)).find((file) => file.id === id);
      assert(expired);
      const task = aNewTask(account, aTaskId(), hold);
      const plan = { ...task.plan, files: { input: id } };
      const accepted = await acceptTask(db, { ...task, plan }, { queuedTasksMax: 1_000 });
      expect(accepted).toMatchObject({ outcome: 'stored' });
      expect(await endLink(db, expired)).toBe(false);
      expect(await db('files').where({ id }).first('state')).toEqual({ state: 'stored' });
      await db('files')
        .where({ id })
        .update({ expires_at: new Date(0) });
      expect(await endLink(db, expired)).toBe(true);
    },
  );
});
