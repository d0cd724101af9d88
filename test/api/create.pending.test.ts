// Tests of creates that are answered before their workflow has stored the task as submitted. In
// some tests the database connection is cut, or the row of the task disappears.

import { taskIdForKey } from '../../src/db/ids';
import { create, startCutApi, type TestApi } from '../support/api';
import { storePending } from '../support/books';
import { aTaskInput } from '../support/builders';
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
afterEach(() => api.db.raw('drop function if exists withdraw cascade'));

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
  const before = api.temporal.submitted.length;
  expect((await api.create()).json.status).toBe('pending');
  // The create started at most one probe, and did not wait for the probe.
  expect(api.temporal.submitted.length - before).toBeLessThanOrEqual(1);
}

/** Deletes rows of tasks at the moment when they are marked as answered. */
async function withdrawWhenMarked(where: string): Promise<void> {
  await api.db.raw(`
    create function withdraw() returns trigger language plpgsql as $$
    begin
      delete from tasks where id = old.id;
      return null;
    end $$;
    create trigger withdraw before update on tasks for each row
      when (new.answered and not old.answered and ${where}) execute function withdraw()`);
}

test('while Temporal is unavailable, a create is answered without waiting for the start of its workflow', async () => {
  await withTemporalAway();
  let answer = () => {};
  api.temporal.gate = new Promise((resolve) => {
    answer = resolve;
  });
  const before = api.temporal.submitted.length;
  api.clock += 1_000;
  for (let n = 0; n < 20; n += 1) expect((await api.create()).json.status).toBe('pending');
  // One start per second probes whether Temporal is back.
  expect(api.temporal.submitted.length - before).toBe(1);
  answer();
});

test('if the database connection is cut after `answered` was set, the 503 to the create does not say that nothing is charged', async () => {
  await withTemporalAway();
  cutter.cutAt(marking, 'after');
  const { status, json, headers } = await api.create();
  expect(cutter.hasCut()).toBe(true);
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  expect(json.error.message).not.toContain('nothing is charged');
  const id = headers.get('location')?.split('/').at(-1);
  expect((await api.call('GET', `${create}/${id}`)).json.status).toBe('pending');
  expect(await api.db('tasks').select('answered').where({ id })).toEqual([{ answered: true }]);
});

test('a create whose row is deleted before the answer is a 503 without the task id', async () => {
  await withTemporalAway();
  await withdrawWhenMarked('true');
  const { status, json, headers } = await api.create();
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
  expect(json.error.message).toContain('Nothing is charged');
  expect(headers.get('location')).toBeNull();
});

test('a repeated create is stored again if the row of the first call was deleted in the meantime', async () => {
  expect((await api.create()).status).toBe(200);
  const [{ requestHash = '' } = {}] = await api.db('tasks').select('request_hash as requestHash');
  const taskId = taskIdForKey(api.accountId, 'meets-the-first');
  await withdrawWhenMarked(`old.id = '${taskId}'`);
  const first = await api.db.transaction();
  const input = aTaskInput({ accountId: api.accountId, taskId });
  await storePending(first, input, { requestHash });
  const second = api.create({}, { 'idempotency-key': 'meets-the-first' });
  await until('it waits for the first', async () => {
    const { rows } = await api.db.raw(`
      select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
  await first.commit();
  const { status, json } = await second;
  expect([status, json.id, json.status]).toEqual([200, taskId, 'submitted']);
});
