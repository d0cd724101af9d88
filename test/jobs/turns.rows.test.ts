// Tests in a real PostgreSQL how accounts share the slots of a channel by turns. Also tests the
// limit of running tasks of an account.

import type { JobName } from '../../src/jobs/job.rules';
import { beginPlacing } from '../../src/jobs/owed.rows';
import { giveTurns, takeSlot as takeSlotNow } from '../../src/jobs/slots.rows';
import { waitForTurn } from '../../src/jobs/steps.rows';
import { drawnOrder } from '../../src/planning/channel-order.rules';
import { anAccountWith } from '../support/books';
import { aJobInput } from '../support/builders';
import { createTestDatabase, rowsRead, type TestDatabase } from '../support/database';
import { insertTaskRow, planJob } from '../support/upstream';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(10);
});
afterAll(() => database?.drop());

let made = 0;
const aChannel = () => `channel-${++made}`;
const to = (channel: string) => ({ channel, upstreamModel: 'm' });
/** Takes a slot like an attempt that has just begun. */
const takeSlot: typeof takeSlotNow = async (db, job, ...more) => {
  await beginPlacing(db, job);
  return takeSlotNow(db, job, ...more);
};

async function anAccount(terms: { running_max?: number } = {}) {
  const id = await anAccountWith(database.db, `acct_${++made}`, 0);
  if (Object.keys(terms).length > 0) await database.db('accounts').where({ id }).update(terms);
  return id;
}

async function aJob(accountId: string) {
  const job = aJobInput({ accountId });
  await insertTaskRow(database.db, job.taskId);
  await planJob(database.db, job);
  return job;
}

/** Adds waiting jobs of one account. The first of them has waited longest. */
async function wait(accountId: string, count: number, channels: readonly string[]) {
  const jobs = [];
  for (let n = 0; n < count; n += 1) {
    const job = await aJob(accountId);
    expect(await waitForTurn(database.db, job, channels)).toBe(true);
    jobs.push(job);
  }
  return jobs;
}

/** Adds waiting jobs of one account to the queue of a channel, in one statement. */
async function waitMany(accountId: string, count: number, channel: string) {
  await database.db.raw(
    `with made as (
       insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, hold_micros,
                          deadline_at)
       select :accountId || '-' || n, :accountId, 'm', '{}', '{}', 'h', 't', 0,
              now() + interval '1 day'
         from generate_series(1, cast(:count as int)) n
       returning id, account_id
     )
     insert into jobs (task_id, kind, account_id, state, channels, waiting_since)
     select id, 'generation', account_id, 'waiting', array[:channel], now() from made`,
    { accountId, count, channel },
  );
}

const end = (taskIds: readonly string[]) =>
  database.db('jobs').whereIn('task_id', taskIds).update({ state: 'closed' });

/** Frees one slot at a time. Returns the accounts that got the slot, in order. */
async function starts(channel: string, count: number): Promise<string[]> {
  const accounts: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const given = await giveTurns(database.db, channel, 1);
    expect(given).toHaveLength(1);
    const ids = given.map(({ taskId }) => taskId);
    accounts.push(await database.db('jobs').whereIn('task_id', ids).first().then(accountOf));
    await end(ids);
  }
  return accounts;
}
const accountOf = (row: { account_id: string }) => row.account_id;
const countOf = (accounts: readonly string[], id: string) =>
  accounts.filter((one) => one === id).length;

