// A finished task says how long each part of its life took, and a task gives back what was sent for it.

import { taskSchema } from '../../src/contract/reply-schema';
import { closeTask } from '../../src/money/ledger.rows';
import { forgetTasks } from '../../src/tasks/forget.rows';
import { failPending } from '../../src/tasks/pending.rows';
import { startApi, type TestApi } from '../support/api';
import { aClosing, anOpening, changeMovements, openNew, storePending } from '../support/books';
import { aTaskId } from '../support/builders';
import { call } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const read = async (id: string) =>
  taskSchema.parse((await api.call('GET', `/v1/videos/generations/${id}`)).json);

const ago = (seconds: number) => `now() - interval '${seconds} seconds'`;

/** An open task that was created 100 s ago and opened at once. */
async function anOpenTask(): Promise<string> {
  const id = aTaskId();
  await openNew(api.db, anOpening(api.accountId, id, 100));
  await api.db.raw(`update tasks set created_at = ${ago(100)} where id = ?`, [id]);
  await changeMovements(api.db, `set created_at = ${ago(97)} where task_id = ?`, [id]);
  return id;
}

const whole = (timings: object) =>
  Object.values(timings).reduce((sum: number, seconds: number) => sum + seconds, 0) as number;

describe('the timings of a finished task', () => {
  test('are those of its parts, and add up to its life', async () => {
    const { db } = api;
    const id = await anOpenTask();
    await db.raw(`update jobs set opened_at = ${ago(90)} where task_id = ?`, [id]);
    await db.raw(
      `insert into jobs (task_id, kind, account_id, waiting_since, sent_at, opened_at)
       values (?, 'super_resolution', ?, ${ago(50)}, ${ago(20)}, ${ago(19)})`,
      [id, api.accountId],
    );
    await db.raw(
      `insert into files (id, account_id, task_id, role, media, key, link_token, created_at, expires_at)
       values (?, ?, ?, 'video', 'video', ?, ?, ${ago(8)}, now() + interval '1 day')`,
      [`file_${id}`, api.accountId, id, id, id],
    );
    expect((await read(id)).timings).toBeUndefined();
    await closeTask(db, aClosing(id, 100, 40));
    const { timings = { queued: 0 }, ...task } = await read(id);
    expect(task.status).toBe('succeeded');
    const { stored = 0, ...others } = timings;
    expect(others).toEqual({
      queued: expect.closeTo(3, 0),
      placed: expect.closeTo(7, 0),
      generated: expect.closeTo(40, 0),
      enhanced: expect.closeTo(42, 0),
    });
    expect(stored).toBeGreaterThanOrEqual(8);
    expect(whole(timings)).toBeGreaterThanOrEqual(99.9);
  });

  test('lack the parts that it did not reach', async () => {
    const { db } = api;
    const unplaced = await anOpenTask();
    await closeTask(db, aClosing(unplaced, 100, null));
    expect(Object.keys((await read(unplaced)).timings ?? {})).toEqual(['queued', 'placed']);
    const pending = aTaskId();
    await storePending(db, anOpening(api.accountId, pending, 100));
    await failPending(db, pending, 'no');
    expect(Object.keys((await read(pending)).timings ?? {})).toEqual(['queued']);
  });

  test('stay when the task is forgotten', async () => {
    const { db } = api;
    const id = await anOpenTask();
    await closeTask(db, aClosing(id, 100, 40));
    const { timings } = await read(id);
    const { rows } = await db.raw('select id, object from tasks where id = ?', [id]);
    await forgetTasks(db, rows);
    expect((await read(id)).timings).toEqual(timings);
  });
});

describe('GET /v1/videos/generations/{id}/request', () => {
  const path = (id: unknown) => `/v1/videos/generations/${String(id)}/request`;
  const body = {
    model: 'studio-2.0',
    prompt: 'A cat <b>',
    ratio: '16:9',
    image: 'https://example.com/cat.png',
    metadata: {
      ...{ seed: 7, watermark: true, labels: { order: '1' }, camera: { pan: [1] } },
      super_resolution_config: { resolution: '1080p' },
    },
  };

  test('gives the create, which asks for the same video when it is sent again', async () => {
    const created = await api.call('POST', '/v1/videos/generations', body);
    const { status, json } = await api.call('GET', path(created.json.id));
    expect(status).toBe(200);
    const { image, metadata, ...rest } = body;
    expect(json).toMatchObject({ ...rest, images: [image], metadata });
    const again = await api.call('POST', '/v1/videos/generations', json);
    expect(again.status).toBe(200);
    expect((await api.call('GET', path(again.json.id))).json).toEqual(json);
    // An equal request: its key answers the first task.
    const key = { 'idempotency-key': 'again' };
    const first = await api.call('POST', '/v1/videos/generations', body, key);
    const repeated = await api.call('POST', '/v1/videos/generations', json, key);
    expect(repeated.json.id).toBe(first.json.id);
  });

  test('is for its owner only, and ends when the task is forgotten', async () => {
    const created = await api.call('POST', '/v1/videos/generations', body);
    const { id } = created.json;
    const { apiKey } = await api.anAccount();
    const other = await call(api.url, apiKey, 'GET', path(id));
    expect([other.status, other.json.error.code]).toEqual([404, 'task_not_found']);
    await api.finish(id);
    const { rows } = await api.db.raw('select id, object from tasks where id = ?', [id]);
    await forgetTasks(api.db, rows);
    const gone = await api.call('GET', path(id));
    expect([gone.status, gone.json.error.code]).toEqual([410, 'request_removed']);
  });
});
