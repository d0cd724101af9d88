// Cuts the database connection while a call makes something that its repeat would make again. Creates
// and uploads have tests of their own (create.cut.test.ts, uploads.cut.test.ts).

import { startCutApi, type TestApi } from '../support/api';
import type { Cutter } from '../support/cutter';
import { call } from '../support/service';

let api: TestApi;
let cutter: Cutter;
beforeAll(async () => {
  ({ api, cutter } = await startCutApi());
  await api.db('api_keys').update({ manages_keys: true });
});
afterAll(async () => {
  await api?.close();
  await cutter?.close();
});

test.each([
  ['/v1/account/keys', {}, 'make_key'],
  ['/v1/webhooks', { url: 'https://callbacks.example/' }, 'COMMIT'],
])(
  'if the database connection is cut after POST %s was stored, the caller is told that this is not known, and not to repeat it',
  async (path, body, statement) => {
    const rows = async () => (await api.call('GET', path)).json.data.length;
    const before = await rows();
    cutter.cutAt(statement, 'after');
    const { status, json, headers } = await api.call('POST', path, body, {
      'idempotency-key': 'has-no-effect-here',
    });
    expect([status, json.error.code, cutter.hasCut()]).toEqual([503, 'outcome_unknown', true]);
    expect(headers.get('x-should-retry')).toBe('false');
    expect(await rows()).toBe(before + 1);
  },
);

test('if the connection is cut before the call has begun to make anything, the call may be repeated', async () => {
  const { apiKey } = await api.aKey({});
  cutter.cutAt('api_keys', 'after');
  const { status, json } = await call(api.url, apiKey, 'POST', '/v1/account/keys', {});
  expect([status, json.error.code, cutter.hasCut()]).toEqual([503, 'unavailable', true]);
});
