// The alerts of an account: when the balance or a budget crosses a limit, its webhook gets one signed
// message. The creates come through the API, and the worker acts with its own database role.

import type { Knex } from 'knex';
import { Webhook } from 'standardwebhooks';
import { createHostShare } from '../../activities/callbacks/per-host-limit';
import type { ActivityEvents } from '../../activities/events';
import { alertDeliveries } from '../../activities/owed/send-alerts';
import { setBudget, setTimeZone } from '../../src/accounts/budgets.rows';
import { setTerms } from '../../src/accounts/terms.rows';
import { alertLowBalances, forgetAlerts } from '../../src/callbacks/alerts.rows';
import { createWebhook } from '../../src/callbacks/webhooks.rows';
import type { WebhookEvent } from '../../src/contract/webhook-schema';
import { connect } from '../../src/database/database';
import { activitySettings, stopping } from '../support/activity-settings';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { fulfilDue } from '../support/owed';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
let worker: Knex;
let sink: CallbackSink;
beforeAll(async () => {
  api = await startApi();
  worker = connect({ url: api.database.workerUrl, poolMax: 4, applicationName: 'worker' });
});
beforeEach(async () => {
  sink = await startCallbackSink();
});
afterEach(async () => {
  await sink.close();
  expect(api.failures).toEqual([]);
});
afterAll(async () => {
  await worker?.destroy();
  await api?.close();
});

// What the example task holds.
const hold = 5_091_418;

async function anAccount(credit: number, events: readonly WebhookEvent[] | null) {
  const { accountId, apiKey } = await api.anAccount(credit);
  const hook = { accountId, url: sink.url, max: 10, nowMs: Date.now() };
  const webhook = events && (await createWebhook(api.db, { ...hook, events }));
  const ask = (method: string, path: string, body?: unknown) =>
    call(api.url, apiKey, method, path, body);
  return {
    accountId,
    secret: webhook?.secret ?? '',
    ask,
    async create() {
      const { status, json } = await ask('POST', create, textBody);
      await api.opened(json.id);
      return { status, id: String(json.id) };
    },
    budget: (period: 'day' | 'total', limitMicros: number) =>
      setBudget(api.db, { accountId, keyId: null, period, limitMicros }),
  };
}

/** What the loops of a worker do: the run of the reconciler, and the alerts that are due. */
async function work(): Promise<void> {
  await alertLowBalances(worker);
  const events = { callbackAttempt: () => undefined } as unknown as ActivityEvents;
  const settings = { ...activitySettings, dangerouslyAllowHosts: [sink.hostPort] };
  const hostShare = createHostShare(() => performance.now());
  const deps = { db: worker, events, now: Date.now, settings, stopping, hostShare };
  await fulfilDue(alertDeliveries(deps));
}

/** Works until so many messages have come. A create does not wait until its alerts are stored. */
const announced = (count: number) =>
  until(`${count} messages`, async () => {
    await work();
    return sink.received.length >= count;
  });

const messages = () => sink.received.map(({ body }) => JSON.parse(body));
const types = () => messages().map(({ type }) => type);

test('a balance that falls below the limit, rises and falls again is announced twice, with a signature', async () => {
  const { accountId, secret, ask, create } = await anAccount(3 * hold, ['balance.low']);
  const set = await ask('POST', '/v1/account/alerts', { below: '10.50' });
  expect(set.json).toEqual({ below: '10.500000', data: [] });
  await work();
  expect(messages()).toEqual([]);
  for (const _ of [1, 2]) {
    const { id } = await create();
    for (const __ of [1, 2]) await work();
    await api.finish(id);
    await work();
  }
  const data = {
    account_id: accountId,
    available: '10.182836',
    below: '10.500000',
    currency: 'CNY',
  };
  const message = { type: 'balance.low', timestamp: expect.any(String), data };
  expect(messages()).toEqual([message, message]);
  const [first, second] = sink.received;
  const verify = ({ body, headers } = first!) =>
    new Webhook(secret).verify(body, headers as Record<string, string>);
  expect(verify(first)).toEqual(message);
  expect(first?.headers['webhook-id']).not.toBe(second?.headers['webhook-id']);
  const shown = await ask('GET', '/v1/account/alerts');
  expect(shown.json.data).toEqual(
    [second, first].map((received) => ({
      id: received?.headers['webhook-id'],
      type: 'balance.low',
      created_at: expect.any(Number),
      ...{ state: 'delivered', attempts: 1, status: 204, error: null },
      data: { available: '10.182836', below: '10.500000', currency: 'CNY' },
    })),
  );
});

