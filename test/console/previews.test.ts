// Tests the reads with a body: what a create would cost through each channel, and what a changed catalogue
// would change. Both store nothing.

import { compareCatalogues } from '../../src/commands/admin/compare-catalogues';
import { adminWith } from '../support/admin';
import { catalogueText, dearerText } from '../support/catalogue';
import { startConsole, type TestConsole } from '../support/console';
import { textTask } from '../support/service';

let served: TestConsole;
let accountId: string;
const admin = adminWith(() => served.environment);

beforeAll(async () => {
  served = await startConsole();
  accountId = (await admin('accounts create --name Acme --credit 100 --json')).json.accountId;
});
afterAll(() => served?.close());

async function rowCounts(): Promise<unknown> {
  const tables = ['accounts', 'tasks', 'jobs', 'transfers', 'files', 'operator_log', 'loops'];
  const counts = tables.map((name) => `(select count(*)::int from ${name}) as ${name}`);
  const { rows } = await served.database.db.raw(`select ${counts.join(', ')}`);
  return (rows as unknown[])[0];
}

const routes = async (body: object, more: object = {}) =>
  (await served.as('operator', 'POST', '/routes', { body: JSON.stringify(body), ...more })).json
    .data;

const preview = async (text: string) => {
  const { status, json } = await served.as('operator', 'POST', '/catalogue/preview', { text });
  expect(status).toBe(200);
  return json.data;
};

test('routes say hold, charge, cost and slots of each channel, and refuse as a create does', async () => {
  const before = await rowCounts();
  const planned = await routes(textTask({}), { account: accountId });
  expect(planned).toMatchObject({
    ...{ model: 'studio-2.0', hold: '5.009400', currency: 'CNY', refusals: [] },
    routes: [{ channel: 'studio', refused: null, charged: '5.009400', waits: null, slotsUsed: 0 }],
  });
  const { refusals } = await routes({ model: 'none', prompt: 'x' });
  expect(refusals).toMatchObject([{ code: 'model_not_found', param: 'model' }]);
  expect((await routes({ model: 'studio-2.0' })).refusals).toMatchObject([{ param: 'prompt' }]);
  expect(await rowCounts()).toEqual(before);
  await admin('channels pause studio --why rotation');
  expect((await routes(textTask({}))).routes[0]).toMatchObject({
    waits: 'It is paused.',
    health: 'paused',
  });
  await admin('channels resume studio');
});

test('routes name the channels that a key may not use', async () => {
  const key = await admin(`keys create --account ${accountId} --channels studio-enhancer --json`);
  const { refusals } = await routes(textTask({}), { key: key.json.keyId });
  expect(refusals).toMatchObject([{ code: 'channel_not_allowed' }]);
  const { status, json } = await served.as('operator', 'POST', '/routes', { body: '[' });
  expect([status, json.error.param]).toEqual([400, 'body']);
});

test('a preview of the same catalogue says that nothing changes', async () => {
  expect(await preview(catalogueText)).toMatchObject({
    ...{ faults: [], models: [], channelsGone: [], channelsNew: [], listsGone: [], dearer: [] },
  });
});

test('a preview names each fault with its path', async () => {
  const { faults } = await preview(catalogueText.replace('currency: CNY', 'currency: 7'));
  expect(faults).toContainEqual({ path: 'currency', reason: expect.any(String) });
  const foreign = await preview(catalogueText.replace('currency: CNY', 'currency: USD'));
  expect(foreign.faults).toMatchObject([{ path: 'currency' }]);
  expect((await preview('a: [')).faults.length).toBeGreaterThan(0);
});

test('a preview tells no value of the environment', async () => {
  const address = (text: string) => catalogueText.replace(/baseUrl: .*/g, `baseUrl: "${text}"`);
  for (const text of [['$', '{DATABASE_URL}'].join(''), ['$', '{NOWHERE}/v1'].join('')]) {
    const { status, text: answer } = await served.as('operator', 'POST', '/catalogue/preview', {
      text: address(text),
    });
    expect([status, JSON.parse(answer).data.faults]).toEqual([200, []]);
    expect(answer).not.toContain('postgres:');
  }
});

test('a text that is too large to compare keeps nobody waiting, and is refused in the end', async () => {
  const text = `[${'1,'.repeat(400_000)}1]`;
  const order: number[] = [];
  const post = async () => {
    const answer = await served.as('operator', 'POST', '/catalogue/preview', { text });
    order.push(answer.status);
    return answer;
  };
  // One is compared at a time, so the other is refused at once.
  const both = [post(), post()];
  while (order.length === 0) {
    expect((await served.as('operator', 'GET', '/catalogue')).status).toBe(200);
  }
  const answers = await Promise.all(both);
  expect(order).toEqual([503, 200]);
  expect(answers.find(({ status }) => status === 200)?.json.data.faults).toEqual([
    { path: '', reason: expect.stringContaining('too large') },
  ]);
  expect((await preview('['.repeat(50_000))).faults.length).toBeGreaterThan(0);
  expect(await preview(catalogueText)).toMatchObject({ faults: [] });
});

test('a text that takes long to compare is given up after a time', async () => {
  const text = Array.from({ length: 80_000 }, (_, number) => `k${number}: 1`).join('\n');
  const compared = { text, loaded: catalogueText, currency: 'CNY', now: Date.now() };
  const { faults } = await compareCatalogues(compared, 500);
  expect(faults).toEqual([expect.stringContaining('too large')]);
});

test('a preview says what is dearer and for how many customers, and what disappears', async () => {
  const before = await rowCounts();
  expect(dearerText).not.toBe(catalogueText);
  const changed = await preview(dearerText);
  const [first] = changed.models;
  expect(Number(first.pricePerSecond.is)).toBeGreaterThan(Number(first.pricePerSecond.was));
  expect(Number(first.channels[0].is.charged)).toBeGreaterThan(
    Number(first.channels[0].was.charged),
  );
  const risen = changed.dearer.find((one: { model: string }) => one.model === first.model);
  expect(risen).toMatchObject({ list: null, customers: 1 });
  expect(Number(risen.is)).toBeCloseTo(2 * Number(risen.was), 4);
  expect(await rowCounts()).toEqual(before);
});

test('a preview of the mend of a broken catalogue shows everything as new', async () => {
  const broken = await startConsole({
    known: { database: served.database, owner: served.keys.owner },
    settings: { CATALOGUE_FILE: '/nowhere/catalogue.yaml' },
  });
  try {
    const { json } = await broken.as('owner', 'POST', '/catalogue/preview', {
      text: catalogueText,
    });
    expect(json).toMatchObject({ remark: expect.stringContaining('new'), data: { faults: [] } });
    expect(json.data.models[0].pricePerSecond.was).toBeNull();
    expect(json.data.channelsNew).toContain('studio');
  } finally {
    await broken.close();
  }
});

test('both are for operators', async () => {
  for (const path of ['/routes', '/catalogue/preview']) {
    expect((await served.as('viewer', 'POST', path, {})).status).toBe(403);
  }
});

test('the loaded catalogue is for viewers too, but without costs', async () => {
  const of = async (role: 'viewer' | 'operator') =>
    (await served.as(role, 'GET', '/catalogue')).text;
  expect(await of('operator')).toMatch(/"margin"/);
  const text = await of('viewer');
  expect(text).toContain('"charged"');
  expect(text).not.toMatch(/"(cost|margin|percent)"/);
});
