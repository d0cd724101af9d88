// A key that is limited to some channels pays for these channels only. Here another channel counts a
// thousand times as many tokens.

import type { Catalogue, Model } from '../../src/catalogue/catalogue.rules';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { theCatalogue } from '../support/catalogue';
import { call } from '../support/service';
import { until } from '../support/until';

const tiers = (tokens: number) => ({ '480p': tokens, '720p': tokens, '1080p': tokens });
const choice = (channel: string, tokens: number) => ({
  ...{ channel, upstreamModel: 'm' },
  meter: { perSecond: tiers(tokens) },
});

/** Both channels can enhance too, but only the dear one reaches 4k. */
function withTwoChannels(): Catalogue {
  const catalogue = theCatalogue();
  const model: Model = {
    ...catalogue.models['studio-2.0']!,
    channels: [choice('dear', 1_000_000), choice('cheap', 1_000)],
    modes: {},
  };
  const limit = {
    bases: model.resolutions,
    targets: ['1080p'],
    toolVersions: ['standard'],
  } as const;
  const superResolution = {
    ...catalogue.superResolution!,
    channels: ['dear', 'cheap'],
    limits: { cheap: limit },
  };
  return { ...catalogue, models: { 'studio-2.0': model }, superResolution };
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi({}, withTwoChannels);
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const quotes = '/v1/videos/quotes';
const body = { ...textBody, ratio: '16:9', duration: 4 };
const plainPriceOf = async (apiKey: string) =>
  (await call(api.url, apiKey, 'GET', '/v1/models')).json.data[0].plain_video.price;

test('a key is quoted, held and refused by the channels that it may use', async () => {
  const { apiKey } = await api.aKey({ channels: ['cheap'] });
  const own = (await call(api.url, apiKey, 'POST', quotes, body)).json;
  expect(own).toMatchObject({ tokens: 4_000, hold: '0.184000' });
  expect(own.plain_video.price).toBe('0.230000');
  expect((await call(api.url, api.apiKey, 'POST', quotes, body)).json.hold).toBe('184.000000');
  expect([await plainPriceOf(apiKey), await plainPriceOf(api.apiKey)]).toEqual([
    '0.230000',
    '230.000000',
  ]);

  const made = await call(api.url, apiKey, 'POST', create, body);
  const plan = await startedPlan(made.json.id);
  expect(plan?.channels.map(({ channel }) => channel)).toEqual(['cheap']);
  const read = () => call(api.url, apiKey, 'GET', `${create}/${made.json.id}`);
  await until('the task is opened', async () => (await read()).json.billing !== undefined);
  const task = await read();
  expect(task.json.billing.held).toBe('0.184000');
});

test('an account with a balance for its own channel only is not refused with 402', async () => {
  const { accountId, apiKey } = await api.anAccount(1_000_000);
  expect((await call(api.url, apiKey, 'POST', create, body)).json.error.code).toBe(
    'insufficient_balance',
  );
  await api
    .db('api_keys')
    .where({ account_id: accountId })
    .update({ channels: ['cheap'] });
  api.clock += 60_000;
  expect((await call(api.url, apiKey, 'POST', create, body)).status).toBe(200);
});

test('super-resolution is offered and planned by the enhancers that the key may use', async () => {
  const { apiKey } = await api.aKey({ channels: ['cheap'] });
  const enhanced = (resolution: string) => ({
    ...{ ...body, resolution: '720p' },
    metadata: { super_resolution_config: { resolution } },
  });
  const made = await call(api.url, apiKey, 'POST', create, enhanced('1080p'));
  const plan = await startedPlan(made.json.id);
  expect(plan?.enhancement?.channels).toEqual(['cheap']);
  expect((await call(api.url, api.apiKey, 'POST', create, enhanced('4k'))).status).toBe(200);
  const refused = await call(api.url, apiKey, 'POST', create, enhanced('4k'));
  expect([refused.status, refused.json.error.code]).toEqual([403, 'channel_not_allowed']);
  const { json } = await call(api.url, apiKey, 'GET', '/v1/models');
  expect(json.data[0].super_resolution.targets['720p']).toEqual(['1080p']);
});

/** The plan of a task, once its workflow was started. */
async function startedPlan(id: string) {
  const find = () => api.temporal.submitted.find(({ taskId }) => taskId === id);
  await until('the task is started', () => find() !== undefined);
  return find()?.plan;
}