test('a balance that swings around its limit is announced once, until it was a tenth above', async () => {
  const { accountId } = await anAccount(0, ['balance.low']);
  await setTerms(api.db, accountId, { alertBelowMicros: 10_000_000 });
  const seen = [];
  for (const available of [
    9_999_999, 10_000_000, 9_000_000, 10_999_999, 0, 11_000_000, 9_999_999,
  ]) {
    await api.db('balances').where({ account_id: accountId }).update({ available });
    await work();
    seen.push(messages().length);
  }
  expect(seen).toEqual([1, 1, 1, 1, 1, 1, 2]);
});

test('another limit of the balance is another crossing, and without a limit nothing is announced', async () => {
  const { accountId, ask, create } = await anAccount(3 * hold, ['balance.low']);
  await create();
  await work();
  await setTerms(api.db, accountId, { alertBelowMicros: 11_000_000 });
  await work();
  await setTerms(api.db, accountId, { alertBelowMicros: 12_000_000 });
  await work();
  expect(messages().map(({ data }) => data.below)).toEqual(['11.000000', '12.000000']);
  expect((await ask('POST', '/v1/account/alerts', { below: null })).json.below).toBeNull();
  await create();
  await work();
  expect(messages()).toHaveLength(2);
});

test('a create that brings a day budget to 80% announces it once, and the next day again', async () => {
  const { accountId, create, budget } = await anAccount(1_000 * hold, ['budget.near']);
  await budget('day', 100 * hold);
  await create();
  await work();
  expect(messages()).toEqual([]);
  await budget('day', Math.floor((2 * hold) / 0.8));
  await create();
  await announced(1);
  expect(messages()).toMatchObject([
    {
      type: 'budget.near',
      data: {
        ...{ account_id: accountId, key_id: null, period: 'day', currency: 'CNY' },
        ...{ limit: '12.728545', spent: '0.000000', held: '10.182836' },
      },
    },
  ]);
  // The budget has room for no further task, and for none after it.
  for (const _ of [1, 2, 3]) expect((await create()).status).toBe(402);
  await work();
  expect(types()).toEqual(['budget.near']);
  // The day of another zone ends at another time.
  await setTimeZone(api.db, accountId, 'Pacific/Kiritimati');
  await create();
  await announced(2);
  expect(types()).toEqual(['budget.near', 'budget.near']);
});

test('a hundred creates after a crossing announce nothing more', async () => {
  const { create, budget } = await anAccount(1_000 * hold, ['budget.near', 'budget.reached']);
  await budget('total', 5 * hold);
  await Promise.all(Array.from({ length: 100 }, create));
  await announced(2);
  expect(new Set(types())).toEqual(new Set(['budget.near', 'budget.reached']));
  expect(sink.received).toHaveLength(2);
});

test('a refused create announces that the budget is reached', async () => {
  const { create, budget } = await anAccount(1_000 * hold, ['budget.reached']);
  await budget('total', hold - 1);
  expect((await create()).status).toBe(402);
  await announced(1);
  expect(messages()).toMatchObject([
    { type: 'budget.reached', data: { period: 'total', spent: '0.000000', held: '0.000000' } },
  ]);
});

