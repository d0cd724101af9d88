// Tests pending tasks in a real PostgreSQL. The tests show which creates may be stored. They also
// show in which order tasks are claimed for their start.

import { acceptTask } from '../../src/tasks/accept.rows';
import { claimStarts, failPending, startLater } from '../../src/tasks/pending.rows';
import { aNewTask, anAccountWith, anOpening, storePending } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(10);
});
afterAll(() => database?.drop());

let accounts = 0;
function anAccount(available: number): Promise<string> {
  accounts += 1;
  return anAccountWith(database.db, `acct_${accounts}`, available);
}

const accepting = { queuedTasksMax: 5 };
const accept = (accountId: string, hold: number, taskId = aTaskId()) =>
  acceptTask(database.db, aNewTask(accountId, taskId, hold), accepting);

describe('acceptTask', () => {
  test('counts the holds of pending tasks, and moves no money', async () => {
    const account = await anAccount(100);
    expect((await accept(account, 60)).outcome).toBe('stored');
    expect(await accept(account, 41)).toMatchObject({
      outcome: 'short',
      availableMicros: 100,
      pendingMicros: 60,
    });
    expect((await accept(account, 40)).outcome).toBe('stored');
  });

  test('stores no further task if the account has reached its limit of unfinished tasks', async () => {
    const account = await anAccount(100);
    for (let n = 0; n < 5; n += 1) expect((await accept(account, 1)).outcome).toBe('stored');
    expect(await accept(account, 1)).toMatchObject({ outcome: 'full', unfinished: 5 });
  });

  test('returns the stored task if the same id is sent again, also in twenty concurrent calls', async () => {
    const account = await anAccount(100);
    const id = aTaskId();
    const calls = Array.from({ length: 20 }, () => accept(account, 10, id));
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'known')).toHaveLength(19);
    expect(await accept(account, 1_000, id)).toMatchObject({ outcome: 'known', task: { id } });
  });

  test('refuses a task in another currency, and a task of an account that has no row of balances', async () => {
    const account = await anAccount(100);
    const task = aNewTask(account, aTaskId(), 1);
    const plan = { ...task.plan, price: { ...task.plan.price, currency: 'EUR' } };
    const foreign = await acceptTask(database.db, { ...task, plan }, accepting);
    expect(foreign).toMatchObject({ outcome: 'short', currency: 'CNY' });
    await database.db.raw(`insert into accounts (id, name) values ('no_books', 'x')`);
    expect((await accept('no_books', 1)).outcome).toBe('short');
  });
});

describe('claimStarts', () => {
  /** Stores pending tasks that may be claimed at once. The first of them is the oldest. */
  async function queue(account: string, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => aTaskId());
    for (const [n, id] of ids.entries()) {
      const input = anOpening(account, id, 1);
      const createdAtMs = Date.now() - 60_000 + n;
      await storePending(database.db, { ...input, createdAtMs }, { isDue: true });
    }
    return ids;
  }
  type Claim = (limit: number) => Promise<string[]>;
  function aCaller(): Claim {
    const claimed = claimStarts(database.db);
    return async (limit) => (await claimed(limit)).map(({ taskId }) => taskId);
  }
  let claim: Claim;
  beforeEach(async () => {
    await database.db.raw('delete from tasks; update balances set pending = 0, pending_tasks = 0');
    claim = aCaller();
  });

  test('gives each pending task to exactly one of several concurrent callers', async () => {
    const ids = await queue(await anAccount(0), 500);
    const claims = await Promise.all(
      [0, 1, 2].map(async () => {
        const mine: string[] = [];
        const own = aCaller();
        for (let next = await own(7); next.length > 0; next = await own(7)) mine.push(...next);
        return mine;
      }),
    );
    expect(claims.flat().sort()).toEqual([...ids].sort());
  });

  test('claims tasks of different accounts alternately, and within an account the oldest task first', async () => {
    const burst = await queue(await anAccount(0), 20);
    const quiet = await queue(await anAccount(0), 2);
    expect((await claim(4)).sort()).toEqual([...burst.slice(0, 2), ...quiet].sort());
    expect((await claim(3)).sort()).toEqual(burst.slice(2, 5).sort());
  });

  test('claims tasks of the accounts one after the other', async () => {
    const ids = new Map<string, string>();
    for (let n = 0; n < 5; n += 1) {
      const account = await anAccount(0);
      for (const id of await queue(account, 60)) ids.set(id, account);
    }
    const order: (string | undefined)[] = [];
    for (let n = 0; n < 25; n += 1) order.push(...(await claim(2)).map((id) => ids.get(id)));
    for (let from = 0; from < 50; from += 5) {
      expect(new Set(order.slice(from, from + 5)).size).toBe(5);
    }
  });

  test('claims the task of a quiet account within two claims, even if another account has 1,000 tasks', async () => {
    const busy = await anAccount(0);
    await queue(busy, 1_000);
    const one = async () => (await claim(1))[0];
    for (let n = 0; n < 20; n += 1) await one();
    const [quiet] = await queue(await anAccount(0), 1);
    expect([await one(), await one()]).toContain(quiet);
    for (let n = 0; n < 20; n += 1) await one();
    const [again] = await queue(await anAccount(0), 1);
    expect([await one(), await one()]).toContain(again);
  });

  test('skips tasks that are leased or no longer pending', async () => {
    const [first = '', second = ''] = await queue(await anAccount(0), 2);
    expect(await claim(1)).toEqual([first]);
    expect(await failPending(database.db, second, 'no')).not.toBeNull();
    expect(await claim(9)).toEqual([]);
  });

  /** A pending task of this age that has just been claimed. */
  async function claimed(ageSeconds: number): Promise<string> {
    const input = anOpening(await anAccount(0), aTaskId(), 1);
    const createdAtMs = Date.now() - ageSeconds * 1_000;
    await storePending(database.db, { ...input, createdAtMs }, { isDue: true });
    expect(await claim(1)).toEqual([input.taskId]);
    return input.taskId;
  }

  async function due(taskId: string) {
    const { rows } = await database.db.raw<{ rows: { at: string; seconds: number }[] }>(
      `select due_at::text as at, extract(epoch from due_at - now())::float8 as seconds
         from tasks where id = ?`,
      [taskId],
    );
    return { at: rows[0]?.at, seconds: rows[0]?.seconds ?? -1 };
  }

  test('leases a task for a short time, and as long as it is old only once Temporal has answered', async () => {
    const taskId = await claimed(1_000);
    const leased = (await due(taskId)).seconds;
    expect([leased > 0, leased <= 35]).toEqual([true, true]);
    await startLater(database.db, taskId);
    const later = (await due(taskId)).seconds;
    expect([later > 900, later < 1_100]).toEqual([true, true]);
  });

  test('keeps the lease of a young task whose start Temporal has answered', async () => {
    const taskId = await claimed(0);
    const leased = (await due(taskId)).at;
    await startLater(database.db, taskId);
    expect((await due(taskId)).at).toBe(leased);
  });
});
