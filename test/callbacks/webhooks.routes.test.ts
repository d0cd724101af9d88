// Tests of an account's webhooks, and of the choice of the webhook when a task ends. The delivery is
// tested in test/activities.

import { findCallback, findDelivery } from '../../src/callbacks/callbacks.rows';
import { startApi, type TestApi } from '../support/api';
import { aFinalTask, dueCallbacks } from '../support/callbacks';
import { brokenUrls, insideHosts } from '../support/hosts';
import { until } from '../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
afterEach(async () => {
  expect(api.failures).toEqual([]);
  await api.db('webhooks').delete();
});

const url = 'https://consumer.example.com/hook';
const add = (body: unknown = { url }) => api.call('POST', '/v1/webhooks', body);
const list = async () => (await api.call('GET', '/v1/webhooks')).json.data;
const aTask = (callbackUrl: string | null = null) =>
  aFinalTask(api, callbackUrl, { accountId: api.accountId });
const callbackOf = async (id: string) =>
  (await api.db('callbacks').where({ task_id: id }).select('url', 'webhook_id'))[0];
const resend = (id: string) => api.call('POST', `/v1/videos/generations/${id}/callbacks/resend`);
const logOf = async (id: string) =>
  (await api.call('GET', `/v1/videos/generations/${id}/callbacks`)).json;

test('a webhook shows its secret only when it is created', async () => {
  const { status, json } = await add();
  const { secret, ...shown } = json;
  expect(status).toBe(201);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(shown).toEqual({
    id: expect.stringMatching(/^hook_/),
    object: 'webhook',
    url,
    events: ['succeeded', 'failed'],
    created_at: expect.any(Number),
  });
  expect(await list()).toEqual([shown]);
});

test('a webhook gets the callback of a task without an address, and not that of another task', async () => {
  const { json } = await add();
  expect(await callbackOf(await aTask())).toEqual({ url, webhook_id: json.id });
  const own = 'https://own.example.com/';
  expect(await callbackOf(await aTask(own))).toEqual({ url: own, webhook_id: null });
});

test('a webhook gets only the final states that it takes, and the newest of several gets the message', async () => {
  await add({ url, events: ['failed'] });
  const none = await aTask();
  expect(await callbackOf(none)).toBeUndefined();
  expect((await logOf(none)).state).toBeNull();
  await add({ url: `${url}?old` });
  const newest = await add({ url: `${url}?new`, events: ['succeeded', 'succeeded'] });
  expect(newest.json.events).toEqual(['succeeded']);
  expect(await callbackOf(await aTask())).toMatchObject({ webhook_id: newest.json.id });
});

test('the webhook of an account gets nothing of another account', async () => {
  await add();
  const { accountId } = await api.anAccount();
  expect(await callbackOf(await aFinalTask(api, null, { accountId }))).toBeUndefined();
});

test('the callback log names the webhook, also before the task has ended', async () => {
  const { json } = await add();
  const running = await aFinalTask(api, null, { accountId: api.accountId, final: false });
  expect(await logOf(running)).toMatchObject({ state: 'pending', webhook_id: null });
  expect(await logOf(await aTask())).toMatchObject({ state: 'pending', webhook_id: json.id });
  expect(await logOf(await aTask(url))).toMatchObject({ state: 'pending', webhook_id: null });
});

test('a cancelled pending task has a delivery to a webhook that is due at once', async () => {
  await add();
  api.temporal.answer = 'unanswered';
  const { json } = await api.create();
  await api.call('DELETE', `/v1/videos/generations/${json.id}`);
  api.temporal.answer = 'accept';
  expect(await dueCallbacks(api.db)).toContain(json.id);
});

test('a deleted webhook gets no more messages, and a resend without another webhook is refused', async () => {
  const { json } = await add();
  const before = await aTask();
  const { status, json: deleted } = await api.call('DELETE', `/v1/webhooks/${json.id}`);
  expect([status, deleted]).toEqual([200, { id: json.id, object: 'webhook', deleted: true }]);
  expect(await list()).toEqual([]);
  expect(await callbackOf(await aTask())).toBeUndefined();
  await add({ url, events: ['failed'] });
  const resent = await resend(before);
  expect([resent.status, resent.json.error.code]).toEqual([409, 'callback_not_found']);
  expect(resent.json.error.message).toContain('webhook of this message was deleted');
});

test('a message whose webhook was replaced is sent again to the new one, and signed with its secret', async () => {
  const old = await add();
  const id = await aTask();
  const replacement = await add({ url: `${url}?new` });
  expect((await resend(id)).json).toMatchObject({ webhook_id: old.json.id });
  await api.call('DELETE', `/v1/webhooks/${old.json.id}`);
  await add({ url: `${url}?other`, events: ['failed'] });
  const { status, json } = await resend(id);
  expect([status, json.state, json.webhook_id]).toEqual([202, 'pending', replacement.json.id]);
  expect(await findDelivery(api.db, id, 3, 1)).toMatchObject({
    url: `${url}?new`,
    webhookId: replacement.json.id,
    secrets: [replacement.json.secret],
    deliveries: 3,
  });
  expect(await findCallback(api.db, id)).toMatchObject({ url: `${url}?new` });
});

