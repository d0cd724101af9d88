// Tests of POST /v1/videos/generations: reply, refusals, idempotency, permissions, money and
// limits. Creates whose database connection is cut are tested in create.cut.test.ts.

import { setTimeout as pause } from 'node:timers/promises';
import { parseAmount } from '../../src/accounts/amount.rules';
import { listBudgets, setBudget } from '../../src/accounts/budgets.rows';
import { createdSchema } from '../../src/contract/reply-schema';
import { erasedHash } from '../../src/tasks/task.rules';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { theCatalogue } from '../support/catalogue';
import { call } from '../support/service';
import { until } from '../support/until';

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

describe('the reply to a create', () => {
  test.each(['/v1/videos/generations', '/v1/video/generations', '/v1/videos/generations/'])(
    'POST %s answers 200 with exactly the five documented fields',
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

  test('the X-Ignored-Fields header of a create and a quote lists the ignored fields', async () => {
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

  test('the X-Passed-Fields header of a create and a quote lists the options that the generator gets', async () => {
    const metadata = { camera_fixed: true, 'a,b': 1, seed: 7, none: null };
    const listed = 'metadata.camera_fixed, metadata.a%2Cb';
    const created = await api.call('POST', create, { ...textBody, metadata });
    expect([created.status, created.headers.get('x-passed-fields')]).toEqual([200, listed]);
    const quoted = await api.call('POST', '/v1/videos/quotes', { ...textBody, metadata });
    expect([quoted.status, quoted.headers.get('x-passed-fields')]).toEqual([200, listed]);
    expect((await api.create()).headers.get('x-passed-fields')).toBeNull();
  });

  test('the key of a forgotten task is refused without the claim that the body differs', async () => {
    const key = { 'idempotency-key': 'forgotten' };
    const { id } = (await api.create({}, key)).json;
    await api.db.raw(`update tasks set request_hash = '' where id = ?`, [id]);
    const { status, json } = await api.create({}, key);
    expect([status, json.error.code]).toEqual([409, 'idempotency_key_reused']);
    expect(json.error.message).not.toMatch(/another body/);
  });

  test('task ids sort by the time of their creation', async () => {
    const first = (await api.create()).json.id;
    await pause(5);
    const second = (await api.create()).json.id;
    expect(first < second).toBe(true);
  });

  test('the trace_id of a task is the request id of its create, or the trace id that the caller sent', async () => {
    const { json, headers } = await api.create();
    const task = await api.call('GET', `${create}/${json.id}`);
    expect(task.json.trace_id).toBe(headers.get('x-request-id')?.replaceAll('-', ''));
    expect(task.headers.get('x-request-id')).not.toBe(headers.get('x-request-id'));
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = await api.create({}, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    expect((await api.call('GET', `${create}/${traced.json.id}`)).json.trace_id).toBe(trace);
  });

  test('a task whose workflow was not started can be read and cancelled', async () => {
    api.temporal.answer = 'unanswered';
    const { status, json } = await api.create();
    expect(status).toBe(200);
    const { json: task } = await api.call('GET', `${create}/${json.id}`);
    expect(task).toMatchObject({ id: json.id, status: json.status, data: [] });
    const { rows } = await api.db.raw('select created_at from tasks where id = ?', [json.id]);
    expect(task.created_at).toBe(Math.floor(rows[0].created_at.getTime() / 1000));
    expect((await api.call('DELETE', `${create}/${json.id}`)).status).toBe(200);
  });
});

describe('refused creates', () => {
  test('the message of a refusal names one fault per line, and `code` and `param` are those of the first fault', async () => {
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
  test('the same key with an equal body gives the same task, even if the JSON is written differently', async () => {
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

  test('a replay shows the current status of the task', async () => {
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

  test('the key of an erased task is refused with every body, even with a faulty body', async () => {
    const headers = { 'idempotency-key': 'erased' };
    const { json } = await api.create({}, headers);
    await api.finish(json.id);
    await api.db('tasks').where({ id: json.id }).update({ request_hash: erasedHash });
    for (const body of [{}, { duration: 99 }]) {
      const { status, json: reply } = await api.create(body, headers);
      expect([status, reply.error?.code]).toEqual([409, 'idempotency_key_reused']);
    }
    const { json: reply } = await api.create({}, headers);
    expect(reply.error.message).not.toMatch(/another body/);
  });

  test('the documented defaults may be sent or left out, and another default that is sent is a field', async () => {
    const headers = { 'idempotency-key': 'defaults' };
    const config = { resolution: '1080p' };
    const bare = { resolution: '720p', ratio: '16:9' };
    const first = await api.create(
      { ...bare, metadata: { super_resolution_config: config } },
      headers,
    );
    const metadata = {
      ...{ watermark: false, draft: false, return_last_frame: false },
      execution_expires_after: 172_800,
      super_resolution_config: { ...config, tool_version: 'standard' },
    };
    const again = await api.create({ ...bare, metadata }, headers);
    expect([first.status, again.status, again.json.id]).toEqual([200, 200, first.json.id]);
    for (const sent of [{ duration: 5 }, { metadata: { ...metadata, generate_audio: true } }]) {
      const other = await api.create({ ...bare, metadata, ...sent }, headers);
      expect([other.status, other.json.error?.code]).toEqual([409, 'idempotency_key_reused']);
    }
  });

  test('concurrent equal creates with one key give one task, and another body with that key is a 409', async () => {
    const headers = { 'idempotency-key': 'in-flight' };
    const first = api.create({}, headers);
    const equal = await Promise.all(Array.from({ length: 9 }, () => api.create({}, headers)));
    const other = await api.create({ prompt: 'another' }, headers);
    const { json } = await first;
    expect(equal.map(({ status }) => status)).toEqual(equal.map(() => 200));
    expect(new Set(equal.map((reply) => reply.json.id))).toEqual(new Set([json.id]));
    expect(other.json.error.code).toBe('idempotency_key_reused');
    const starts = api.temporal.submitted.filter(({ taskId }) => taskId === json.id);
    expect(starts).toHaveLength(1);
  });

  test('is shared by all API keys of an account, and other accounts can use the same value for their own tasks', async () => {
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

  test('a repeated create returns the pending task without a check of the balance', async () => {
    const { apiKey } = await api.anAccount(6_000_000);
    const body = { ...textBody, ratio: '16:9' };
    const headers = { 'idempotency-key': 'pending' };
    api.temporal.answer = 'unanswered';
    const first = await call(api.url, apiKey, 'POST', create, body, headers);
    // The pending task counts against the balance, so a second task is refused.
    const short = await call(api.url, apiKey, 'POST', create, body);
    expect([short.status, short.json.error.code]).toEqual([402, 'insufficient_balance']);
    expect(short.json.error.message).toContain('of which pending tasks need 5.009400');
    const again = await call(api.url, apiKey, 'POST', create, body, headers);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const path = `${create}/${first.json.id}`;
    expect((await call(api.url, apiKey, 'DELETE', path)).status).toBe(200);
  });

  test.each(['', 'with space', 'ü', 'x'.repeat(256)])('the value %j is refused', async (key) => {
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
    ['its own model is accepted', { models: ['studio-2.0'] }, {}, [200, 'submitted', '']],
    [
      'another model is refused',
      { models: ['studio-1.0'] },
      {},
      [403, 'model_not_allowed', 'model'],
    ],
    [
      'a mode that selects another model is refused',
      { models: ['studio-2.0'] },
      { mode: 'fast' },
      [403, 'model_not_allowed', 'model'],
    ],
    [
      'a model on its own channel is accepted',
      { channels: ['studio'] },
      {},
      [200, 'submitted', ''],
    ],
    [
      'a model on another channel is refused',
      { channels: ['elsewhere'] },
      {},
      [403, 'channel_not_allowed', 'model'],
    ],
    [
      'super-resolution on another channel is refused',
      { channels: ['studio'] },
      { metadata: { super_resolution_config: { resolution: '4k' } } },
      [403, 'channel_not_allowed', 'metadata.super_resolution_config'],
    ],
    [
      'a fault of the request is reported before a missing permission',
      { models: ['studio-1.0'] },
      { duration: 99 },
      [400, 'invalid_value', 'duration'],
    ],
  ])('of a limited API key: %s', async (_, limits, body, expected) => {
    expect(await post(limits, body)).toEqual(expected);
  });

  test('the refusal of an unknown model names only the models that the API key may use', async () => {
    const { apiKey } = await api.aKey({ models: ['studio-1.0'] });
    const { json } = await call(api.url, apiKey, 'POST', create, { ...textBody, model: 'sora' });
    expect(json.error).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect(json.error.message).toContain('studio-1.0.');
    expect(json.error.message).not.toContain('studio-2.0');
  });

  test('every call of a disabled account is refused, in every API process', async () => {
    const { accountId, apiKey } = await api.anAccount();
    const second = await startApi({}, theCatalogue, api.database);
    expect((await call(second.url, apiKey, 'GET', '/v1/account')).status).toBe(200);
    const made = await call(api.url, apiKey, 'POST', create, textBody);
    await api.db('accounts').where({ id: accountId }).update({ disabled_at: new Date() });
    // After this time the cached look-ups of the key have expired.
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

describe('the money of a create', () => {
  test('a create above the budget is a 402 that states the limit, the spent and held amounts and the next period', async () => {
    const { apiKey, accountId } = await api.anAccount();
    await setBudget(api.db, { accountId, keyId: null, period: 'month', limitMicros: 12_000_000 });
    const body = { ...textBody, ratio: '16:9' };
    const post = () => call(api.url, apiKey, 'POST', create, body);
    const statuses = (await Promise.all([post(), post(), post(), post()])).map((one) => one.status);
    expect(statuses.sort((a, b) => a - b)).toEqual([200, 200, 402, 402]);
    const { json } = await post();
    expect(json.error).toMatchObject({ type: 'billing_error', code: 'budget_exceeded' });
    expect(json.error.message).toMatch(
      /5\.009400 .*month.* 12\.000000 .* 0\.000000 CNY is spent.* 10\.018800 .*-\d\d-01T00:00:00Z/,
    );
  });

  test('a create above the balance is a 402 that states the needed hold and the available amount', async () => {
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

  test('a create that its workflow refuses stays as a failed task without a charge, and its Idempotency-Key answers this task', async () => {
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
    const first = await post();
    expect([first.status, first.json.status]).toEqual([200, 'submitted']);
    await until('the task was submitted', () => api.temporal.submitted.length === before + 1);
    await available(0);
    api.temporal.gate = undefined;
    open();
    await until('the task fails', async () => (await post()).json.status === 'failed');
    expect((await post()).json.message).toContain('is available');
    const stored = () => api.db('tasks').where({ account_id: accountId }).select('id', 'status');
    const [task] = await stored();
    expect(task).toMatchObject({ id: first.json.id, status: 'failed' });
    await available(6_000_000);
    const { status, json, headers: replayed } = await post();
    expect([status, json.id, json.status]).toEqual([200, task?.id, 'failed']);
    expect(replayed.get('idempotent-replayed')).toBe('true');
    expect(await stored()).toHaveLength(1);
    expect(await api.db('transfers').where({ account_id: accountId, kind: 'hold' })).toEqual([]);
  });

  test('a repeated create is not a 402, although the balance is too low for a second task', async () => {
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

  test('a quote shows the plan and the hold, and starts no task', async () => {
    const { accountId, apiKey } = await api.anAccount();
    const quote = (body: object) => call(api.url, apiKey, 'POST', '/v1/videos/quotes', body);
    const body = { ...textBody, resolution: '720p', ratio: '16:9', duration: 5 };
    const { status, json } = await quote(body);
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
      plain_video: {
        currency: 'CNY',
        duration: 5,
        ratio: '16:9',
        resolution: '720p',
        price: '5.009400',
        price_per_second: '1.001880',
      },
    });
    expect(api.temporal.submitted.filter((task) => task.accountId === accountId)).toEqual([]);
    const refused = await quote({ ...body, duration: 99 });
    expect(refused.json.error.param).toBe('duration');
  });
});

describe('limits on creates', () => {
  test('an API key above its create rate gets a 429 with Retry-After, but replays of earlier creates are still answered', async () => {
    const limited = await startApi({ creates: { perSecond: 1, burst: 5 } });
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

  test('each API key has its own create limit, and refused creates count too', async () => {
    const limited = await startApi({ creates: { perSecond: 1, burst: 5 } });
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
      // An unknown key and invalid JSON are answered before the limit is checked.
      expect((await call(limited.url, 'vk_wrong', 'POST', create, textBody)).status).toBe(401);
      expect((await limited.call('POST', create, '{')).status).toBe(400);
    } finally {
      await limited.close();
    }
  });

  test('a create above the maximum of unfinished tasks is a 429 until a task has finished', async () => {
    const limited = await startApi({ queuedTasksMax: 2 });
    try {
      const { json } = await limited.create();
      await limited.create();
      const full = await limited.create();
      expect([full.status, full.json.error.code]).toEqual([429, 'rate_limited']);
      expect(full.json.error.message).toMatch(/ 2 unfinished .*limit is 2/);
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

  test('a changed queued_max of an account applies to the next create, in every API process', async () => {
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
      const full = expect.stringMatching(/ 2 unfinished .*limit is 2/);
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

  test('a budget for 10 tasks accepts exactly 10 of 100 simultaneous creates through two APIs', async () => {
    const one = await startApi();
    const other = await startApi({}, undefined, one.database);
    const { apiKey, accountId } = one;
    try {
      const quote = await one.call('POST', '/v1/videos/quotes', textBody);
      const { micros = 0 } = parseAmount(quote.json.hold);
      expect(micros).toBeGreaterThan(0);
      await setBudget(one.db, {
        ...{ accountId, keyId: null, period: 'month' },
        limitMicros: 11 * micros - 1,
      });
      /** Repeats a create that waited too long for the budget's lock, as callers do on a busy machine. */
      const createAt = async (n: number) => {
        const { url } = n % 2 ? other : one;
        for (;;) {
          const key = { 'idempotency-key': `create-${n}` };
          const reply = await call(url, apiKey, 'POST', create, textBody, key);
          if (reply.status !== 503) return reply;
          await pause(100);
        }
      };
      const replies = await Promise.all(Array.from({ length: 100 }, (_, n) => createAt(n)));
      const accepted = replies.filter(({ status }) => status === 200);
      const refused = replies.filter(({ status }) => status === 402);
      expect([accepted.length, refused.length]).toEqual([10, 90]);
      const codes = new Set(refused.map(({ json }) => json.error.code));
      expect(codes).toEqual(new Set(['budget_exceeded']));
      const [budget] = await listBudgets(one.db, accountId);
      expect(budget).toMatchObject({ spentMicros: 0, heldMicros: 10 * micros });
    } finally {
      await other.close();
      await one.close();
    }
  });

  test('a burst of one account is answered at once, and the task of another account is started before its end', async () => {
    let open = () => {};
    api.temporal.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { apiKey, accountId } = await api.anAccount();
    const before = api.temporal.submitted.length;
    const burst = await Promise.all(
      Array.from({ length: 60 }, () => call(api.url, apiKey, 'POST', create, textBody)),
    );
    expect(burst.map(({ status, json }) => `${status} ${json.status}`)).toEqual(
      burst.map(() => '200 submitted'),
    );
    const other = (await api.create()).json.id;
    await until('16 tasks were submitted', () => api.temporal.submitted.length === before + 16);
    api.temporal.gate = undefined;
    open();
    const opened = async () =>
      (await api.db('tasks').where({ account_id: accountId }).where({ state: 'open' })).length;
    await until('all are opened', async () => (await opened()) === 60);
    const order = api.temporal.submitted.slice(before).map(({ taskId }) => taskId);
    expect(order.slice(0, 48)).toContain(other);
    expect(new Set(order).size).toBe(61);
  });
});
