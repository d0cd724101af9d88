// Creates that a client repeats by itself, without an Idempotency-Key: the header
// x-stainless-retry-count of the OpenAI clients, and x-should-retry in the answers.

import { request } from 'node:http';
import { failPending } from '../../src/db/pending-tasks';
import { create, startApi, startCutApi, type TestApi, textBody } from '../support/api';
import { statementsWaiting } from '../support/database';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ changesAtOncePerAccountMax: 1 });
});
afterAll(() => api?.close());

const attempt = (count: number) => ({ 'x-stainless-retry-count': String(count) });
const tasksWith = async (prompt: string) =>
  (await api.db('tasks').select('id').whereRaw(`request->>'prompt' = ?`, [prompt])).map(
    ({ id }) => id as string,
  );

/** Makes each insert of a task wait until the returned function is called. */
async function blockStores(): Promise<() => Promise<void>> {
  const trx = await api.db.transaction();
  await trx.raw('select 1 from accounts where id = ? for update', [api.accountId]);
  return async () => void (await trx.commit());
}

describe('a create that says it is a repeat', () => {
  test('gets the task of the first attempt, and says that it was replayed', async () => {
    const body = { prompt: 'the answer was lost' };
    const first = await api.create(body, attempt(0));
    const second = await api.create(body, attempt(1));
    expect([second.status, second.json.id]).toEqual([200, first.json.id]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await tasksWith(body.prompt)).toHaveLength(1);
  });

  test('gets the newest of several tasks with this body', async () => {
    const body = { prompt: 'several on purpose' };
    const ids = [];
    for (const _ of [1, 2, 3]) ids.push((await api.create(body, attempt(0))).json.id);
    expect(new Set(ids).size).toBe(3);
    expect((await api.create(body, attempt(2))).json.id).toBe(ids[2]);
  });

  test('creates a task if the first attempt stored none', async () => {
    const body = { prompt: 'never arrived' };
    expect((await api.create(body, attempt(1))).status).toBe(200);
    expect(await tasksWith(body.prompt)).toHaveLength(1);
  });

  test('creates a task if the first attempt was refused or withdrawn', async () => {
    api.temporal.answer = 'unanswered';
    const body = { prompt: 'never opened' };
    const first = await api.create(body, attempt(0));
    api.temporal.answer = 'accept';
    expect(await failPending(api.db, first.json.id, 'no money')).not.toBeNull();
    const second = await api.create(body, attempt(1));
    expect([second.status, second.json.status]).toEqual([200, 'submitted']);
    expect(second.json.id).not.toBe(first.json.id);
  });

  test.each([
    ['another body', { seed: 1 }, {}],
    ['an Idempotency-Key', {}, { 'idempotency-key': 'a-key-of-its-own' }],
  ])('creates a task with %s', async (_name, metadata, headers) => {
    const prompt = `not a repeat: ${JSON.stringify([metadata, headers])}`;
    const first = await api.create({ prompt }, attempt(0));
    const second = await api.create({ prompt, metadata }, { ...attempt(1), ...headers });
    expect(second.status).toBe(200);
    expect(second.json.id).not.toBe(first.json.id);
  });

  test('creates a task for another API key of the account', async () => {
    const body = { ...textBody, prompt: 'another key' };
    const first = await api.call('POST', create, body, attempt(0));
    const { apiKey } = await api.aKey({});
    const second = await call(api.url, apiKey, 'POST', create, body, attempt(1));
    expect(second.status).toBe(200);
    expect(second.json.id).not.toBe(first.json.id);
  });

  test('creates a task if the newest task with this body is older than fifteen minutes', async () => {
    const body = { prompt: 'long ago' };
    const first = await api.create(body, attempt(0));
    const age = { id: first.json.id, age: '16 minutes' };
    await api.db.raw(
      'update tasks set created_at = created_at - cast(:age as interval) where id = :id',
      age,
    );
    expect((await api.create(body, attempt(1))).json.id).not.toBe(first.json.id);
  });

  test('waits for a first attempt that another process is storing, and gets its task', async () => {
    const other = await startApi({}, undefined, api.database);
    try {
      const body = { ...textBody, prompt: 'still being stored' };
      const release = await blockStores();
      const first = api.call('POST', create, body, attempt(0));
      await until('the calls have arrived', async () => (await statementsWaiting(api.db)) === 1);
      const second = call(other.url, api.apiKey, 'POST', create, body, attempt(1));
      await until('the calls have arrived', async () => (await statementsWaiting(api.db)) === 2);
      await release();
      const ids = (await Promise.all([first, second])).map(({ json }) => json.id);
      expect(ids[1]).toBe(ids[0]);
      expect(await tasksWith(body.prompt)).toHaveLength(1);
    } finally {
      await other.close();
    }
  });
});

