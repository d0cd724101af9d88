// Tests of creates that are answered before their workflow has stored the task as submitted. In
// one test the database connection is cut.

import { create, startCutApi, type TestApi } from '../support/api';
import type { Cutter } from '../support/cutter';
import { until } from '../support/until';

let api: TestApi;
let cutter: Cutter;
beforeAll(async () => {
  ({ api, cutter } = await startCutApi());
});
afterAll(async () => {
  await api?.close();
  await cutter?.close();
});

beforeEach(() => {
  api.temporal.answer = 'accept';
  api.temporal.gate = undefined;
  api.clock += 60_000;
});

const marking = 'set answered = true';

/** Lets the API treat Temporal as away, so that creates no longer wait for their workflow. */
async function withTemporalAway(): Promise<void> {
  api.temporal.answer = 'unanswered';
  for (let n = 0; n < 3; n += 1) expect((await api.create()).json.status).toBe('pending');
}

/** Lets creates wait again. No task is left that the loop could start and not reach Temporal. */
async function withTemporalBack(): Promise<void> {
  await until('creates wait again', async () => (await api.create()).json.status === 'submitted');
  await until(
    'the loop has started every pending task',
    async () => (await api.db('tasks').whereNotNull('start_at')).length === 0,
  );
}

test('while Temporal is unavailable, creates are answered without a start of their workflow', async () => {
  await withTemporalAway();
  let answer = () => {};
  api.temporal.gate = new Promise((resolve) => {
    answer = resolve;
  });
  const before = api.temporal.submitted.length;
  const began = performance.now();
  for (let n = 0; n < 20; n += 1) expect((await api.create()).json.status).toBe('pending');
  // The loop of the starter starts one task a second, to find out whether Temporal is back.
  const seconds = Math.ceil((performance.now() - began) / 1_000);
  expect(api.temporal.submitted.length - before).toBeLessThanOrEqual(seconds);
  api.temporal.answer = 'accept';
  answer();
  await withTemporalBack();
});

test('if the database connection is cut after a task of the loop was stored, the 503 to the create does not say that nothing is charged', async () => {
  await withTemporalAway();
  cutter.cutAt('accept_task', 'after');
  const { status, json, headers } = await api.create();
  expect(cutter.hasCut()).toBe(true);
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  expect(json.error.message).not.toContain('nothing is charged');
  const id = headers.get('location')?.split('/').at(-1);
  expect(await api.db('tasks').select('answered').where({ id })).toEqual([{ answered: true }]);
});

test('if the database connection is cut after `answered` was set, the 503 to the create does not say that nothing is charged', async () => {
  await withTemporalBack();
  api.temporal.answer = 'unanswered';
  cutter.cutAt(marking, 'after');
  const { status, json, headers } = await api.create();
  expect(cutter.hasCut()).toBe(true);
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  expect(json.error.message).not.toContain('nothing is charged');
  const id = headers.get('location')?.split('/').at(-1);
  expect((await api.call('GET', `${create}/${id}`)).json.status).toBe('pending');
  expect(await api.db('tasks').select('answered').where({ id })).toEqual([{ answered: true }]);
});
