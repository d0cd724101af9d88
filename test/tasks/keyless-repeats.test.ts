// Creates that a client repeats by itself, without an Idempotency-Key: the header
// x-stainless-retry-count of the OpenAI clients, and x-should-retry in the answers.

import { request } from 'node:http';
import { failPending } from '../../src/tasks/pending.rows';
import { create, startApi, startCutApi, type TestApi, textBody } from '../support/api';
import { countStatements, statementsWaiting } from '../support/database';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ databaseConnections: { own: 1, all: 1_000 } });
});
afterAll(() => api?.close());

const attempt = (count: number) => ({ 'x-stainless-retry-count': String(count) });
const tasksWith = async (prompt: string) =>
  (await api.db('tasks').select('id').whereRaw(`request->>'prompt' = ?`, [prompt])).map(
    ({ id }) => id as string,
  );

const age = (id: string, minutes: number) =>
  api
    .db('tasks')
    .where({ id })
    .update({ created_at: api.db.raw('now() - make_interval(mins => ?)', [minutes]) });
const arkTasks = '/api/v3/contents/generations/tasks';
const callTool = (name: string, args: object) =>
  api.call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { accept: 'application/json, text/event-stream' },
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

  test('gets the newest of several tasks with this body, and no two equal repeats get the same task', async () => {
    const body = { prompt: 'several on purpose' };
    const ids = [];
    for (const _ of [1, 2, 3]) ids.push((await api.create(body, attempt(0))).json.id);
    expect(new Set(ids).size).toBe(3);
    const repeated = [];
    for (const _ of [1, 2, 3, 4]) repeated.push((await api.create(body, attempt(2))).json.id);
    expect(repeated.slice(0, 3)).toEqual(ids.reverse());
    expect(ids).not.toContain(repeated[3]);
  });

  test('gets the task of the first attempt after each further wait of ten minutes', async () => {
    const body = { prompt: 'both answers were lost' };
    const first = await api.create(body, attempt(0));
    for (const [count, minutes] of [
      [1, 10],
      [2, 20],
      [3, 34],
    ] as const) {
      await age(first.json.id, minutes);
      const { json, headers } = await api.create(body, attempt(count));
      expect([json.id, headers.get('idempotent-replayed')]).toEqual([first.json.id, 'true']);
    }
    expect(await tasksWith(body.prompt)).toHaveLength(1);
  });

  test.each([
    [1, 16],
    [2, 26],
  ])(
    'creates a task with count %d if the newest equal task is %d minutes old',
    async (count, minutes) => {
      const body = { prompt: `long ago: ${minutes} minutes` };
      const first = await api.create(body, attempt(0));
      await age(first.json.id, minutes);
      expect((await api.create(body, attempt(count))).json.id).not.toBe(first.json.id);
    },
  );

  test.each<[what: string, callOf: (id: string) => Promise<{ status: number }>]>([
    ['read', (id) => api.call('GET', `${create}/${id}`)],
    ['read in the form of OpenAI', (id) => api.call('GET', `/v1/videos/${id}`)],
    ['read in the form of Ark', (id) => api.call('GET', `${arkTasks}/${id}`)],
    ['read by an agent', (id) => callTool('status', { task_id: id })],
    ['listed', () => api.call('GET', '/v1/tasks?limit=1')],
    ['listed in the form of OpenAI', () => api.call('GET', '/v1/videos?limit=1')],
    ['cancelled', (id) => api.call('DELETE', `${create}/${id}`)],
    ['asked for its callback', (id) => api.call('GET', `${create}/${id}/callbacks`)],
  ])('creates a task if the newest equal task was %s', async (what, callOf) => {
    const body = { prompt: `the answer arrived: ${what}` };
    const first = await api.create(body, attempt(0));
    expect((await callOf(first.json.id)).status).toBeLessThan(500);
    const second = await api.create(body, attempt(1));
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect(second.json.id).not.toBe(first.json.id);
  });

  test('gets the task of the first attempt although another key of the account has read it', async () => {
    const body = { prompt: 'read by a dashboard' };
    const first = await api.create(body, attempt(0));
    const { apiKey } = await api.aKey({});
    expect((await call(api.url, apiKey, 'GET', `${create}/${first.json.id}`)).status).toBe(200);
    expect((await call(api.url, apiKey, 'GET', '/v1/tasks')).status).toBe(200);
    expect((await api.create(body, attempt(1))).json.id).toBe(first.json.id);
  });

  test('only the first read of a task writes, and a task of a client that repeats nothing is not written', async () => {
    const versionOf = async (id: string) =>
      (await api.db('tasks').select(api.db.raw('xmin::text as version')).where({ id }))[0].version;
    const [repeating, other] = [await api.create({}, attempt(0)), await api.create()];
    const ids = [repeating.json.id, other.json.id];
    const versions = async () => [await versionOf(ids[0]), await versionOf(ids[1])];
    const before = await versions();
    for (const id of ids) await api.call('GET', `${create}/${id}`);
    const after = await versions();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    for (const id of ids) await api.call('GET', `${create}/${id}`);
    await api.call('GET', '/v1/tasks');
    expect(await versions()).toEqual(after);
  });

  test('a create in the form of OpenAI, which reads its task for the answer, still answers a repeat', async () => {
    const body = { ...textBody, prompt: 'lost in the form of OpenAI' };
    const first = await api.call('POST', '/v1/videos', body, attempt(0));
    const second = await api.call('POST', '/v1/videos', body, attempt(1));
    expect([second.status, second.json.id]).toEqual([200, first.json.id]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });

  test('a repeat with a fault is refused without a statement', async () => {
    await api.create({ prompt: 'so that the key is known' });
    const statements = countStatements(api.apiDb);
    const { status } = await api.create({ duration: 'long' }, attempt(1));
    expect([status, statements.stop()]).toEqual([400, 0]);
  });

  test('a repeat that finds its task costs one statement and one look-up', async () => {
    const body = { prompt: 'one statement' };
    await api.create(body, attempt(0));
    const statements = countStatements(api.apiDb);
    const { status } = await api.create(body, attempt(1));
    expect([status, statements.stop()]).toEqual([200, 2]);
  });

  test('creates a task if the first attempt stored none', async () => {
    const body = { prompt: 'never arrived' };
    expect((await api.create(body, attempt(1))).status).toBe(200);
    expect(await tasksWith(body.prompt)).toHaveLength(1);
  });

  test('creates a task if the first attempt has ended before it was opened', async () => {
    api.temporal.answer = 'unanswered';
    const body = { prompt: 'never opened' };
    const first = await api.create(body, attempt(0));
    expect(await failPending(api.db, first.json.id, 'no money')).not.toBeNull();
    api.temporal.answer = 'accept';
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

  test('is asked to come again while another process is storing the first attempt, and then gets its task', async () => {
    const other = await startApi({}, undefined, api.database);
    try {
      const body = { ...textBody, prompt: 'still being stored' };
      const release = await blockStores();
      const first = api.call('POST', create, body, attempt(0));
      await until('the call has arrived', async () => (await statementsWaiting(api.db)) === 1);
      const again = (count: number) =>
        call(other.url, api.apiKey, 'POST', create, body, attempt(count));
      const early = await again(1);
      expect([early.status, early.json.error.code]).toEqual([503, 'unavailable']);
      expect(early.headers.get('retry-after')).toBe('1');
      expect(early.headers.get('x-should-retry')).toBe('true');
      await release();
      const ids = [(await first).json.id, (await again(2)).json.id];
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

describe('a create that was refused because the account is full', () => {
  test.each([create, '/v1/videos'])(
    'at %s is not to be repeated by a client that counts its repeats',
    async (path) => {
      const full = await startApi({ queuedTasksMax: 2 }, undefined, api.database);
      try {
        const { apiKey } = await api.anAccount();
        const body = { ...textBody, prompt: 'five variations' };
        const ask = (headers: Record<string, string>) =>
          call(full.url, apiKey, 'POST', path, body, headers);
        const replies = [];
        for (const _ of [1, 2, 3, 4, 5]) replies.push(await ask(attempt(0)));
        expect(
          replies.map(({ status, headers }) => [status, headers.get('x-should-retry')]),
        ).toEqual([...[1, 2].map(() => [200, 'false']), ...[1, 2, 3].map(() => [429, 'false'])]);
        expect(new Set(replies.slice(0, 2).map(({ json }) => json.id)).size).toBe(2);
        // Other clients begin a new create with each call, and so do calls with a key.
        const others = [await ask({}), await ask({ ...attempt(0), 'idempotency-key': 'k' })];
        for (const { status, headers } of others) {
          expect([status, headers.get('x-should-retry')]).toEqual([429, 'true']);
        }
      } finally {
        await full.close();
      }
    },
  );
});

describe('the header x-should-retry', () => {
  test('is false after a conflict', async () => {
    const headers = { 'idempotency-key': 'used-twice' };
    await api.create({ prompt: 'one' }, headers);
    const { status, headers: sent } = await api.create({ prompt: 'two' }, headers);
    expect([status, sent.get('x-should-retry')]).toEqual([409, 'false']);
  });

  test('is true after a create rate limit, with a Retry-After', async () => {
    const strict = await startApi({ creates: { perSecond: 1, burst: 1 } }, undefined, api.database);
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