test('a create without a key is not stored if its caller has gone before', async () => {
  const release = await blockStores();
  const ahead = api.create({ prompt: 'ahead in the queue' });
  await until('the calls have arrived', async () => (await statementsWaiting(api.db)) === 1);
  const seen = api.requests.length;
  const sent = request(`${api.url}${create}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.apiKey}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify({ ...textBody, prompt: 'gone' }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  sent.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await release();
  expect((await ahead).status).toBe(200);
  await until('the calls have arrived', async () => api.requests.length >= seen + 2);
  expect(await tasksWith('gone')).toEqual([]);
});

describe('the header x-should-retry', () => {
  test('is false after a conflict', async () => {
    const headers = { 'idempotency-key': 'used-twice' };
    await api.create({ prompt: 'one' }, headers);
    const { status, headers: sent } = await api.create({ prompt: 'two' }, headers);
    expect([status, sent.get('x-should-retry')]).toEqual([409, 'false']);
  });

  test('is true after a create rate limit, with a Retry-After', async () => {
    const strict = await startApi(
      { createRatePerSecond: 1, createBurst: 1 },
      undefined,
      api.database,
    );
    try {
      await strict.create();
      const { status, headers } = await strict.create();
      expect([status, headers.get('x-should-retry')]).toEqual([429, 'true']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    } finally {
      await strict.close();
    }
  });

  test('is false after a success and a fault of the request, in each form', async () => {
    const ark = { model: textBody.model, content: [{ type: 'text', text: 'a lighthouse' }] };
    const replies = [
      ...[await api.create(), await api.create({ duration: 99 })],
      await api.call('POST', '/v1/videos', textBody),
      await api.call('POST', '/v1/videos', { ...textBody, duration: 99 }),
      await api.call('POST', '/api/v3/contents/generations/tasks', ark),
      await api.call('POST', '/api/v3/contents/generations/tasks', { ...ark, duration: 99 }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 200, 400, 200, 400]);
    for (const { headers } of replies) expect(headers.get('x-should-retry')).toBe('false');
  });

  test('leaves reads to the client, which may repeat them', async () => {
    const { json } = await api.create();
    const { headers } = await api.call('GET', `${create}/${json.id}`);
    expect(headers.get('x-should-retry')).toBeNull();
  });

  test('is false if a task may exist, true with an Idempotency-Key, and a repeat gets that task', async () => {
    const { api: cutApi, cutter } = await startCutApi();
    try {
      await cutApi.create();
      cutter.cutAt('accept_task', 'after');
      const body = { prompt: 'maybe stored' };
      const keyless = await cutApi.create(body, attempt(0));
      expect([keyless.status, keyless.headers.get('x-should-retry')]).toEqual([503, 'false']);
      const repeat = await cutApi.create(body, attempt(1));
      expect(keyless.headers.get('location')).toContain(repeat.json.id);
      cutter.cutAt('accept_task', 'after');
      const keyed = await cutApi.create(body, { 'idempotency-key': 'safe' });
      expect([keyed.status, keyed.headers.get('x-should-retry')]).toEqual([503, 'true']);
    } finally {
      await cutApi.close();
      await cutter.close();
    }
  });
});