describe('turns of accounts', () => {
  test('accounts get the slots of a channel one after the other', async () => {
    const channel = aChannel();
    const accounts = [await anAccount(), await anAccount(), await anAccount()];
    for (const account of accounts) await wait(account, 60, [channel]);
    const order = await starts(channel, 60);
    for (let from = 0; from < 60; from += 3) {
      expect(new Set(order.slice(from, from + 3)).size).toBe(3);
    }
  });

  test('if several slots are free at the same time, accounts also share them equally', async () => {
    const channel = aChannel();
    const accounts = [await anAccount(), await anAccount()];
    for (const account of accounts) await wait(account, 60, [channel]);
    const got: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const ids = (await giveTurns(database.db, channel, 3)).map(({ taskId }) => taskId);
      got.push(...(await database.db('jobs').whereIn('task_id', ids)).map(accountOf));
      await end(ids);
    }
    expect(accounts.map((account) => countOf(got, account))).toEqual([9, 9]);
  });

  test('two channels that give turns at the same time give them to different jobs, and neither waits', async () => {
    const channels = [aChannel(), aChannel()] as const;
    const jobs = [];
    for (const account of [await anAccount(), await anAccount()]) {
      jobs.push(...(await wait(account, 2, channels)));
    }
    const given = await database.db.transaction(async (first) => [
      await giveTurns(first, channels[0], 2),
      await giveTurns(database.db, channels[1], 4),
    ]);
    expect(given.map(({ length }) => length)).toEqual([2, 2]);
    const names = given.flat().map(({ taskId }) => taskId);
    expect(new Set(names)).toEqual(new Set(jobs.map(({ taskId }) => taskId)));
  });

  test('an account whose jobs leave the channel at once still waits for the turns of others', async () => {
    const channel = aChannel();
    const [refused, other] = [await anAccount(), await anAccount()];
    await wait(refused, 10, [channel]);
    await wait(other, 10, [channel]);
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const [{ taskId } = aJobInput()] = await giveTurns(database.db, channel, 1);
      order.push(await database.db('jobs').where({ task_id: taskId }).first().then(accountOf));
      await database
        .db('jobs')
        .where({ task_id: taskId })
        .update({ state: 'closed', channel: null });
    }
    expect(countOf(order, other)).toBe(3);
  });

  test('a task of a quiet account gets one of the next two slots, even if another account has 1,000 tasks', async () => {
    const channel = aChannel();
    const [busy, quiet] = [await anAccount(), await anAccount()];
    await waitMany(busy, 1_000, channel);
    await starts(channel, 20);
    await wait(quiet, 1, [channel]);
    expect(await starts(channel, 2)).toContain(quiet);
    await starts(channel, 20);
    await wait(quiet, 1, [channel]);
    expect(await starts(channel, 2)).toContain(quiet);
  });

  test('within an account the oldest job is first, whichever other channels a job waits for', async () => {
    const [channel, other] = [aChannel(), aChannel()];
    const account = await anAccount();
    const many = Array.from({ length: 300 }, (_, n) => `channel-with-a-long-name-${made}-${n}`);
    const lists = [[channel], [channel, other], [channel, ...many], [other, channel], [channel]];
    const jobs = [];
    for (const channels of lists) jobs.push(...(await wait(account, 1, channels)));
    const turns = [];
    for (let n = 0; n < lists.length; n += 1) {
      const [given] = await giveTurns(database.db, channel, 1);
      turns.push(given?.taskId);
      await end([given?.taskId ?? '']);
    }
    expect(turns).toEqual(jobs.map(({ taskId }) => taskId));
  });

  describe('a turn', () => {
    /** Adds a waiting job and gives it a turn. Returns how many rows of jobs the turn read. */
    async function readByTurn(account: string, channel: string): Promise<number> {
      await wait(account, 1, [channel]);
      return database.db.transaction(async (trx) => {
        let given: readonly JobName[] = [];
        const read = await rowsRead(trx, ['jobs'], async () => {
          given = await giveTurns(trx, channel, 1);
        });
        await trx('jobs').where({ task_id: given[0]?.taskId }).update({ state: 'closed' });
        return read;
      });
    }

    test('reads no job that waits for another channel', async () => {
      const [channel, other] = [aChannel(), aChannel()];
      const account = await anAccount();
      const alone = await readByTurn(account, channel);
      expect(alone).toBeGreaterThan(0);
      await waitMany(account, 3_000, other);
      expect(await readByTurn(account, channel)).toBeLessThan(alone + 50);
    });

    test('reads no more jobs of a queue than the channel has slots', async () => {
      const channel = aChannel();
      const account = await anAccount();
      const alone = await readByTurn(account, channel);
      await waitMany(account, 3_000, channel);
      expect(await readByTurn(account, channel)).toBeLessThan(alone + 50);
    });

    test('reads few jobs even if each task has drawn its own order of the keys', async () => {
      const [channel, name] = [aChannel(), aChannel()];
      const account = await anAccount();
      const alone = await readByTurn(account, channel);
      const keys = Array.from({ length: 8 }, (_, n) => ({
        channel: `${name}:${n + 1}`,
        upstreamModel: 'm',
      }));
      for (let seed = 0; seed < 1_000; seed += 1) {
        const channels = drawnOrder(keys, seed).map((key) => key.channel);
        await wait(account, 1, channels);
      }
      expect(await readByTurn(account, channel)).toBeLessThan(alone + 50);
    });
  });

  test('an account without waiting tasks does not collect turns for later', async () => {
    const channel = aChannel();
    const [busy, back] = [await anAccount(), await anAccount()];
    await wait(back, 1, [channel]);
    await starts(channel, 1);
    await wait(busy, 40, [channel]);
    await starts(channel, 20);
    await wait(back, 20, [channel]);
    expect(countOf(await starts(channel, 10), busy)).toBe(5);
  });
});

