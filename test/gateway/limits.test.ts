// Tests of the limits per API key and per address, and of the delay of repeated refusals. A refused
// call must cost little work: several tests check that it sends no statement.

import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { makeApiKey, revokeKey } from '../../src/accounts/keys.rows';
import { newTaskId } from '../../src/database/ids';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { countStatements, createTestDatabase, type TestDatabase } from '../support/database';
import { plantFile } from '../support/files';
import type { SettingsInTest } from '../support/serve-api';
import { call } from '../support/service';
import { until } from '../support/until';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** Each test has an API of its own, and so limits and accounts of its own. */
const start = (limits: SettingsInTest) => startApi(limits, undefined, database);
let api: TestApi;
afterEach(async () => {
  const { failures } = api;
  await api.close();
  expect(failures).toEqual([]);
});

async function statusesOf(times: number, ask: () => Promise<{ status: number }>) {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) statuses.push((await ask()).status);
  return statuses;
}

/** Sends 300 calls at once. All are refused, and they cost at most twenty statements a second. */
async function expectShared(ask: () => Promise<{ status: number }>): Promise<void> {
  const statements = countStatements(api.apiDb);
  const began = performance.now();
  const flood = await Promise.all(Array.from({ length: 300 }, ask));
  const tookMs = performance.now() - began;
  expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([429]));
  expect(statements.stop()).toBeLessThanOrEqual(2 + tookMs / 50);
}

