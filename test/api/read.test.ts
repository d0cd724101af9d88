// Reading and cancelling, over HTTP: whose task it is, which of row and workflow answers, waiting,
// lists.

import { modelsSchema, taskSchema, tasksSchema } from '../../src/contract/reply-schema';
import { taskObject } from '../../src/domain/task';
import { create, startApi, type TestApi, textBody, until } from '../support/api';
import { call } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(() => {
  api.engine.reachable = true;
  api.engine.answer = 'accept';
  api.serving = true;
});
afterEach(() => expect(api.failures).toEqual([]));

const aTask = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await api.create(body)).json.id;
const get = (id: string, headers?: Record<string, string>) =>
  api.call('GET', `${create}/${id}`, undefined, headers);
const withoutRequestId = (text: string) => text.replace(/[0-9a-f-]{36}/g, '');

describe('whose task', () => {
  test.each([
    ['GET', '/v1/videos/generations'],
    ['GET', '/v1/videos/generations/'],
    ['GET', '/v1/video/generations'],
    ['GET', '/v1/video/generations/'],
    ['DELETE', '/v1/videos/generations'],
    ['DELETE', '/v1/video/generations/'],
  ])('%s %s without an id is a 400', async (method, path) => {
    const { status, json } = await api.call(method, path);
    expect(status).toBe(400);
    expect(json.error).toEqual({
      message: 'task_id is required',
      type: 'invalid_request_error',
      param: 'task_id',
      code: 'task_id_required',
    });
  });

  test.each(['GET', 'DELETE'])(
    '%s: a foreign id and an unknown one are the same 404, byte for byte',
    async (method) => {
      const id = await aTask();
      const { apiKey } = await api.anAccount();
      const ask = (path: string) => call(api.url, apiKey, method, path);
      const foreign = await ask(`${create}/${id}`);
      const unknown = await ask(`${create}/task_${'0'.repeat(26)}`);
      const nonsense = await ask(`${create}/..%2f..%2fetc`);
      expect([foreign.status, unknown.status, nonsense.status]).toEqual([404, 404, 404]);
      expect(foreign.json.error).toMatchObject({ type: 'not_found_error', code: 'task_not_found' });
      expect(withoutRequestId(unknown.text)).toBe(withoutRequestId(foreign.text));
      expect(withoutRequestId(nonsense.text)).toBe(withoutRequestId(foreign.text));
      const names = (reply: typeof foreign) =>
        [...reply.headers.keys()].filter((name) => name !== 'date');
      expect(names(unknown)).toEqual(names(foreign));
    },
  );

  test('a finished foreign task is a 404 too, also when its owner has just read it', async () => {
    const id = await aTask();
    await api.finish(id);
    expect((await get(id)).status).toBe(200);
    const { apiKey } = await api.anAccount();
    expect((await call(api.url, apiKey, 'GET', `${create}/${id}`)).status).toBe(404);
  });

  test('a pending task is shown to its owner and to nobody else', async () => {
    api.engine.answer = 'pending';
    const id = await aTask();
    const { apiKey } = await api.anAccount();
    expect((await get(id)).json.status).toBe('pending');
    expect((await call(api.url, apiKey, 'GET', `${create}/${id}`)).status).toBe(404);
  });

  test('many at once, of many tasks: everybody gets his own', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => aTask()));
    const unknown = `task_${'0'.repeat(26)}`;
    const asked = Array.from({ length: 40 }, () => [...ids, unknown]).flat();
    const replies = await Promise.all(asked.map((id) => get(id)));
    const shown = replies.map(({ status, json }) => (status === 404 ? unknown : json.id));
    expect(shown).toEqual(asked);
  });
});

