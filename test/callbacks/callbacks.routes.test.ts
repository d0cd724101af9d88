// Tests of the callback log that the owner of a task reads, and of the callback and upload
// addresses that a create refuses. The delivery of callbacks is tested in test/activities.

import {
  beginAttempt,
  beginResend,
  claimDeliveries,
  finishAttempt,
  stopDelivery,
} from '../../src/callbacks/callbacks.rows';
import { listCallbacks } from '../../src/callbacks/list.rows';
import { startApi, type TestApi, textBody } from '../support/api';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { type Canaries, startCanaries } from '../support/canaries';
import { brokenUrls, insideHosts, publicHosts } from '../support/hosts';

let api: TestApi;
let canaries: Canaries;
beforeAll(async () => {
  api = await startApi();
  canaries = await startCanaries();
});
afterAll(async () => {
  await api?.close();
  await canaries?.close();
});
afterEach(() => {
  expect(api.failures).toEqual([]);
});

const url = 'https://consumer.example.com/hook?token=secret';
const at = new Date('2030-01-01T00:00:00Z');
const aTask = (callbackUrl: string | null = url, final = true) =>
  aFinalTask(api, callbackUrl, { accountId: api.accountId, final });
const logOf = (id: string, headers: Record<string, string> = {}) =>
  api.call('GET', `/v1/videos/generations/${id}/callbacks`, undefined, headers);

async function answered(id: string, attempt: number, status: number | null, delivery = 1) {
  const row = await beginAttempt(api.db, id, delivery, attempt, at);
  const error = status === 200 ? null : status === null ? 'No answer within 15 s.' : 'HTTP 503';
  const [state, nextAt] =
    status === 200
      ? (['delivered', null] as const)
      : (['pending', new Date(at.getTime() + 60_000)] as const);
  await finishAttempt(
    api.db,
    { id: row, taskId: id, delivery },
    { status, latencyMs: 12, error, reply: 'what the receiver said' },
    { state, nextAt },
  );
}

const seconds = at.getTime() / 1000;

test('the callback log shows time, status, latency and error of each attempt, and the time of the next attempt', async () => {
  const id = await aTask();
  await answered(id, 1, 503);
  await answered(id, 2, null);
  const { status, json } = await logOf(id);
  expect(status).toBe(200);
  expect(json).toEqual({
    data: [
      { attempt: 1, at: seconds, status: 503, latency_ms: 12, error: 'HTTP 503' },
      { attempt: 2, at: seconds, status: null, latency_ms: 12, error: 'No answer within 15 s.' },
    ],
    next_at: seconds + 60,
    state: 'pending',
    webhook_id: null,
  });
  await answered(id, 3, 200);
  const after = (await logOf(id)).json;
  expect(after).toMatchObject({ state: 'delivered', next_at: null });
  expect(after.data[2]).toEqual({
    attempt: 3,
    at: seconds,
    status: 200,
    latency_ms: 12,
    error: null,
  });
});

test('both paths of the callback log give the same reply, without the callback URL or the receiver’s reply', async () => {
  const id = await aTask();
  await answered(id, 1, 503);
  const plural = await logOf(id);
  const singular = await api.call('GET', `/v1/video/generations/${id}/callbacks`);
  expect(singular.text).toBe(plural.text);
  expect(plural.text).not.toMatch(/consumer|secret|receiver/);
});

test.each<[string, () => Promise<string>, object]>([
  [
    'a pending callback with its time, if the task has ended',
    () => aTask(),
    { data: [], state: 'pending', next_at: expect.any(Number), webhook_id: null },
  ],
  [
    'a pending callback without a time, if the task still runs',
    () => aTask(url, false),
    { data: [], state: 'pending', next_at: null, webhook_id: null },
  ],
  [
    'no callback, if none was requested',
    () => aTask(null),
    { data: [], state: null, next_at: null, webhook_id: null },
  ],
])('before any attempt the callback log shows %s', async (_, make, expected) => {
  expect((await logOf(await make())).json).toEqual(expected);
});

test('the callback log shows an attempt in progress without a status', async () => {
  const id = await aTask();
  await beginAttempt(api.db, id, 1, 1, at);
  expect((await logOf(id)).json.data).toEqual([
    { attempt: 1, at: seconds, status: null, latency_ms: null, error: null },
  ]);
});

test('after a resend the callback log shows the attempts of both deliveries in order', async () => {
  const id = await aTask();
  await answered(id, 1, 200);
  await beginResend(api.db, id);
  expect((await logOf(id)).json.state).toBe('pending');
  await answered(id, 1, 200, 2);
  const { json } = await logOf(id);
  expect(json.data.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 1]);
  expect(json.state).toBe('delivered');
});

const resend = (id: string, headers: Record<string, string> = {}) =>
  api.call('POST', `/v1/videos/generations/${id}/callbacks/resend`, undefined, headers);

