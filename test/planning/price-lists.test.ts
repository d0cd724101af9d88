// Prices for single customers: quotes, models, bills and plans show those of the caller's list.

import { parse, stringify } from 'yaml';
import { setTerms } from '../../src/accounts/terms.rows';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { missingLists } from '../../src/commands/load-catalogue';
import { startApi, type TestApi } from '../support/api';
import { catalogueText, parseCatalogue } from '../support/catalogue';
import { call } from '../support/service';

function catalogueWith(priceLists: object): Catalogue {
  const file = parse(catalogueText, { merge: true }) as object;
  return parseCatalogue(stringify({ ...file, priceLists }), {});
}

const catalogue = catalogueWith({
  partner: { factor: 0.8 },
  friend: {
    factor: 0.5,
    models: { 'studio-2.0': [{ perMillionTokens: '10' }] },
    superResolutionPerMinute: '0.30',
  },
});
let api: TestApi;
beforeAll(async () => {
  api = await startApi({}, () => catalogue);
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

async function aCustomer(priceList: string | null) {
  const { accountId, apiKey } = await api.anAccount();
  await setTerms(api.db, accountId, { priceList });
  return (method: string, path: string, body?: object) => call(api.url, apiKey, method, path, body);
}
const video = { model: 'studio-2.0', prompt: 'x', ratio: '16:9', resolution: '720p', duration: 5 };
const enhanced = {
  ...video,
  metadata: { super_resolution_config: { resolution: '1080p' } },
};

test.each([
  [null, '46.000000', '5.009400', '5.135450'],
  ['partner', '36.800000', '4.007520', '4.108360'],
  // Its own price of the model, and of a minute: 5 042 ms × 0.30 × 2 / 60 000.
  ['friend', '10.000000', '1.089000', '1.139420'],
])(
  'with the price list %s, the models, a quote and the bill of a task agree',
  async (list, price, hold, both) => {
    const ask = await aCustomer(list);
    const models = (await ask('GET', '/v1/models')).json.data as { id: string; prices: object[] }[];
    const model = models.find(({ id }) => id === 'studio-2.0') as never as {
      prices: { per_million_tokens: string }[];
      plain_video: object;
    };
    expect(model.prices[0]?.per_million_tokens).toBe(price);
    expect(model.plain_video).toMatchObject({ price: hold });
    const quote = (await ask('POST', '/v1/videos/quotes', video)).json;
    expect(quote).toMatchObject({ hold, plain_video: { price: hold } });
    expect((await ask('POST', '/v1/videos/quotes', enhanced)).json.hold).toBe(both);
    const { json } = await ask('POST', '/v1/videos/generations', video);
    await api.opened(json.id);
    expect((await ask('GET', `/v1/videos/generations/${json.id}`)).json.billing.held).toBe(hold);
    const { rows } = await api.db.raw(`select plan->>'priceList' as list from tasks where id = ?`, [
      json.id,
    ]);
    expect(rows).toEqual([{ list }]);
  },
);

test('an account whose list has left the catalogue gets no other price', async () => {
  const ask = await aCustomer('gone');
  for (const [method, path, body] of [
    ['GET', '/v1/models', undefined],
    ['POST', '/v1/videos/quotes', video],
    ['POST', '/v1/videos/generations', video],
  ] as const) {
    const { status, json } = await ask(method, path, body);
    expect([status, json.error.code]).toEqual([503, 'unavailable']);
    expect(json.error.message).toMatch(/price list of this account \(gone\)/);
  }
  expect((await ask('GET', '/v1/tasks')).json.data).toEqual([]);
  expect(await missingLists(api.db, catalogue)).toMatch(/no price list gone, which accounts have/);
  await api.db.raw(`update accounts set price_list = null where price_list = 'gone'`);
  expect(await missingLists(api.db, catalogue)).toBeNull();
});
