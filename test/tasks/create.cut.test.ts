// Cuts the database connection while a create stores its task. The API then cannot know whether the
// task was stored.

import { failPending, listUnanswered } from '../../src/tasks/pending.rows';
import { create, startCutApi, type TestApi } from '../support/api';
import type { Cutter } from '../support/cutter';

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

test('if the database connection is cut after a task was stored, the create is a 503 with the task id, and a task whose call is not repeated is withdrawn', async () => {
  const before = api.temporal.submitted.length;
  cutter.cutAt(storing, 'after');
  const { status, json, headers } = await api.create({}, key('not-repeated'));
  expect(cutter.hasCut()).toBe(true);
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  // Another call with this key may have started the task.
  expect(json.error.message).toMatch(/not known/);
  expect(json.error.message).not.toContain('nothing is charged');
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  const id = headers.get('location')?.split('/').at(-1);
  expect(await storedIds()).toContain(id);
  expect((await api.call('GET', `${create}/${id}`)).json.status).toBe('pending');
  expect(api.temporal.submitted).toHaveLength(before);
  expect(await listUnanswered(api.db, -1, 9)).toEqual([id]);
  await failPending(api.db, id ?? '', 'withdrawn', 'unanswered');
  expect((await api.call('GET', `${create}/${id}`)).json.status).toBe('failed');
  const late = await api.create({}, key('not-repeated'));
  expect([late.status, late.json.id, late.json.status]).toEqual([200, id, 'failed']);
});

test('if the database connection is cut after a task was stored, a caller without a key learns that nothing is charged', async () => {
  cutter.cutAt(storing, 'after');
  const { status, json, headers } = await api.create();
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  expect(json.error.message).toMatch(/not known.*nothing is charged/);
  const id = headers.get('location')?.split('/').at(-1) ?? '';
  expect(await failPending(api.db, id, 'withdrawn', 'unanswered')).not.toBeNull();
});

test('if the database connection is cut after a task was stored, a repeated call returns the same task', async () => {
  cutter.cutAt(storing, 'after');
  const first = await api.create({}, key('repeated'));
  expect(first.status).toBe(503);
  const second = await api.create({}, key('repeated'));
  expect([second.status, second.json.status]).toEqual([200, 'pending']);
  expect(first.headers.get('location')).toBe(second.headers.get('location'));
  expect(await listUnanswered(api.db, -1, 9)).toEqual([]);
});

test('if the database connection is cut while a shape reads the created task, the caller learns its id', async () => {
  cutter.cutAt('find_asked_tasks', 'before', 9);
  const body = { model: 'studio-2.0', prompt: 'a lighthouse' };
  const { status, json, headers } = await api.call('POST', '/v1/videos', body);
  cutter.cutAt('nothing', 'before');
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  const id = headers.get('location')?.split('/').at(-1);
  expect(json.error.message).toContain(id);
  expect(await storedIds()).toContain(id);
});

test('if the database connection is cut before a task is stored, nothing is stored, and a repeated call creates the task', async () => {
  const before = await storedIds();
  cutter.cutAt(storing, 'before');
  expect((await api.create({}, key('never-stored'))).status).toBe(503);
  expect(await storedIds()).toEqual(before);
  const second = await api.create({}, key('never-stored'));
  expect([second.status, second.json.status]).toEqual([200, 'submitted']);
});