test('a callback is sent a hundred times at most for its owner', async () => {
  const id = await aTask();
  await api.db('callbacks').where({ task_id: id }).update({ deliveries: 99 });
  expect((await resend(id)).status).toBe(202);
  const { status, json } = await resend(id);
  expect([status, json.error.code]).toEqual([409, 'callback_not_found']);
});

test('the owner of a task can have its callback sent again, whatever became of it', async () => {
  const id = await aTask();
  await answered(id, 1, 200);
  const { status, json } = await resend(id);
  expect([status, json.state, json.data.length]).toEqual([202, 'pending', 1]);
  expect(json.next_at).toEqual(expect.any(Number));
  await stopDelivery(api.db, id, 2);
  expect((await resend(id)).json.state).toBe('pending');
  expect(await claimDeliveries(api.db)(100)).toContainEqual({
    taskId: id,
    accountId: api.accountId,
    delivery: 3,
    firstAttempt: 1,
  });
});

test.each<[string, () => Promise<string>]>([
  ['has not finished', () => aTask(url, false)],
  ['has no callback', () => aTask(null)],
])('a resend for a task that %s is refused', async (_, make) => {
  const { status, json } = await resend(await make());
  expect([status, json.error.code]).toEqual([409, 'callback_not_found']);
});

test('a resend for a task of another account sends nothing and is a 404', async () => {
  const id = await aTask();
  const { apiKey } = await api.anAccount();
  const { status, json } = await resend(id, { authorization: `Bearer ${apiKey}` });
  expect([status, json.error.code]).toEqual([404, 'task_not_found']);
  expect(await api.db('callbacks').where({ task_id: id }).first('deliveries')).toEqual({
    deliveries: 1,
  });
});

test('a callback stopped by an operator is shown as stopped', async () => {
  const id = await aTask();
  await stopDelivery(api.db, id, 1);
  expect((await logOf(id)).json).toMatchObject({ state: 'stopped', next_at: null });
});

test("the callback log of another account's task is the same 404 as that of an unknown task", async () => {
  const id = await aTask();
  const { apiKey } = await api.anAccount();
  const foreign = await logOf(id, { authorization: `Bearer ${apiKey}` });
  const unknown = await logOf(aTaskId(), { authorization: `Bearer ${apiKey}` });
  expect([foreign.status, foreign.json.error.code]).toEqual([404, 'task_not_found']);
  expect(foreign.text).toBe(unknown.text);
});

test('the callback log of a pending task is shown only to the owner of the task', async () => {
  api.temporal.answer = 'unanswered';
  const { json } = await api.create({ metadata: { callback_url: url } });
  api.temporal.answer = 'accept';
  expect((await logOf(json.id)).json).toMatchObject({ data: [], next_at: null, state: 'pending' });
  const { apiKey } = await api.anAccount();
  expect((await logOf(json.id, { authorization: `Bearer ${apiKey}` })).status).toBe(404);
});

test.each(['task_nothing', '%00', 'task_%00%00', "'; drop table tasks", 'x'.repeat(2_000)])(
  'the callback log of the malformed task id %j is a 404',
  async (id) => {
    expect((await logOf(encodeURIComponent(id).replaceAll('%25', '%'))).status).toBe(404);
  },
);

