// Tests that a call at /mcp counts like the call of our own API that its tool is. The clock of the
// limits stands still.

import { setTerms } from '../../../src/accounts/terms.rows';
import { create, startApi, type TestApi, textBody } from '../../support/api';
import { createTestDatabase, type TestDatabase } from '../../support/database';

const rates = {
  changes: { perSecond: 1, burst: 5 },
  quotes: { perSecond: 2, burst: 10 },
  reads: { perSecond: 3, burst: 15 },
  lists: { perSecond: 4, burst: 20 },
};
const [changes, quotes, reads, lists] = [5, 10, 15, 20];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

let api: TestApi;
beforeEach(async () => {
  api = await startApi(rates, undefined, database);
});
afterEach(async () => {
  const { failures } = api;
  await api.close();
  expect(failures).toEqual([]);
});

const send = (body: unknown) =>
  api.call('POST', '/mcp', body, {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  });
const ask = (method: string, params: object) => send({ jsonrpc: '2.0', id: 1, method, params });
const tool = (name: string, given: object = {}) => ask('tools/call', { name, arguments: given });

/** The number of calls until one is refused. */
async function allowed(call: () => ReturnType<TestApi['call']>): Promise<number> {
  for (let count = 0; count < 50; count += 1) if ((await call()).status === 429) return count;
  throw new Error('No call is refused.');
}

const quoting = () => api.call('POST', '/v1/videos/quotes', textBody);
const changing = () => api.call('DELETE', `${create}/task_none`);
const reading = () => api.call('GET', `${create}/task_none`);

const unknown = { task_id: 'task_none' };
// What is left is of quotes, changes and reads. Each of the two refused calls has cost what let its
// body be read: a read, or a change if no reads were left.
const [afterQuotes, afterChanges, afterReads, afterLists] = [
  [0, changes, reads - 2],
  [quotes, 0, reads - 2],
  [quotes, changes - 2, 0],
  [quotes, changes, reads - 2],
];

test.each<[what: string, burst: number, ask: () => ReturnType<TestApi['call']>, left: number[]]>([
  ['`quote` counts as a quote', quotes, () => tool('quote', textBody), afterQuotes],
  ['`submit` counts as a change', changes, () => tool('submit', textBody), afterChanges],
  ['`cancel` counts as a change', changes, () => tool('cancel', unknown), afterChanges],
  ['an unknown tool counts as a change', changes, () => tool('sing'), afterChanges],
  ['the list of tools counts as a change', changes, () => ask('tools/list', {}), afterChanges],
  ['a body that is not JSON counts as a change', changes, () => send('{'), afterChanges],
  ['`status` counts as a read', reads, () => tool('status', unknown), afterReads],
  ['`result` counts as a read', reads, () => tool('result', unknown), afterReads],
  ['`models` counts as a list', lists, () => tool('models'), afterLists],
])('%s', async (_, burst, call, left) => {
  const { headers } = await call();
  expect(headers.get('ratelimit-limit')).toBe(String(burst));
  expect(headers.get('ratelimit-remaining')).toBe(String(burst - 1));
  expect(await allowed(call)).toBe(burst - 1);
  const refused = await call();
  expect(refused.json).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'rate_limited' } } });
  expect([await allowed(quoting), await allowed(changing), await allowed(reading)]).toEqual(left);
});

test('each kind is possible at /mcp as long as it has calls left itself', async () => {
  await allowed(reading);
  await allowed(changing);
  expect((await tool('quote', textBody)).status).toBe(200);
  expect((await tool('status', unknown)).status).toBe(429);
  await allowed(quoting);
  const { status, json } = await tool('submit', textBody);
  expect([status, json.error.data.code]).toEqual([429, 'rate_limited']);
});

test('the read rate of an account limits `status`', async () => {
  await setTerms(api.db, api.accountId, { readRate: 1 });
  expect(await allowed(() => tool('status', unknown))).toBe(5);
});