describe('the limit of running tasks of an account', () => {
  test('counts the tasks on all channels, and concurrent starts do not exceed it', async () => {
    const account = await anAccount({ running_max: 3 });
    const channels = [aChannel(), aChannel()];
    const jobs = [];
    for (let n = 0; n < 20; n += 1) jobs.push(await aJob(account));
    // One channel has ten slots, the other has no limit.
    const slots = await Promise.all(
      jobs.map((job, n) =>
        takeSlot(database.db, job, to(channels[n % 2] ?? ''), n % 2 ? null : 10, 'first'),
      ),
    );
    expect(slots.filter(({ outcome }) => outcome === 'taken')).toHaveLength(3);
    expect(slots.filter(({ outcome }) => outcome === 'full')).toHaveLength(17);
  });

  test.each([null, 10])(
    'is not exceeded by the turns that are given on a channel with %p slots (null: no slot limit)',
    async (slots) => {
      const account = await anAccount({ running_max: 2 });
      const [channel, other] = [aChannel(), aChannel()];
      const running = await aJob(account);
      expect((await takeSlot(database.db, running, to(other), null, 'first')).outcome).toBe(
        'taken',
      );
      const [first, second] = await wait(account, 5, [channel, other]);
      expect(await giveTurns(database.db, channel, slots)).toMatchObject([
        { taskId: first?.taskId },
      ]);
      // A turn counts as a running task until it is used or expires.
      expect(await giveTurns(database.db, other, slots)).toEqual([]);
      expect(
        (await takeSlot(database.db, first ?? running, to(channel), slots, 'first')).outcome,
      ).toBe('taken');
      await end([running.taskId]);
      expect(await giveTurns(database.db, other, slots)).toMatchObject([
        { taskId: second?.taskId },
      ]);
    },
  );

  test('is not exceeded if several watchers give turns to jobs at the same time', async () => {
    const accounts = [await anAccount({ running_max: 4 }), await anAccount({ running_max: 4 })];
    const channels = [aChannel(), aChannel(), aChannel()];
    for (const account of accounts) await wait(account, 20, channels);
    const given = await Promise.all(channels.map((one) => giveTurns(database.db, one, null)));
    expect(given.flat()).toHaveLength(8);
  });

  test('does not block other accounts, and a waiting task of a full account takes no slot', async () => {
    const [full, other] = [await anAccount({ running_max: 1 }), await anAccount()];
    const channel = aChannel();
    expect((await takeSlot(database.db, await aJob(full), to(channel), 3, 'first')).outcome).toBe(
      'taken',
    );
    await wait(full, 10, [channel]);
    expect((await takeSlot(database.db, await aJob(other), to(channel), 3, 'first')).outcome).toBe(
      'taken',
    );
    expect((await takeSlot(database.db, await aJob(full), to(channel), 3, 'first')).outcome).toBe(
      'full',
    );
    const [waiting] = await wait(other, 1, [channel]);
    expect(await giveTurns(database.db, channel, 3)).toMatchObject([{ taskId: waiting?.taskId }]);
  });

  test('keeps the tasks of an account in order on a channel without a slot limit', async () => {
    const account = await anAccount({ running_max: 2 });
    const channel = aChannel();
    const [first] = await wait(account, 1, [channel]);
    const later = await aJob(account);
    expect((await takeSlot(database.db, later, to(channel), null, 'first')).outcome).toBe('full');
    await giveTurns(database.db, channel, null);
    expect((await takeSlot(database.db, first ?? later, to(channel), null, 'first')).outcome).toBe(
      'taken',
    );
  });

  test('applies only to generations, and a new value applies from the next start', async () => {
    const account = await anAccount({ running_max: 1 });
    const channel = aChannel();
    expect(
      (await takeSlot(database.db, await aJob(account), to(channel), null, 'first')).outcome,
    ).toBe('taken');
    const enhancing = aJobInput({ accountId: account, kind: 'super_resolution' });
    await insertTaskRow(database.db, enhancing.taskId);
    await planJob(database.db, enhancing);
    expect((await takeSlot(database.db, enhancing, to(channel), null, 'first')).outcome).toBe(
      'taken',
    );
    const next = await aJob(account);
    expect((await takeSlot(database.db, next, to(channel), null, 'first')).outcome).toBe('full');
    await database.db('accounts').where({ id: account }).update({ running_max: 2 });
    expect((await takeSlot(database.db, next, to(channel), null, 'first')).outcome).toBe('taken');
  });
});