describe('the list of callbacks', () => {
  const list = (headers: Record<string, string>, query = '') =>
    api.call('GET', `/v1/callbacks${query}`, undefined, headers);

  /** An account with a callback in each of these states, each changed a second before the next. */
  async function anAccountWith(...states: readonly string[]) {
    const { accountId, apiKey } = await api.anAccount();
    const ids: string[] = [];
    for (const [index, state] of states.entries()) {
      const id = await aFinalTask(api, url, { accountId });
      const changed_at = new Date(at.getTime() + 1_000 * index);
      await api.db('callbacks').where({ task_id: id }).update({ state, changed_at, next_at: null });
      ids.push(id);
    }
    return { ids, headers: { authorization: `Bearer ${apiKey}` } };
  }

  test('a list has the last attempt of each callback, and only those in the states that were asked for', async () => {
    const { ids, headers } = await anAccountWith('delivered', 'exhausted', 'stopped', 'pending');
    const [delivered = '', exhausted = '', stopped = '', pending = ''] = ids;
    const begun = await beginAttempt(api.db, exhausted, 1, 9, at);
    await api.db('callback_attempts').where({ id: begun }).update({ error: 'cut off' });
    const row = await beginAttempt(api.db, exhausted, 1, 10, at);
    const answer = { status: 503, latency_ms: 12, error: 'HTTP 503', reply: 'secret' };
    await api.db('callback_attempts').where({ id: row }).update(answer);
    const { json, text } = await list(headers, '?state=pending,exhausted,stopped');
    expect(json.next).toBeNull();
    const named = { webhook_id: null, next_at: null };
    expect(json.data).toEqual([
      { task_id: pending, state: 'pending', changed_at: seconds + 3, last_attempt: null, ...named },
      { task_id: stopped, state: 'stopped', changed_at: seconds + 2, last_attempt: null, ...named },
      {
        ...{ task_id: exhausted, state: 'exhausted', changed_at: seconds + 1, ...named },
        last_attempt: { attempt: 10, at: seconds, status: 503, latency_ms: 12, error: 'HTTP 503' },
      },
    ]);
    expect(text).not.toMatch(/consumer|secret/);
    expect(await idsIn(headers, '?state=delivered')).toEqual([delivered]);
    expect(await idsIn(headers)).toEqual([...ids].reverse());
  });

  const idsIn = async (headers: Record<string, string>, query = ''): Promise<string[]> =>
    (await list(headers, query)).json.data.map((row: { task_id: string }) => row.task_id);

  test('pages have each callback once, also of those that changed at the same moment', async () => {
    const { ids, headers } = await anAccountWith(...Array(5).fill('exhausted'), 'stopped');
    await api.db('callbacks').whereIn('task_id', ids.slice(0, 4)).update({ changed_at: at });
    const found: string[] = [];
    let query = '?limit=2';
    for (;;) {
      const { json } = await list(headers, query);
      found.push(...json.data.map((row: { task_id: string }) => row.task_id));
      if (json.next === null) break;
      query = `?limit=2&after=${json.next}`;
    }
    expect(found).toEqual([ids[5], ids[4], ...ids.slice(0, 4).sort().reverse()]);
  });

  test('a callback whose address was erased, and one of another account, are not in the list', async () => {
    const { ids, headers } = await anAccountWith('stopped', 'stopped');
    await api.db('callbacks').where({ task_id: ids[0] }).update({ url: '' });
    await anAccountWith('stopped');
    expect(await idsIn(headers)).toEqual([ids[1]]);
  });

  test.each([
    ['?state=open', 'state'],
    ['?state=', 'state'],
    ['?state=pending,', 'state'],
    ['?after=1.task_x', 'after'],
    ['?status=failed', 'status'],
  ])('the query %s is refused', async (query, param) => {
    const { headers } = await anAccountWith();
    const { status, json } = await list(headers, query);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_value', param]);
  });

  test('a page reads no more of a long list than it shows', async () => {
    const { ids } = await anAccountWith('exhausted');
    const { account_id: accountId } = await api.db('tasks').where({ id: ids[0] }).first();
    await api.db.raw(
      `with others as (
         insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, deadline_at)
         select 'task_' || n, ?, 'm', '{}', '{}', 'h', 't', now() from generate_series(1, 2000) n
         returning id, account_id
       )
       insert into callbacks (task_id, account_id, url, state)
       select id, account_id, 'https://example.com', 'delivered' from others`,
      [accountId],
    );
    await api.db.raw('analyze callbacks');
    const asked: { sql: string; bindings: unknown[] }[] = [];
    const note = (query: (typeof asked)[number]) => asked.push(query);
    api.db.on('query', note);
    await listCallbacks(api.db, { accountId, limit: 3 });
    api.db.off('query', note);
    const { sql = '', bindings = [] } = asked[0] ?? {};
    const explained = await api.db.raw(
      `explain analyze ${sql.replace(/\$\d+/g, '?')}`,
      bindings as string[],
    );
    const plan = explained.rows.map((row: object) => Object.values(row)[0]).join('\n');
    expect(plan).toContain('callbacks_account');
    expect(plan).not.toMatch(/actual [^)]*rows=\d{2}|Removed by Filter: \d{2}/);
  });
});

/** Expects that a create refuses this address for callbacks. */
async function refusedAddress(address: string): Promise<void> {
  const { status, json } = await api.create({ metadata: { callback_url: address } });
  expect([address, status, json.error?.code]).toEqual([address, 400, 'invalid_value']);
  expect(json.error.param).toBe('metadata.callback_url');
  expect(json.error.message).toMatch(/^metadata\.callback_url: \S/);
}

/** Expects that the refused create stores no task and connects to no address. */
async function storesNothing(refused: () => Promise<void>): Promise<void> {
  const stored = async () => (await api.db('tasks').count())[0]?.count;
  const before = await stored();
  await refused();
  expect(await stored()).toBe(before);
  expect(canaries.connections()).toBe(0);
}

test.each(insideHosts)(
  'a create with a callback or upload address on the host %s is refused and stores nothing',
  async (host) => {
    await storesNothing(async () => {
      for (const scheme of ['https', 'http']) {
        for (const port of ['', `:${canaries.port}`]) {
          await refusedAddress(`${scheme}://${host}${port}/hook`);
        }
      }
    });
  },
);

test.each([...brokenUrls, 'http://example.com/hook', `https://example.com/${'a'.repeat(4_077)}`])(
  'a create with the callback or upload address %j is refused and stores nothing',
  (address) => storesNothing(() => refusedAddress(address)),
);

test.each(publicHosts)(
  'a create with a callback and an upload address on the host %s is accepted',
  async (host) => {
    const { status } = await api.create({
      ...textBody,
      metadata: { callback_url: `https://${host}:8443/hook?key=1` },
    });
    expect(status).toBe(200);
  },
);