test('a webhook that does not list the event gets no alert, and a later one gets that of a crossing that lasts', async () => {
  const { accountId, create, budget } = await anAccount(2 * hold, ['succeeded', 'failed']);
  await setTerms(api.db, accountId, { alertBelowMicros: 2 * hold });
  await budget('day', hold);
  await create();
  await create();
  await work();
  expect(messages()).toEqual([]);
  const events = ['balance.low'] as const;
  const hook = { accountId, url: sink.url, max: 10, nowMs: Date.now() };
  await createWebhook(api.db, { ...hook, events });
  await work();
  expect(types()).toEqual(['balance.low']);
});

test('an alert that cannot be read ends, and the others are sent', async () => {
  const { accountId, create } = await anAccount(2 * hold, ['balance.low', 'budget.near']);
  await setTerms(api.db, accountId, { alertBelowMicros: 2 * hold });
  await create();
  const broken = { account_id: accountId, event: 'budget.near', subject: 'x', until: 'infinity' };
  const data = { currency: 'CNY', period: 'day', limitMicros: 'much' };
  await api.db('alerts').insert({ id: 'alert_broken', ...broken, data });
  await work();
  expect(types()).toEqual(['balance.low']);
  expect(await api.db('alerts').where({ id: 'alert_broken' }).first()).toMatchObject({
    state: 'stopped',
  });
});

test('an alert reaches a receiver that was down for an hour, with the same id and body', async () => {
  const { accountId, create, ask } = await anAccount(2 * hold, ['balance.low']);
  await setTerms(api.db, accountId, { alertBelowMicros: 2 * hold });
  sink.answer = (_, response) => void response.writeHead(503).end('closed');
  await create();
  const waits = [];
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await work();
    const left = api.db.raw('extract(epoch from due_at - now())::float8 as seconds');
    waits.push((await api.db('alerts').where({ account_id: accountId }).first(left)).seconds);
    await api.db('alerts').where({ account_id: accountId }).update('due_at', api.db.fn.now());
  }
  // 5 seconds, 5 minutes and 30 minutes, each with a fifth more or less.
  expect(waits[2]).toBeGreaterThan(23 * 60);
  expect((await ask('GET', '/v1/account/alerts')).json.data).toMatchObject([
    { state: 'pending', attempts: 3, status: 503, error: 'HTTP 503' },
  ]);
  sink.answer = (_, response) => void response.writeHead(204).end();
  await work();
  expect(sink.received).toHaveLength(4);
  expect(new Set(sink.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await work();
  expect(sink.received).toHaveLength(4);
});

test('an alert whose webhook was deleted stops, and is forgotten when its crossing is long over', async () => {
  const { accountId, create, ask } = await anAccount(2 * hold, ['balance.low']);
  await setTerms(api.db, accountId, { alertBelowMicros: 1.5 * hold });
  const { id } = await create();
  await alertLowBalances(worker);
  await api.db('webhooks').where({ account_id: accountId }).delete();
  await work();
  const shown = async () => (await ask('GET', '/v1/account/alerts')).json.data;
  expect(await shown()).toMatchObject([{ state: 'stopped', status: null }]);
  await forgetAlerts(worker, 0);
  expect(await shown()).toHaveLength(1);
  await api.finish(id);
  await work();
  await forgetAlerts(worker, 0);
  expect(await shown()).toEqual([]);
});

test.each([
  [{}, 'missing_required_parameter', 'below'],
  [{ below: 'much' }, 'invalid_value', 'below'],
  [{ below: '-1' }, 'invalid_value', 'below'],
  [{ below: 20 }, 'invalid_value', 'below'],
  [{ below: '1.0000001' }, 'invalid_value', 'below'],
  [{ below: '1', above: '2' }, 'invalid_value', 'above'],
])('the alerts %j are refused', async (body, code, param) => {
  const { status, json } = await api.call('POST', '/v1/account/alerts', body);
  expect([status, json.error]).toMatchObject([400, { code, param }]);
});
