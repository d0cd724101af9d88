// Creating, over HTTP: the reply to the letter, the order of the checks, idempotency, permissions,
// limits.

import { createdSchema } from '../../src/contract/reply-schema';
import { create, startApi, type TestApi, textBody, until } from '../support/api';
import { call } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(() => {
  api.engine.answer = 'accept';
  api.engine.gate = undefined;
  api.engine.reachable = true;
});
afterEach(() => expect(api.failures).toEqual([]));

describe('the reply', () => {
  test.each(['/v1/videos/generations', '/v1/video/generations', '/v1/videos/generations/'])(
    'POST %s answers 200 with exactly the five documented keys',
    async (path) => {
      const { status, json, headers } = await api.call('POST', path, textBody);
      expect(status).toBe(200);
      expect(Object.keys(json)).toEqual(['id', 'task_id', 'object', 'status', 'message']);
      expect(createdSchema.parse(json)).toMatchObject({
        id: json.task_id,
        object: 'video.generation.task',
        status: 'submitted',
      });
      expect(json.id).toMatch(/^task_[0-9a-z]{26}$/);
      expect(headers.get('location')).toBe(`/v1/videos/generations/${json.id}`);
      expect(headers.get('x-request-id')).toBeTruthy();
      expect(headers.get('idempotent-replayed')).toBeNull();
    },
  );

  test('ids are in the order of time', async () => {
    const first = (await api.create()).json.id;
    await until(() => Date.now() % 2 === 0);
    await until(() => Date.now() % 2 === 1);
    const second = (await api.create()).json.id;
    expect(first < second).toBe(true);
  });

  test('the trace of a task is the create’s request id, or the caller’s own trace', async () => {
    const { json, headers } = await api.create();
    const task = await api.call('GET', `${create}/${json.id}`);
    expect(task.json.trace_id).toBe(headers.get('x-request-id')?.replaceAll('-', ''));
    expect(task.headers.get('x-request-id')).not.toBe(headers.get('x-request-id'));
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = await api.create({}, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    expect((await api.call('GET', `${create}/${traced.json.id}`)).json.trace_id).toBe(trace);
  });

  test('a task that no worker confirmed is pending, and its id can be read', async () => {
    api.engine.answer = 'pending';
    const { status, json } = await api.create();
    expect(status).toBe(200);
    expect(json.status).toBe('pending');
    const { json: task } = await api.call('GET', `${create}/${json.id}`);
    expect(task).toMatchObject({ id: json.id, status: 'pending', data: [] });
  });

  test('an engine that cannot be reached is a 503 that says whether anything was started', async () => {
    api.engine.answer = 'unavailable';
    const certain = await api.create();
    expect(certain.status).toBe(503);
    expect(certain.json.error).toMatchObject({
      type: 'server_error',
      code: 'unavailable',
      param: '',
    });
    expect(certain.json.error.message).toMatch(/not accepted/);
    expect(certain.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(certain.headers.get('location')).toBeNull();
    api.engine.answer = 'unknown';
    const unknown = await api.create();
    expect(unknown.json.error.message).toMatch(/not known.*nothing is charged/);
    // Under a key an earlier call may have started it.
    const keyed = await api.create({}, { 'idempotency-key': 'not-known' });
    expect(keyed.json.error.message).toMatch(/not known.*its Location.*repeated/);
    expect(unknown.headers.get('location')).toMatch(/^\/v1\/videos\/generations\/task_/);
  });
});

describe('refusals', () => {
  test('every fault is named, one a line, code and param of the first', async () => {
    const { status, json } = await api.call('POST', create, {
      model: 'studio-2.0',
      prompt: '',
      resolution: '4k',
      metadata: { super_resolution_config: { fps: 0 } },
    });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({
      type: 'invalid_request_error',
      param: 'prompt',
      code: 'invalid_value',
    });
    expect(json.error.message.split('\n').map((line: string) => line.split(':')[0])).toEqual([
      'prompt',
      'resolution',
      'metadata.super_resolution_config',
      'metadata.super_resolution_config.fps',
    ]);
  });

  test('a refused create stores nothing, so its key may be used again', async () => {
    const headers = { 'idempotency-key': 'refused-first' };
    const before = api.engine.submitted.length;
    expect((await api.create({ duration: 99 }, headers)).status).toBe(400);
    expect(api.engine.submitted).toHaveLength(before);
    expect((await api.create({ duration: 5 }, headers)).status).toBe(200);
  });
});

describe('Idempotency-Key', () => {
  test('the same key and body is the same task, however the body is spelled', async () => {
    const headers = { 'idempotency-key': 'same' };
    const first = await api.create({ metadata: { seed: 1, watermark: true } }, headers);
    const again = await api.call(
      'POST',
      '/v1/video/generations',
      { metadata: '{"watermark":true,"seed":1}', images: [], ...textBody, mode: null },
      headers,
    );
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
  });

  test('a replay shows the current status', async () => {
    const headers = { 'idempotency-key': 'finished' };
    const { json } = await api.create({}, headers);
    await api.finish(json.id, 'gone');
    const again = await api.create({}, headers);
    expect(Object.keys(again.json)).toEqual(['id', 'task_id', 'object', 'status', 'message']);
    expect(again.json).toMatchObject({ id: json.id, status: 'failed', message: 'gone' });
  });

  test.each<[string, Record<string, unknown>]>([
    ['another body', { prompt: 'another' }],
    ['a body with faults', { duration: 99 }],
  ])('the same key with %s is a 409', async (_, body) => {
    const headers = { 'idempotency-key': 'reused' };
    await api.create({}, headers);
    const { status, json } = await api.create(body, headers);
    expect(status).toBe(409);
    expect(json.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'idempotency_key_reused',
    });
  });

  test('ten equal calls in flight are one task, and another body meanwhile is a 409', async () => {
    let open = () => {};
    api.engine.gate = new Promise((resolve) => {
      open = resolve;
    });
    const headers = { 'idempotency-key': 'in-flight' };
    const before = api.engine.submitted.length;
    const equal = Array.from({ length: 10 }, () => api.create({}, headers));
    await until(() => api.engine.submitted.length === before + 1);
    const other = api.create({ prompt: 'another' }, headers);
    await until(() => api.engine.submitted.length === before + 2);
    open();
    const replies = await Promise.all(equal);
    expect(new Set(replies.map(({ status, json }) => `${status} ${json.id}`)).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    expect((await other).json.error.code).toBe('idempotency_key_reused');
  });

  test('is scoped to the account, and the same for all of its keys', async () => {
    const headers = { 'idempotency-key': 'scoped' };
    const other = await api.anAccount();
    const mine = await api.create({}, headers);
    const theirs = await call(api.url, other.apiKey, 'POST', create, textBody, headers);
    expect(theirs.status).toBe(200);
    expect(theirs.json.id).not.toBe(mine.json.id);
    const { apiKey } = await api.aKey({});
    const second = await call(api.url, apiKey, 'POST', create, textBody, headers);
    expect(second.json).toEqual(mine.json);
  });

  test('a pending task is found before anybody is refused', async () => {
    const { apiKey } = await api.anAccount(6_000_000);
    const body = { ...textBody, ratio: '16:9' };
    const headers = { 'idempotency-key': 'pending' };
    api.engine.answer = 'pending';
    const first = await call(api.url, apiKey, 'POST', create, body, headers);
    api.engine.answer = 'accept';
    // Another task takes the money that the pending one would have needed.
    expect((await call(api.url, apiKey, 'POST', create, body)).status).toBe(200);
    expect((await call(api.url, apiKey, 'POST', create, body)).status).toBe(402);
    const again = await call(api.url, apiKey, 'POST', create, body, headers);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test.each(['', 'with space', 'ü', 'x'.repeat(256)])('%j is no key', async (key) => {
    const { status, json } = await api.create({}, { 'idempotency-key': key });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: 'invalid_value', param: 'Idempotency-Key' });
  });
});

describe('permissions', () => {
  const post = async (limits: { models?: string[]; channels?: string[] }, body: object) => {
    const { apiKey } = await api.aKey(limits);
    const { status, json } = await call(api.url, apiKey, 'POST', create, { ...textBody, ...body });
    return [status, json.error?.code ?? json.status, json.error?.param ?? ''];
  };

  test.each<[string, { models?: string[]; channels?: string[] }, object, unknown[]]>([
    ['its model', { models: ['studio-2.0'] }, {}, [200, 'submitted', '']],
    ['another model', { models: ['studio-1.0'] }, {}, [403, 'model_not_allowed', 'model']],
    [
      'the entry a mode selects',
      { models: ['studio-2.0'] },
      { mode: 'fast' },
      [403, 'model_not_allowed', 'model'],
    ],
    ['its channel', { channels: ['studio'] }, {}, [200, 'submitted', '']],
    ['another channel', { channels: ['elsewhere'] }, {}, [403, 'channel_not_allowed', 'model']],
    [
      'an enhancer it may not use',
      { channels: ['studio'] },
      { metadata: { super_resolution_config: { resolution: '4k' } } },
      [403, 'channel_not_allowed', 'metadata.super_resolution_config'],
    ],
    [
      'a faulty request first',
      { models: ['studio-1.0'] },
      { duration: 99 },
      [400, 'invalid_value', 'duration'],
    ],
  ])('a limited key and %s', async (_, limits, body, expected) => {
    expect(await post(limits, body)).toEqual(expected);
  });

  test('an unknown model is answered with the models of the key', async () => {
    const { apiKey } = await api.aKey({ models: ['studio-1.0'] });
    const { json } = await call(api.url, apiKey, 'POST', create, { ...textBody, model: 'sora' });
    expect(json.error).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect(json.error.message).toContain('studio-1.0.');
    expect(json.error.message).not.toContain('studio-2.0');
  });

  test('a disabled account creates nothing', async () => {
    const { accountId, apiKey } = await api.anAccount();
    await api.db('accounts').where({ id: accountId }).update({ disabled_at: new Date() });
    const { status, json } = await call(api.url, apiKey, 'POST', create, textBody);
    expect([status, json.error.type, json.error.code]).toEqual([
      403,
      'permission_error',
      'account_disabled',
    ]);
  });
});

describe('money', () => {
  test('a short balance is told with what is needed and what is there', async () => {
    const { apiKey } = await api.anAccount(1_000_000);
    const body = { ...textBody, ratio: '16:9' };
    const { status, json } = await call(api.url, apiKey, 'POST', create, body);
    expect([status, json.error.type, json.error.code]).toEqual([
      402,
      'billing_error',
      'insufficient_balance',
    ]);
    expect(json.error.message).toContain('5.009400');
    expect(json.error.message).toContain('1.000000');
  });

  test('far more than enough is remembered for a second, and the door still decides', async () => {
    const { accountId, apiKey } = await api.anAccount();
    const post = () => call(api.url, apiKey, 'POST', create, textBody);
    const handedOver = async () => {
      const before = api.engine.submitted.length;
      const { status } = await post();
      return [status, api.engine.submitted.length - before];
    };
    expect(await handedOver()).toEqual([200, 1]);
    await api.db('balances').where({ account_id: accountId }).update({ available: 0 });
    expect(await handedOver()).toEqual([402, 1]);
    api.clock += 1_000;
    expect(await handedOver()).toEqual([402, 0]);
  });

  test('a paid task that is asked for again is never answered with 402', async () => {
    const { apiKey } = await api.anAccount(6_000_000);
    const post = () =>
      call(
        api.url,
        apiKey,
        'POST',
        create,
        { ...textBody, ratio: '16:9' },
        { 'idempotency-key': 'paid' },
      );
    const first = await post();
    expect(first.status).toBe(200);
    expect((await post()).json).toEqual(first.json);
  });

  test('a quote names the plan and the hold, and stores nothing', async () => {
    const before = api.engine.submitted.length;
    const body = { ...textBody, resolution: '720p', ratio: '16:9', duration: 5 };
    const { status, json } = await api.call('POST', '/v1/videos/quotes', body);
    expect(status).toBe(200);
    expect(json).toEqual({
      model: 'studio-2.0',
      input_type: 'text_to_video',
      width: 1280,
      height: 720,
      duration: 5,
      tokens: 108_900,
      currency: 'CNY',
      hold: '5.009400',
      items: [
        {
          kind: 'generation',
          quantity: '0.108900',
          unit: '1M tokens',
          unit_price: '46.000000',
          amount: '5.009400',
        },
      ],
    });
    expect(api.engine.submitted).toHaveLength(before);
    const refused = await api.call('POST', '/v1/videos/quotes', { ...body, duration: 99 });
    expect(refused.json.error.param).toBe('duration');
  });
});

describe('limits', () => {
  test('a key that creates too often is told when to come back; a replay is not counted', async () => {
    const limited = await startApi({ createRatePerSecond: 1, createBurst: 2 });
    try {
      const headers = { 'idempotency-key': 'mine' };
      expect((await limited.create({}, headers)).status).toBe(200);
      expect((await limited.create()).status).toBe(200);
      const { status, json, headers: reply } = await limited.create();
      expect([status, json.error.type, json.error.code]).toEqual([
        429,
        'rate_limit_error',
        'rate_limited',
      ]);
      expect(reply.get('retry-after')).toBe('1');
      expect(reply.get('ratelimit-limit')).toBe('2');
      expect(reply.get('ratelimit-remaining')).toBe('0');
      expect(reply.get('ratelimit-reset')).toBe('1');
      expect((await limited.create({}, headers)).status).toBe(200);
      limited.clock += 2_000;
      expect((await limited.create()).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('each key has its own limit, and what is refused counts, too', async () => {
    const limited = await startApi({ createRatePerSecond: 1, createBurst: 1 });
    try {
      const { apiKey } = await limited.aKey({});
      expect((await limited.create({ duration: 99 })).status).toBe(400);
      expect((await limited.create()).status).toBe(429);
      expect((await call(limited.url, apiKey, 'POST', create, textBody)).status).toBe(200);
      // Nothing but creating is limited.
      for (let read = 0; read < 3; read += 1) {
        expect((await limited.call('GET', '/v1/models')).status).toBe(200);
        expect((await limited.call('POST', '/v1/videos/quotes', textBody)).status).toBe(200);
      }
      // Who sends no key, no JSON or no known body is told that first.
      expect((await call(limited.url, 'vk_wrong', 'POST', create, textBody)).status).toBe(401);
      expect((await limited.call('POST', create, '{')).status).toBe(400);
    } finally {
      await limited.close();
    }
  });

  test('an account has only so many unfinished tasks, and a finished one makes room', async () => {
    const limited = await startApi({ unfinishedTasksMax: 2 });
    try {
      const { json } = await limited.create();
      await limited.create();
      const full = await limited.create();
      expect([full.status, full.json.error.code]).toEqual([429, 'rate_limited']);
      expect(full.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(full.headers.get('ratelimit-limit')).toBe('2');
      expect(full.headers.get('ratelimit-remaining')).toBe('0');
      expect(full.headers.get('ratelimit-reset')).toMatch(/^\d+$/);
      // Another account is not held up, and a quote is not a task.
      const { apiKey } = await limited.anAccount();
      expect((await call(limited.url, apiKey, 'POST', create, textBody)).status).toBe(200);
      expect((await limited.call('POST', '/v1/videos/quotes', textBody)).status).toBe(200);
      await limited.finish(json.id);
      expect((await limited.create()).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('only so many creates of one account are under way at once', async () => {
    const limited = await startApi({ createsInFlightPerAccountMax: 1 });
    try {
      let open = () => {};
      limited.engine.gate = new Promise((resolve) => {
        open = resolve;
      });
      const first = limited.create();
      await until(() => limited.engine.submitted.length === 1);
      const second = await limited.create();
      expect([second.status, second.json.error.code]).toEqual([429, 'rate_limited']);
      open();
      expect((await first).status).toBe(200);
      expect((await limited.create()).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