describe('who answers', () => {
  const running = (id: string) =>
    taskObject(
      { id, traceId: 't', model: 'studio-2.0', createdAt: 1 },
      { status: 'running', stage: 'generation' },
    );

  test.each(['/v1/videos/generations', '/v1/video/generations'])(
    'GET %s/{id} has every documented field',
    async (path) => {
      const id = await aTask();
      const { status, json, headers } = await api.call('GET', `${path}/${id}`);
      expect(status).toBe(200);
      expect(taskSchema.parse(json)).toMatchObject({
        id,
        task_id: id,
        status: 'submitted',
        data: [],
      });
      expect(headers.get('retry-after')).toBe('3');
      expect(headers.get('x-answered-by')).toBe('row');
      expect(headers.get('content-type')).toMatch(/^application\/json/);
    },
  );

  test('the workflow, where it is further than the row', async () => {
    const id = await aTask();
    api.engine.live.set(id, running(id));
    const { json, headers } = await get(id);
    expect(json.status).toBe('running');
    expect(headers.get('x-answered-by')).toBe('workflow');
  });

  test('the row, where it is further than the workflow', async () => {
    const id = await aTask();
    api.engine.live.set(id, running(id));
    await api.finish(id);
    const { json, headers } = await get(id);
    expect(json.status).toBe('failed');
    expect(headers.get('x-answered-by')).toBe('row');
    expect(headers.get('retry-after')).toBeNull();
    expect((await get(id)).text).toBe((await get(id)).text);
  });

  test('the row, with the engine gone', async () => {
    const id = await aTask();
    api.engine.reachable = false;
    expect((await get(id)).json.status).toBe('submitted');
  });

  test('the engine for a task without a row, which it is asked about once in ten seconds', async () => {
    api.engine.answer = 'pending';
    const id = await aTask();
    const answer = async () => {
      const { status, json } = await get(id);
      return json.status ?? status;
    };
    expect(await answer()).toBe('pending');
    api.engine.reachable = false;
    expect(await answer()).toBe('pending');
    api.clock += 11_000;
    expect(await answer()).toBe(503);
    api.engine.reachable = true;
    expect(await answer()).toBe('pending');
    api.engine.answer = 'accept';
    await api.engine.submit(api.engine.submitted.at(-1)!);
    expect(await answer()).toBe('submitted');
  });

  test('nobody: without a row and without the engine it is a 503, not a 404', async () => {
    api.engine.reachable = false;
    const { status, json, headers } = await get(`task_${'1'.repeat(26)}`);
    expect([status, json.error.code]).toEqual([503, 'unavailable']);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

describe('Prefer: wait', () => {
  test('holds the reply until the task is final', async () => {
    const id = await aTask();
    let answered = false;
    const waiting = get(id, { prefer: 'wait=60' }).then((reply) => {
      answered = true;
      return reply;
    });
    // Another read in between goes through at once, and the waiting one still waits.
    expect((await get(id)).json.status).toBe('submitted');
    expect(answered).toBe(false);
    await api.finish(id);
    const { json, headers } = await waiting;
    expect(json.status).toBe('failed');
    expect(headers.get('preference-applied')).toBe('wait=60');
  });

  test('answers with what there is when the time is up', async () => {
    const id = await aTask();
    const started = Date.now();
    const { json } = await get(id, { prefer: 'respond-async, wait=1' });
    expect(json.status).toBe('submitted');
    expect(Date.now() - started).toBeGreaterThanOrEqual(900);
  });

  test.each([
    ['wait=3600', 'wait=60'],
    ['wait="45"', 'wait=45'],
    ['Wait = 30', 'wait=30'],
    ['return=minimal; wait=7', 'wait=7'],
  ])('%s is taken as %s', async (prefer, applied) => {
    const id = await aTask();
    await api.finish(id);
    expect((await get(id, { prefer })).headers.get('preference-applied')).toBe(applied);
  });

  test.each(['wait=0', 'wait=-5', 'wait=soon', 'wait=1.5', 'await=9', 'return=minimal'])(
    '%s does not wait',
    async (prefer) => {
      const { json, headers } = await get(await aTask(), { prefer });
      expect(json.status).toBe('submitted');
      expect(headers.get('preference-applied')).toBeNull();
    },
  );

  test('a reader that went away is not waited for', async () => {
    const id = await aTask();
    const gone = new AbortController();
    const before = api.requests.length;
    const reading = fetch(`${api.url}${create}/${id}`, {
      headers: { authorization: `Bearer ${api.apiKey}`, prefer: 'wait=60' },
      signal: gone.signal,
    }).catch(() => 'gone');
    await get(id);
    gone.abort();
    expect(await reading).toBe('gone');
    await api.finish(id);
    await until(() => api.requests.length === before + 2);
  });
});

describe('DELETE', () => {
  test.each(['/v1/videos/generations', '/v1/video/generations'])(
    '%s/{id} asks the task to cancel',
    async (path) => {
      const id = await aTask();
      const { status, json } = await api.call('DELETE', `${path}/${id}`);
      expect(status).toBe(200);
      expect(taskSchema.parse(json).id).toBe(id);
      expect(api.engine.cancelled).toContain(id);
    },
  );

  test('a finished task is left as it is', async () => {
    const id = await aTask();
    await api.finish(id);
    const { status, json } = await api.call('DELETE', `${create}/${id}`);
    expect([status, json.error.code]).toEqual([409, 'task_already_finished']);
    expect(api.engine.cancelled).not.toContain(id);
  });

  test('an engine that cannot be reached is a 503', async () => {
    const id = await aTask();
    api.engine.reachable = false;
    expect((await api.call('DELETE', `${create}/${id}`)).status).toBe(503);
  });
});

describe('lists', () => {
  test('an account sees its own tasks, newest first, page by page, by status and model', async () => {
    const { apiKey } = await api.anAccount();
    const post = async (body: object) =>
      (await call(api.url, apiKey, 'POST', create, { ...textBody, ...body })).json.id as string;
    const ids = [
      await post({}),
      await post({ model: 'studio-1.0' }),
      await post({}),
      await post({}),
    ];
    await api.finish(ids[0]!);
    const list = async (query: string) => {
      const { json } = await call(api.url, apiKey, 'GET', `/v1/tasks?${query}`);
      const { data, next } = tasksSchema.parse(json);
      return { ids: data.map(({ id }) => id), next };
    };
    const newestFirst = [...ids].reverse();
    expect(await list('')).toEqual({ ids: newestFirst, next: null });
    const first = await list('limit=3');
    expect(first.ids).toEqual(newestFirst.slice(0, 3));
    expect(await list(`limit=3&after=${first.next}`)).toEqual({ ids: [ids[0]], next: null });
    expect((await list('status=failed')).ids).toEqual([ids[0]]);
    expect((await list('model=studio-1.0')).ids).toEqual([ids[1]]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['status=done', 'status'],
    ['status=%00', 'status'],
    ['model=%00', 'model'],
    ['model=a%20b', 'model'],
    ['after=%00', 'after'],
    ['after=task_x', 'after'],
    ['limit=1e1', 'limit'],
    ['limit=-1', 'limit'],
  ])('/v1/tasks?%s is a 400 at %s', async (query, param) => {
    const { status, json } = await api.call('GET', `/v1/tasks?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_value', param]);
  });

  test('a foreign id as "after" says as little as an unknown one', async () => {
    const foreign = await aTask();
    const { apiKey } = await api.anAccount();
    await call(api.url, apiKey, 'POST', create, textBody);
    const page = async (after: string) =>
      (await call(api.url, apiKey, 'GET', `/v1/tasks?after=${after}`)).text;
    expect(await page(foreign)).toBe(await page(`task_${'0'.repeat(26)}`));
  });

  test('the models of a key, with what they can do and cost', async () => {
    const { json } = await api.call('GET', '/v1/models');
    const { data } = modelsSchema.parse(json);
    expect(data.map(({ id }) => id)).toEqual([
      'studio-2.0',
      'studio-2.0-fast',
      'studio-2.0-pro',
      'studio-1.5-pro',
      'studio-1.0',
    ]);
    expect(data[3]).toMatchObject({
      resolutions: ['480p', '720p', '1080p'],
      durations: { min: 4, max: 12, auto: true },
      inputs: { reference_images_max: 1, videos_max: 0, middle_frames: false },
      features: { audio: true, draft: true },
      prices: [
        { audio: true, per_million_tokens: '16.000000' },
        { audio: false, per_million_tokens: '8.000000' },
      ],
    });
    const { apiKey } = await api.aKey({ models: ['studio-1.0', 'gone'] });
    const own = await call(api.url, apiKey, 'GET', '/v1/models');
    expect(own.json.data.map(({ id }: { id: string }) => id)).toEqual(['studio-1.0']);
  });

  test('a limited key is shown no mode and no super-resolution that it would be refused', async () => {
    const shown = async (limits: { models?: string[]; channels?: string[] }) => {
      const { apiKey } = await api.aKey(limits);
      const { json } = await call(api.url, apiKey, 'GET', '/v1/models');
      const { features, super_resolution } = modelsSchema.parse(json).data[0]!;
      return [features.modes, features.super_resolution, super_resolution !== null];
    };
    expect(await shown({})).toEqual([['fast', 'pro'], true, true]);
    expect(await shown({ models: ['studio-2.0', 'studio-2.0-pro'] })).toEqual([
      ['pro'],
      true,
      true,
    ]);
    expect(await shown({ channels: ['studio'] })).toEqual([['fast', 'pro'], false, false]);
    expect(await shown({ channels: ['studio', 'studio-enhancer'] })).toEqual([
      ['fast', 'pro'],
      true,
      true,
    ]);
    const { apiKey } = await api.aKey({ channels: ['studio-enhancer'] });
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).json).toEqual({ data: [] });
  });
});