describe('the limits of a key', () => {
  test('faulty creates count towards the limit, and the body of a call above the limit is not read', async () => {
    api = await start({ changes: { perSecond: 1, burst: 5 } });
    const statuses = await statusesOf(6, () => api.call('POST', create, '{"no json'));
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    const statements = countStatements(api.apiDb);
    const headers = { authorization: `Bearer ${api.apiKey}`, 'content-length': '1000' };
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${api.url}${create}`, { method: 'POST', headers }, (reply) => {
        resolve(reply.statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(status).toBe(429);
    expect(statements.stop()).toBe(0);
    expect(api.temporal.submitted).toEqual([]);
  });

  test.each([
    ['quotes', { quotes: { perSecond: 1, burst: 5 } }, 'POST', '/v1/videos/quotes', textBody],
    ['lists', { lists: { perSecond: 1, burst: 5 } }, 'GET', '/v1/tasks', undefined],
    [
      'statements',
      { lists: { perSecond: 1, burst: 5 } },
      'GET',
      '/v1/account/statement',
      undefined,
    ],
    ['reads', { reads: { perSecond: 1, burst: 5 } }, 'GET', `${create}/task_x`, undefined],
    [
      'cancellations',
      { changes: { perSecond: 1, burst: 5 } },
      'DELETE',
      `${create}/task_x`,
      undefined,
    ],
  ] as const)(
    'headers show the limit on %s; the sixth call is refused, and a later call is accepted',
    async (_, limit, method, path, body) => {
      api = await start(limit);
      const ask = () => api.call(method, path, body);
      const first = await ask();
      expect(first.headers.get('ratelimit-limit')).toBe('5');
      expect(first.headers.get('ratelimit-remaining')).toBe('4');
      await statusesOf(4, ask);
      const refused = await ask();
      expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limited']);
      expect(refused.json.error.message).toContain('1 times a second (up to 5 at once)');
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.headers.get('ratelimit-remaining')).toBe('0');
      // Another kind of call has its own limit.
      const other = path === '/v1/videos/quotes' ? '/v1/tasks' : '/v1/videos/quotes';
      const otherMethod = other === '/v1/tasks' ? 'GET' : 'POST';
      expect(
        (await api.call(otherMethod, other, otherMethod === 'POST' ? textBody : undefined)).status,
      ).toBe(200);
      api.clock += 2_000;
      expect((await ask()).status).toBe(first.status);
    },
  );

  test('setting the wall clock does not change a limit', async () => {
    api = await start({ lists: { perSecond: 1, burst: 5 } });
    const ask = () => api.call('GET', '/v1/tasks');
    await statusesOf(5, ask);
    api.wallStep = 3_600_000;
    expect((await ask()).status).toBe(429);
    api.wallStep = -3_600_000;
    api.clock += 1_500;
    expect((await ask()).status).toBe(200);
  });

  test('a create above its limit queries neither the database nor Temporal', async () => {
    api = await start({ creates: { perSecond: 1, burst: 5 } });
    expect(await statusesOf(5, () => api.create())).toEqual(Array<number>(5).fill(200));
    const statements = countStatements(api.apiDb);
    const refused = await statusesOf(10, () => api.create());
    expect(refused).toEqual(Array<number>(10).fill(429));
    expect(statements.stop()).toBe(0);
    expect(api.temporal.submitted).toHaveLength(5);
  });

  test.each([
    ['of an account', { uploadsAtOnce: { own: 1, all: 10_000 } }],
    ['of all accounts', { uploadsAtOnce: { own: 1_000, all: 1 } }],
  ])(
    'if the maximum number of uploads %s is in progress, another one is a 429',
    async (_, limit) => {
      api = await start(limit);
      const slow = new PassThrough();
      const headers = { authorization: `Bearer ${api.apiKey}`, 'content-type': 'image/png' };
      const options = { method: 'POST', headers, duplex: 'half' } as RequestInit;
      const stop = new AbortController();
      const body = Readable.toWeb(slow) as never;
      const first = fetch(`${api.url}/v1/files`, { ...options, body, signal: stop.signal });
      slow.write('a');
      const statusOf = async () =>
        (await fetch(`${api.url}/v1/files`, { ...options, body: 'no picture' })).status;
      await until('the first upload is in progress', async () => (await statusOf()) === 429);
      stop.abort();
      await expect(first).rejects.toThrow();
      await until('it has ended', async () => (await statusOf()) === 415);
    },
  );

  test.each([
    ['of an account', { listsAtOnce: { own: 1, all: 10_000 } }, 429, 200],
    ['of all accounts', { listsAtOnce: { own: 10_000, all: 1 } }, 429, 429],
  ])(
    'if the maximum number of lists %s is in progress, another one is a 429, and single tasks can be read',
    async (_, limit, own, others) => {
      api = await start(limit);
      const { json } = await api.create();
      const { apiKey: other } = await api.anAccount();
      const lock = await api.db.transaction();
      await lock.raw('lock table task_labels in access exclusive mode');
      const first = api.call('GET', '/v1/tasks?label.a=b');
      const ask = (apiKey: string) => call(api.url, apiKey, 'GET', '/v1/models');
      try {
        await until('it is in progress', async () => (await ask(api.apiKey)).status === own);
        expect((await ask(api.apiKey)).headers.get('retry-after')).toBe('1');
        expect((await ask(other)).status).toBe(others);
        const params = { name: 'models', arguments: {} };
        const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
        expect((await api.call('POST', '/mcp', message)).status).toBe(429);
        expect((await api.call('GET', `${create}/${json.id}`)).status).toBe(200);
      } finally {
        await lock.rollback();
      }
      expect((await first).status).toBe(200);
      expect((await ask(api.apiKey)).status).toBe(200);
    },
  );

  test.each([
    ['of an account', { heldReads: { own: 1, all: 10_000 } }],
    ['of all accounts', { heldReads: { own: 10_000, all: 1 } }],
  ])(
    'if the maximum number of reads with `Prefer: wait` %s is waiting, the next such read is answered at once',
    async (_, limit) => {
      api = await start(limit);
      const { json } = await api.create();
      const path = `${create}/${json.id}`;
      const held = api.call('GET', path, undefined, { prefer: 'wait=60' });
      await until('the request has ended', () => api.requests.length >= 1);
      await new Promise((resolve) => setTimeout(resolve, 200));
      const second = await api.call('GET', path, undefined, { prefer: 'wait=60' });
      expect([second.status, second.headers.get('preference-applied')]).toEqual([200, null]);
      await api.finish(json.id);
      expect((await held).json.status).toBe('failed');
    },
  );
});

describe('the limits of an address', () => {
  test('look-ups of unknown keys are limited and cached, and do not affect a known key', async () => {
    api = await start({ unknown: { perSecond: 4, burst: 4 } });
    await api.call('GET', '/v1/models');
    const statements = countStatements(api.apiDb);
    const ask = (key: string) => call(api.url, key, 'GET', '/v1/models');
    const made = makeApiKey();
    expect(await statusesOf(3, () => ask(made))).toEqual([401, 401, 401]);
    expect(await statusesOf(5, () => ask(makeApiKey()))).toEqual([401, 401, 401, 429, 429]);
    expect(statements.stop()).toBe(6);
    await expectShared(() => ask(makeApiKey()));
    expect((await api.call('GET', '/v1/models')).status).toBe(200);
  });

  test('a valid key that is used for the first time is accepted after many unknown keys of the same address', async () => {
    api = await start({ unknown: { perSecond: 4, burst: 4 } });
    const ask = (key: string) => call(api.url, key, 'GET', '/v1/models');
    const flood = await Promise.all(Array.from({ length: 40 }, () => ask(makeApiKey())));
    expect(flood.filter(({ status }) => status === 429)).toHaveLength(36);
    const { apiKey } = await api.aKey({});
    expect((await ask(apiKey)).status).toBe(200);
    const { keyId, apiKey: revoked } = await api.aKey({});
    await revokeKey(api.db, keyId);
    expect((await ask(revoked)).status).toBe(429);
  });

  test('an existing file link that is read for the first time is delivered after many unknown links of the same address', async () => {
    api = await start({ unknown: { perSecond: 4, burst: 4 } });
    const read = (token: string) => fetch(`${api.url}/files/${token}.mp4`);
    const unknown = () => read(randomBytes(24).toString('base64url'));
    const flood = await Promise.all(Array.from({ length: 40 }, unknown));
    expect(flood.filter(({ status }) => status === 429)).toHaveLength(36);
    const { token } = await plantFile(api, Buffer.alloc(10));
    expect((await read(token)).status).toBe(200);
  });

  test('a known key is looked up again even if the caller’s address has used up the limit for unknown keys', async () => {
    api = await start({ unknown: { perSecond: 1, burst: 1 } });
    await api.call('GET', '/v1/models');
    api.clock += 21_000;
    await statusesOf(4, () => call(api.url, makeApiKey(), 'GET', '/v1/models'));
    expect((await api.call('GET', '/v1/models')).status).toBe(200);
  });

  test('look-ups of unknown tasks are limited and cached, and do not affect a known task', async () => {
    api = await start({ unknown: { perSecond: 4, burst: 4 } });
    const { json } = await api.create();
    const read = (id: string) => api.call('GET', `${create}/${id}`);
    const made = newTaskId(Date.now());
    expect(await statusesOf(3, () => read(made))).toEqual([404, 404, 404]);
    expect(await statusesOf(6, () => read(newTaskId(Date.now())))).toEqual([
      ...Array<number>(3).fill(404),
      ...Array<number>(3).fill(429),
    ]);
    expect((await read(json.id)).status).toBe(200);
  });

  test('tasks of another account count as unknown, so the limit does not reveal that they exist', async () => {
    api = await start({ unknown: { perSecond: 2, burst: 2 } });
    const ids: string[] = [];
    for (let task = 0; task < 4; task += 1) ids.push((await api.create()).json.id);
    await api.finish(ids[0]!);
    expect((await api.call('GET', `${create}/${ids[0]}`)).status).toBe(200);
    const { apiKey } = await api.anAccount();
    const paths = [ids[0], ids[1], ids[2], `${ids[3]}/callbacks`];
    const statuses: number[] = [];
    for (const path of paths) {
      statuses.push((await call(api.url, apiKey, 'GET', `${create}/${path}`)).status);
    }
    expect(statuses).toEqual([404, 404, 429, 429]);
    expect((await api.call('GET', `${create}/${ids[2]}`)).status).toBe(200);
  });

  test('look-ups of unknown file links above the limit are refused, and many at once share their statements', async () => {
    api = await start({ unknown: { perSecond: 4, burst: 4 } });
    const known = await plantFile(api, Buffer.alloc(10));
    const read = (token: string) => fetch(`${api.url}/files/${token}.mp4`);
    expect((await read(known.token)).status).toBe(200);
    const statements = countStatements(api.apiDb);
    const unknown = () => read(randomBytes(24).toString('base64url'));
    expect(await statusesOf(6, unknown)).toEqual([...Array<number>(4).fill(404), 429, 429]);
    expect(statements.stop()).toBe(6);
    await expectShared(unknown);
    expect((await read(known.token)).status).toBe(200);
  });

  test('behind a trusted proxy the address of each caller has its own limit', async () => {
    api = await start({ unknown: { perSecond: 1, burst: 1 }, trustedProxies: 1 });
    const ask = (forwarded: string) =>
      call(api.url, makeApiKey(), 'GET', '/v1/models', undefined, { 'x-forwarded-for': forwarded });
    expect(await statusesOf(3, () => ask('192.0.2.1'))).toEqual([401, 429, 429]);
    // An address that the caller wrote into the header stands further left, and is ignored.
    expect((await ask('198.51.100.7, 192.0.2.1')).status).toBe(429);
    expect((await ask('192.0.2.2')).status).toBe(401);
  });
});