test('a webhook of another account can be neither seen nor deleted', async () => {
  const { json } = await add();
  const { apiKey } = await api.anAccount();
  const authorization = `Bearer ${apiKey}`;
  const seen = await api.call('GET', '/v1/webhooks', undefined, { authorization });
  expect(seen.json.data).toEqual([]);
  const path = `/v1/webhooks/${json.id}`;
  const deleted = await api.call('DELETE', path, undefined, { authorization });
  expect([deleted.status, deleted.json.error.code]).toEqual([404, 'webhook_not_found']);
  expect(await list()).toHaveLength(1);
});

test.each(['hook_nothing', '%00', 'x'.repeat(2_000)])('%j is no webhook', async (id) => {
  const { status, json } = await api.call('DELETE', `/v1/webhooks/${id}`);
  expect([status, json.error.code]).toEqual([404, 'webhook_not_found']);
});

test('an empty list of events counts as absent, as in every request', async () => {
  expect((await add({ url, events: [] })).json.events).toEqual(['succeeded', 'failed']);
});

test.each([[undefined], [null], [[]], ['']])('%j is no address of a webhook', async (empty) => {
  const { status, json } = await add({ url: empty, events: [] });
  expect([status, json.error.param]).toEqual([400, 'url']);
});

test('an account may have ten webhooks', async () => {
  for (let n = 0; n < 10; n += 1) expect((await add()).status).toBe(201);
  const { status, json } = await add();
  expect([status, json.error.code]).toEqual([409, 'webhook_limit_reached']);
});

test('creates at the same time cannot exceed ten webhooks', async () => {
  const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await add()).status));
  expect(statuses.filter((status) => status === 201)).toHaveLength(10);
  expect(await list()).toHaveLength(10);
});

const testOf = (id: string, headers?: Record<string, string>) =>
  api.call('POST', `/v1/webhooks/${id}/test`, undefined, headers);

test('the test of a webhook shows what its receiver answered', async () => {
  const { json } = await add();
  const answer = { at: 1_795_256_035, status: 500, latency_ms: 38, error: 'HTTP 500' };
  const tested: string[] = [];
  api.temporal.tests = async (id) => {
    tested.push(id);
    return answer;
  };
  expect(await testOf(json.id)).toMatchObject({ status: 200, json: answer });
  expect(tested).toEqual([json.id]);
});

test('only the own webhooks of an account can be tested', async () => {
  const { json } = await add();
  const { apiKey } = await api.anAccount();
  const foreign = await testOf(json.id, { authorization: `Bearer ${apiKey}` });
  const unknown = await testOf('hook_nothing');
  api.temporal.tests = async () => null;
  const deletedMeanwhile = await testOf(json.id);
  for (const { status, json: said } of [foreign, unknown, deletedMeanwhile]) {
    expect([status, said.error.code]).toEqual([404, 'webhook_not_found']);
  }
});

test('a test that no worker runs in time answers 503', async () => {
  const { json } = await add();
  api.temporal.tests = async () => Promise.reject(new Error('late'));
  const { status, json: said, headers } = await testOf(json.id);
  expect([status, said.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
  expect(api.failures.splice(0)).toHaveLength(1);
});

test('a fourth test of an account at once is refused', async () => {
  const { json } = await add();
  let end: () => void = () => undefined;
  const ended = new Promise<null>((resolve) => {
    end = () => resolve(null);
  });
  let running = 0;
  api.temporal.tests = () => {
    running += 1;
    return ended;
  };
  const three = [1, 2, 3].map(() => testOf(json.id));
  await until('three tests run', () => running === 3);
  const { status, json: said } = await testOf(json.id);
  expect([status, said.error.code]).toEqual([429, 'rate_limited']);
  end();
  await Promise.all(three);
});

test.each<[unknown, string, string]>([
  [{}, 'missing_required_parameter', 'url'],
  [{ url: 7 }, 'invalid_value', 'url'],
  [{ url, events: ['running'] }, 'invalid_value', 'events'],
  [{ url, event: ['failed'] }, 'invalid_value', 'event'],
])('the webhook %j is refused with %s', async (body, code, param) => {
  const { status, json } = await add(body);
  expect([status, json.error.code]).toEqual([400, code]);
  expect(json.error.param).toContain(param);
  expect(await list()).toEqual([]);
});

test.each([
  ...insideHosts.map((host) => `https://${host}/hook`),
  ...brokenUrls,
  'http://example.com/hook',
])('a webhook at the address %j is refused', async (address) => {
  const { status, json } = await add({ url: address });
  expect([address, status, json.error?.param]).toEqual([address, 400, 'url']);
});
