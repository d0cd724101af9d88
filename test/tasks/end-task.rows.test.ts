// Tests what every end of a task stores, whichever statement ends it: the final object, and the
// callback that the end owes.

import { createWebhook } from '../../src/callbacks/webhooks.rows';
import { awaitResults, findResults, markStored } from '../../src/files/results.rows';
import { closeTask, openTask } from '../../src/money/ledger.rows';
import { failPending } from '../../src/tasks/pending.rows';
import { aClosing, anAccountWith, anOpening, storePending } from '../support/books';
import { aRequest, aTaskId } from '../support/builders';
import { dueCallbacks } from '../support/callbacks';
import { createTestDatabase, statementsWaiting, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

const own = 'https://consumer.example.com/own';
const hook = 'https://consumer.example.com/hook';

const ends = {
  async succeeded(accountId: string, id: string) {
    expect((await openTask(database.db, anOpening(accountId, id, 100))).outcome).toBe('opened');
    return closeTask(database.db, aClosing(id, 100, 40));
  },
  async failed(accountId: string, id: string) {
    expect((await openTask(database.db, anOpening(accountId, id, 100))).outcome).toBe('opened');
    return closeTask(database.db, aClosing(id, 100, null));
  },
  cancelled: (_: string, id: string) => failPending(database.db, id, 'cancelled'),
  refused: (accountId: string, id: string) =>
    openTask(database.db, anOpening(accountId, id, 10 ** 9)),
};

async function aPending(callbackUrl?: string) {
  const id = aTaskId();
  const accountId = await anAccountWith(database.db, `acct_${id}`, 1_000);
  const request = aRequest(callbackUrl ? { metadata: { callback_url: callbackUrl } } : {});
  await storePending(database.db, anOpening(accountId, id, 100), { request });
  return { id, accountId };
}

const rowOf = (id: string) => database.db('tasks').where({ id }).first('object', 'status');
const callbacksOf = (id: string) =>
  database.db('callbacks').where({ task_id: id }).select('url', 'webhook_id as webhookId', 'state');

describe.each(Object.entries(ends))('a task that ends as %s', (name, end) => {
  const status = name === 'succeeded' ? 'succeeded' : 'failed';

  test('has an object from its end on, and owes a callback to its own address', async () => {
    const { id, accountId } = await aPending(own);
    await createWebhook(database.db, webhook(accountId, ['succeeded', 'failed']));
    expect(await rowOf(id)).toEqual({ object: null, status: null });
    expect(await end(accountId, id)).toMatchObject({ hasCallback: true });
    expect(await rowOf(id)).toMatchObject({ object: { id, status }, status });
    expect(await callbacksOf(id)).toEqual([{ url: own, webhookId: null, state: 'pending' }]);
  });

  test('owes a callback to the newest webhook that takes its status', async () => {
    const { id, accountId } = await aPending();
    const other = status === 'failed' ? 'succeeded' : 'failed';
    await createWebhook(database.db, webhook(accountId, [status], 1));
    const wanted = await createWebhook(database.db, webhook(accountId, [status], 2));
    await createWebhook(database.db, webhook(accountId, [other], 3));
    expect(await end(accountId, id)).toMatchObject({ hasCallback: true });
    expect(await callbacksOf(id)).toEqual([{ url: hook, webhookId: wanted?.id, state: 'pending' }]);
  });

  test('owes no callback without an address', async () => {
    const { id, accountId } = await aPending();
    expect(await end(accountId, id)).toMatchObject({ hasCallback: false });
    expect(await callbacksOf(id)).toEqual([]);
  });
});

function webhook(accountId: string, events: ('succeeded' | 'failed')[], nowMs = 1) {
  return { accountId, url: hook, events, max: 10, nowMs };
}

test('the callback of a task is due at once, unless who ends the task announces it', async () => {
  const isDue = async (end: (accountId: string, id: string) => Promise<unknown>) => {
    const { id, accountId } = await aPending(own);
    await end(accountId, id);
    return (await dueCallbacks(database.db)).includes(id);
  };
  expect(await isDue(ends.cancelled)).toBe(true);
  expect(await isDue(ends.succeeded)).toBe(true);
  expect(await isDue(ends.refused)).toBe(false);
  const announced = async (accountId: string, id: string) => {
    await openTask(database.db, anOpening(accountId, id, 100));
    await closeTask(database.db, aClosing(id, 100, 40), 60);
  };
  expect(await isDue(announced)).toBe(false);
});

function awaitVideo(taskId: string) {
  const url = 'https://m.example.com/v';
  const source = { role: 'video', url, channel: 'studio', expiresAt: null } as const;
  const more = { traceId: '', sources: [source], triedForSeconds: 600 };
  return awaitResults(database.db, { taskId, ...more });
}

test.each([
  ['failed', true],
  ['succeeded', false],
] as const)('the results of a task that ends as %s expire with it: %s', async (name, doExpire) => {
  const { id, accountId } = await aPending();
  const { db } = database;
  // The results of a task that ends without a copy are awaited.
  await awaitVideo(id);
  await ends[name](accountId, id);
  const [file] = await findResults(db, id);
  expect(file?.isExpired).toBe(doExpire);
});

test('a video whose row was inserted while its task failed is not stored', async () => {
  const { id, accountId } = await aPending();
  const { db } = database;
  await openTask(db, anOpening(accountId, id, 100));
  const ending = await db.transaction();
  await closeTask(ending, aClosing(id, 100, null));
  const [file] = await awaitVideo(id);
  const bytes = { contentType: 'video/mp4', length: 5, sha256: Buffer.alloc(32) };
  const storing = markStored(db, file?.id ?? '', { ...bytes, size: null, durationMs: null }, 30);
  const waits = until('it waits', async () => (await statementsWaiting(db)) > 0);
  await Promise.race([storing, waits]);
  await ending.commit();
  expect([await storing, await findResults(db, id)]).toMatchObject([null, [{ state: 'awaited' }]]);
});
