// Creating over HTTP: the exact reply, the order of the checks, idempotency, permissions, limits.

import { createdSchema } from '../../src/contract/reply-schema';
import { setBudget } from '../../src/db/budgets';
import { create, startApi, type TestApi, textBody, until } from '../support/api';
import { theCatalogue } from '../support/catalogue';
import { call } from '../support/service';
import { until as eventually } from '../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(() => {
  api.temporal.answer = 'accept';
  api.temporal.gate = undefined;
  api.temporal.reachable = true;
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

  test('a create and a quote list the fields that they ignore', async () => {
    const listed = 'user, a%2Cb, %F0%9F%98%80';
    const body = { ...textBody, user: 'me', 'a,b': 1, '😀': true, n: null };
    const created = await api.call('POST', create, body);
    expect([created.status, created.headers.get('x-ignored-fields')]).toEqual([200, listed]);
    const quoted = await api.call('POST', '/v1/videos/quotes', body);
    expect([quoted.status, quoted.headers.get('x-ignored-fields')]).toEqual([200, listed]);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x${n}`, n]));
    const names = (await api.create(many)).headers.get('x-ignored-fields')?.split(', ');
    expect(names).toHaveLength(21);
    expect(names?.at(-1)).toBe('...');
    expect((await api.create()).headers.get('x-ignored-fields')).toBeNull();
  });

  test('a create and a quote list the options that they pass to the generator', async () => {
    const metadata = { camera_fixed: true, 'a,b': 1, seed: 7, none: null };
    const listed = 'metadata.camera_fixed, metadata.a%2Cb';
    const created = await api.call('POST', create, { ...textBody, metadata });
    expect([created.status, created.headers.get('x-passed-fields')]).toEqual([200, listed]);
    const quoted = await api.call('POST', '/v1/videos/quotes', { ...textBody, metadata });
    expect([quoted.status, quoted.headers.get('x-passed-fields')]).toEqual([200, listed]);
    expect((await api.create()).headers.get('x-passed-fields')).toBeNull();
  });

  test('task ids sort by time', async () => {
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

  test('a task that no worker has opened yet is pending and can be read', async () => {
    api.temporal.answer = 'unanswered';
    const { status, json } = await api.create();
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'pending', message: expect.stringContaining('waiting') });
    const { json: task } = await api.call('GET', `${create}/${json.id}`);
    expect(task).toMatchObject({ id: json.id, status: 'pending', data: [] });
    const { rows } = await api.db.raw('select created_at from tasks where id = ?', [json.id]);
    expect(task.created_at).toBe(Math.floor(rows[0].created_at.getTime() / 1000));
  });
});

describe('refusals', () => {
  test('the message names every fault, one per line; code and param are those of the first', async () => {
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

  test('a refused create stores nothing, so its Idempotency-Key can be used again', async () => {
    const headers = { 'idempotency-key': 'refused-first' };
    const before = api.temporal.submitted.length;
    expect((await api.create({ duration: 99 }, headers)).status).toBe(400);
    expect(api.temporal.submitted).toHaveLength(before);
    expect((await api.create({ duration: 5 }, headers)).status).toBe(200);
  });
});

describe('Idempotency-Key', () => {
  test('the same key and body give the same task, however the JSON is written', async () => {
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

  test('every body is refused under the key of an erased task, a faulty one too', async () => {
    const headers = { 'idempotency-key': 'erased' };
    const { json } = await api.create({}, headers);
    await api.finish(json.id);
    await api.db('tasks').where({ id: json.id }).update({ request_hash: '' });
    for (const body of [{}, { duration: 99 }]) {
      const { status, json: reply } = await api.create(body, headers);
      expect([status, reply.error?.code]).toEqual([409, 'idempotency_key_reused']);
    }
  });

  test('concurrent equal calls create one task, and a different body under their key is a 409', async () => {
    let open = () => {};
    api.temporal.gate = new Promise((resolve) => {
      open = resolve;
    });
    const headers = { 'idempotency-key': 'in-flight' };
    const before = api.temporal.submitted.length;
    const first = api.create({}, headers);
    await until(() => api.temporal.submitted.length === before + 1);
    const equal = await Promise.all(Array.from({ length: 9 }, () => api.create({}, headers)));
    const other = await api.create({ prompt: 'another' }, headers);
    open();
    const { json } = await first;
    expect(equal.map(({ status }) => status)).toEqual(equal.map(() => 200));
    expect(new Set(equal.map((reply) => reply.json.id))).toEqual(new Set([json.id]));
    expect(other.json.error.code).toBe('idempotency_key_reused');
    expect(api.temporal.submitted).toHaveLength(before + 1);
  });

  test('a task whose id a repeated call received is never refused afterwards', async () => {
    const { accountId, apiKey } = await api.anAccount(6_000_000);
    let open = () => {};
    api.temporal.gate = new Promise((resolve) => {
      open = resolve;
    });
    const headers = { 'idempotency-key': 'given-away' };
    const body = { ...textBody, ratio: '16:9' };
    const post = () => call(api.url, apiKey, 'POST', create, body, headers);
    const before = api.temporal.submitted.length;
    const first = post();
    await until(() => api.temporal.submitted.length === before + 1);
    expect((await post()).json.status).toBe('pending');
    await api.db('balances').where({ account_id: accountId }).update({ available: 0 });
    open();
    expect((await first).json.status).toBe('failed');
    expect((await post()).json.status).toBe('failed');
  });

  test('is valid within its account, for all keys of the account', async () => {
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

  test('a repeated call finds the pending task before balance and limits are checked', async () => {
    const { apiKey } = await api.anAccount(6_000_000);
    const body = { ...textBody, ratio: '16:9' };
    const headers = { 'idempotency-key': 'pending' };
    api.temporal.answer = 'unanswered';
    const first = await call(api.url, apiKey, 'POST', create, body, headers);
    // The pending task counts against the balance, so another one is refused.
    const short = await call(api.url, apiKey, 'POST', create, body);
    expect([short.status, short.json.error.code]).toEqual([402, 'insufficient_balance']);
    expect(short.json.error.message).toContain('of which pending tasks need 5.009400');
    const again = await call(api.url, apiKey, 'POST', create, body, headers);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test.each(['', 'with space', 'ü', 'x'.repeat(256)])(
    '%j is refused as an Idempotency-Key',
    async (key) => {
      const { status, json } = await api.create({}, { 'idempotency-key': key });
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ code: 'invalid_value', param: 'Idempotency-Key' });
    },
  );
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
  ])('the reply to a limited key for %s', async (_, limits, body, expected) => {
    expect(await post(limits, body)).toEqual(expected);
  });

  test('the refusal of an unknown model names the models of the key', async () => {
    const { apiKey } = await api.aKey({ models: ['studio-1.0'] });
    const { json } = await call(api.url, apiKey, 'POST', create, { ...textBody, model: 'sora' });
    expect(json.error).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect(json.error.message).toContain('studio-1.0.');
    expect(json.error.message).not.toContain('studio-2.0');
  });

  test('a disabled account is refused every call, in each process', async () => {
    const { accountId, apiKey } = await api.anAccount();
    const second = await startApi({}, theCatalogue, api.database);
    expect((await call(second.url, apiKey, 'GET', '/v1/account')).status).toBe(200);
    const made = await call(api.url, apiKey, 'POST', create, textBody);
    await api.db('accounts').where({ id: accountId }).update({ disabled_at: new Date() });
    // By then the cached look-ups from before have expired.
    api.clock += 20_001;
    second.clock += 20_001;
    const id = String(made.json.id);
    for (const [method, path] of [
      ['POST', create],
      ['POST', '/v1/videos/quotes'],
      ['GET', `${create}/${id}`],
      ['GET', `${create}/${id}/callbacks`],
      ['DELETE', `${create}/${id}`],
      ['GET', '/v1/tasks'],
      ['GET', '/v1/models'],
      ['GET', '/v1/account'],
      ['GET', '/v1/account/statement'],
    ] as const) {
      const body = method === 'POST' ? textBody : undefined;
      for (const { url } of [api, second]) {
        const { status, json } = await call(url, apiKey, method, path, body);
        expect([path, status, json.error.type, json.error.code]).toEqual([
          path,
          403,
          'permission_error',
          'account_disabled',
        ]);
      }
    }
    await second.close();
  });
});

describe('money', () => {
  test('a spent budget is a 402 that shows limit, spent and held amounts and the next period', async () => {
    const { apiKey, accountId } = await api.anAccount();
    await setBudget(api.db, { accountId, keyId: null, period: 'month', limitMicros: 12_000_000 });
    const body = { ...textBody, ratio: '16:9' };
    const post = () => call(api.url, apiKey, 'POST', create, body);
    const statuses = (await Promise.all([post(), post(), post(), post()])).map((one) => one.status);
    expect(statuses.sort((a, b) => a - b)).toEqual([200, 200, 402, 402]);
    const { json } = await post();
    expect(json.error).toMatchObject({ type: 'billing_error', code: 'budget_exceeded' });
    expect(json.error.message).toMatch(
      /needs a hold of 5\.009400 CNY, but the month budget of this account is 12\.000000 CNY, of which 0\.000000 CNY is spent and 10\.018800 CNY is held\. It begins anew at \d{4}-\d\d-01T00:00:00Z \(time zone UTC\)\.$/,
    );
  });

  test('a low balance is a 402 that shows the hold and the available amount', async () => {
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

  test('a create that is refused when its task is opened leaves nothing, and its key can be used again', async () => {
    const { accountId, apiKey } = await api.anAccount(6_000_000);
    let open = () => {};
    api.temporal.gate = new Promise((resolve) => {
      open = resolve;
    });
    const headers = { 'idempotency-key': 'emptied' };
    const body = { ...textBody, ratio: '16:9' };
    const post = () => call(api.url, apiKey, 'POST', create, body, headers);
    const available = (micros: number) =>
      api.db('balances').where({ account_id: accountId }).update({ available: micros });
    const before = api.temporal.submitted.length;
    const first = post();
    await until(() => api.temporal.submitted.length === before + 1);
    await available(0);
    open();
    expect((await first).status).toBe(402);
    expect(await api.db('tasks').where({ account_id: accountId })).toEqual([]);
    await available(6_000_000);
    expect((await post()).json.status).toBe('submitted');
  });

  test('repeating the create of a paid task is never a 402', async () => {
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

  test('a quote shows the plan and the hold, and stores nothing', async () => {
    const before = api.temporal.submitted.length;
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
    expect(api.temporal.submitted).toHaveLength(before);
    const refused = await api.call('POST', '/v1/videos/quotes', { ...body, duration: 99 });
    expect(refused.json.error.param).toBe('duration');
  });
});

describe('limits', () => {
  test('a key that creates too often gets a 429 with Retry-After; replays are not counted', async () => {
    const limited = await startApi({ createRatePerSecond: 1, createBurst: 5 });
    try {
      const headers = { 'idempotency-key': 'mine' };
      expect((await limited.create({}, headers)).status).toBe(200);
      for (let made = 1; made < 5; made += 1) {
        expect((await limited.create()).status).toBe(200);
      }
      const { status, json, headers: reply } = await limited.create();
      expect([status, json.error.type, json.error.code]).toEqual([
        429,
        'rate_limit_error',
        'rate_limited',
      ]);
      expect(reply.get('retry-after')).toBe('1');
      expect(reply.get('ratelimit-limit')).toBe('5');
      expect(reply.get('ratelimit-remaining')).toBe('0');
      expect(reply.get('ratelimit-reset')).toBe('1');
      expect((await limited.create({}, headers)).status).toBe(200);
      limited.clock += 2_000;
      expect((await limited.create()).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('each key has its own limit, and refused creates count too', async () => {
    const limited = await startApi({ createRatePerSecond: 1, createBurst: 5 });
    try {
      const { apiKey } = await limited.aKey({});
      for (let faulty = 0; faulty < 5; faulty += 1) {
        expect((await limited.create({ duration: 99 })).status).toBe(400);
      }
      expect((await limited.create()).status).toBe(429);
      expect((await call(limited.url, apiKey, 'POST', create, textBody)).status).toBe(200);
      // The limit applies to creates only.
      for (let read = 0; read < 3; read += 1) {
        expect((await limited.call('GET', '/v1/models')).status).toBe(200);
        expect((await limited.call('POST', '/v1/videos/quotes', textBody)).status).toBe(200);
      }
      // A missing key, invalid JSON and an invalid body are answered before the limit.
      expect((await call(limited.url, 'vk_wrong', 'POST', create, textBody)).status).toBe(401);
      expect((await limited.call('POST', create, '{')).status).toBe(400);
    } finally {
      await limited.close();
    }
  });

  test('an account has a maximum of unfinished tasks, and a finished one makes room', async () => {
    const limited = await startApi({ queuedTasksMax: 2 });
    try {
      const { json } = await limited.create();
      await limited.create();
      const full = await limited.create();
      expect([full.status, full.json.error.code]).toEqual([429, 'rate_limited']);
      expect(full.json.error.message).toContain('has 2 unfinished tasks, and its limit is 2');
      expect(full.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(full.headers.get('ratelimit-limit')).toBe('2');
      expect(full.headers.get('ratelimit-remaining')).toBe('0');
      expect(full.headers.get('ratelimit-reset')).toMatch(/^\d+$/);
      // The limit applies neither to another account nor to quotes.
      const { apiKey } = await limited.anAccount();
      expect((await call(limited.url, apiKey, 'POST', create, textBody)).status).toBe(200);
      expect((await limited.call('POST', '/v1/videos/quotes', textBody)).status).toBe(200);
      await limited.finish(json.id);
      expect((await limited.create()).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('a changed queued_max of an account applies to the next create, in every process', async () => {
    const one = await startApi({ queuedTasksMax: 1 });
    const other = await startApi({ queuedTasksMax: 1 }, undefined, one.database);
    const create429 = async () => {
      const { apiKey } = one;
      const replies = [await one.create(), await call(other.url, apiKey, 'POST', create, textBody)];
      return replies.map(({ status, json }) => (status === 429 ? json.error.message : status));
    };
    try {
      await one.db('accounts').where({ id: one.accountId }).update({ queued_max: 2 });
      expect(await create429()).toEqual([200, 200]);
      const full = expect.stringContaining('has 2 unfinished tasks, and its limit is 2');
      expect(await create429()).toEqual([full, full]);
      await one.db('accounts').where({ id: one.accountId }).update({ queued_max: 4 });
      expect(await create429()).toEqual([200, 200]);
      await one.db('accounts').where({ id: one.accountId }).update({ queued_max: null });
      const installed = expect.stringContaining('its limit is 1');
      expect(await create429()).toEqual([installed, installed]);
    } finally {
      await other.close();
      await one.close();
    }
  });

  test('in a burst, creates without a free start slot are answered pending at once', async () => {
    let open = () => {};
    api.temporal.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { apiKey } = await api.anAccount();
    const post = () => call(api.url, apiKey, 'POST', create, textBody);
    const before = api.temporal.submitted.length;
    // With another account present, a burst has four starts in progress.
    const others = api.create();
    const waiting = Array.from({ length: 16 }, post);
    await until(() => api.temporal.submitted.length >= before + 5);
    const rest = await Promise.all(Array.from({ length: 30 }, post));
    expect(rest.map(({ status, json }) => `${status} ${json.status}`)).toEqual(
      rest.map(() => '200 pending'),
    );
    open();
    await Promise.all([others, ...waiting]);
    const statusOf = (id: string) => call(api.url, apiKey, 'GET', `${create}/${id}`);
    for (const { json } of rest) {
      await eventually(
        'it is started',
        async () => (await statusOf(json.id)).json.status === 'submitted',
      );
    }
  });
});
