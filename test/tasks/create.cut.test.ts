// Cuts the database connection while a create stores its task. The API then cannot know whether the
// task was stored.

import { setBudget } from '../../src/accounts/budgets.rows';
import { createWebhook } from '../../src/callbacks/webhooks.rows';
import { create, startCutApi, type TestApi, textBody } from '../support/api';
import type { Cutter } from '../support/cutter';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
let cutter: Cutter;
beforeAll(async () => {
  ({ api, cutter } = await startCutApi());
  expect((await api.create()).status).toBe(200);
});
afterAll(async () => {
  await api?.close();
  await cutter?.close();
});

const key = (name: string) => ({ 'idempotency-key': name });
const storedIds = async () =>
  (await api.db('tasks').select('id').orderBy('id')).map(({ id }) => id as string);

/** The name of the statement that stores the task. */
const storing = 'accept_task';

test.each<[string, Record<string, string>]>([
  ['a key', key('not-repeated')],
  ['no key', {}],
])(
  'if the database connection is cut after a task was stored, a create with %s is told that its outcome is unknown, and the task runs',
  async (_, headers) => {
    cutter.cutAt(storing, 'after');
    const cut = await api.create({}, headers);
    expect(cutter.hasCut()).toBe(true);
    const { error } = cut.json;
    expect([cut.status, error.code, error.type]).toEqual([503, 'outcome_unknown', 'server_error']);
    expect(cut.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(cut.headers.get('x-should-retry')).toBe(String('idempotency-key' in headers));
    const id = cut.headers.get('location')?.split('/').at(-1) ?? '';
    expect(error.message).toContain(id);
    expect(await storedIds()).toContain(id);
    const read = async () => (await api.call('GET', `${create}/${id}`)).json;
    await until('it is opened', async () => (await read()).billing !== undefined);
  },
);

test('if the database connection is cut after a task was stored, a repeated call returns the same task', async () => {
  cutter.cutAt(storing, 'after');
  const first = await api.create({}, key('repeated'));
  expect([first.status, first.json.error.code]).toEqual([503, 'outcome_unknown']);
  const second = await api.create({}, key('repeated'));
  expect([second.status, second.json.status]).toEqual([200, 'submitted']);
  expect(first.headers.get('location')).toBe(second.headers.get('location'));
  expect((await storedIds()).filter((id) => id === second.json.id)).toHaveLength(1);
});

test('if the database connection is cut while a shape reads the created task, the caller learns its id', async () => {
  cutter.cutAt('find_asked_tasks', 'before', 9);
  const body = { model: 'studio-2.0', prompt: 'a lighthouse' };
  const { status, json, headers } = await api.call('POST', '/v1/videos', body);
  cutter.cutAt('nothing', 'before');
  expect([status, json.error.code]).toEqual([503, 'outcome_unknown']);
  const id = headers.get('location')?.split('/').at(-1);
  expect(json.error.message).toContain(id);
  expect(await storedIds()).toContain(id);
});

test('if the alert of a budget cannot be stored, its create is answered all the same, and the next create announces it', async () => {
  const { accountId, apiKey } = await api.anAccount();
  const url = 'https://callbacks.example/alerts';
  const hook = { accountId, url, max: 10, nowMs: Date.now() };
  await createWebhook(api.db, { ...hook, events: ['budget.near'] });
  const created = () => call(api.url, apiKey, 'POST', create, textBody);
  // The budget has room for one task.
  await setBudget(api.db, { accountId, keyId: null, period: 'total', limitMicros: 6_000_000 });
  cutter.cutAt('insert into alerts', 'before');
  const cut = await created();
  await until('the alert is cut', () => cutter.hasCut());
  expect([cut.status, cut.json.status]).toEqual([200, 'submitted']);
  expect(await api.db('alerts')).toEqual([]);
  expect((await created()).status).toBe(402);
  await until('it is announced', async () => (await api.db('alerts')).length === 1);
});

test('if the database connection is cut before a task is stored, nothing is stored, and a repeated call creates the task', async () => {
  const before = await storedIds();
  cutter.cutAt(storing, 'before');
  const cut = await api.create({}, key('never-stored'));
  expect([cut.status, cut.json.error.code]).toEqual([503, 'outcome_unknown']);
  expect(await storedIds()).toEqual(before);
  const second = await api.create({}, key('never-stored'));
  expect([second.status, second.json.status]).toEqual([200, 'submitted']);
});
