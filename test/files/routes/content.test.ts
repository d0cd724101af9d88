// Tests of deleting the content of a finished task by its owner. Afterwards the links answer 410,
// the bytes are deleted, and the task states the reason.

import { randomBytes } from 'node:crypto';
import { taskSchema } from '../../../src/contract/reply-schema';
import type { TaskObject } from '../../../src/contract/task';
import { StorageError } from '../../../src/files/storage/storage';
import { closeTask } from '../../../src/money/ledger.rows';
import { taskObject } from '../../../src/tasks/task.rules';
import { adminWith } from '../../support/admin';
import { create, startApi, type TestApi } from '../../support/api';
import { lengthOf, type Planted, plantFile } from '../../support/files';
import { deleteDueFiles } from '../../support/owed';
import { call } from '../../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const zero = '0.000000';

interface Finished {
  readonly id: string;
  readonly object: TaskObject;
  readonly video: Planted;
  readonly frame: Planted;
  readonly links: readonly string[];
}

/** A task that succeeded, with a video and a last frame. */
async function aFinished(columns: Readonly<Record<string, unknown>> = {}): Promise<Finished> {
  const { json } = await api.create();
  const id = json.id as string;
  const plant = (role: string, media: string) =>
    plantFile(api, randomBytes(1_000), {
      task_id: id,
      role,
      media,
      key: `results/${id}-${role}`,
      ...columns,
    });
  const video = await plant('video', 'video');
  const frame = await plant('last_frame', 'image');
  const links = [`${api.url}/files/${video.token}.mp4`, `${api.url}/files/${frame.token}.png`];
  const [url = '', lastFrame = ''] = links;
  const object = taskObject(
    { id, traceId: 't', model: 'studio-2.0', createdAt: 1_763_712_000 },
    {
      status: 'succeeded',
      finishedAt: 1_763_712_060,
      video: { url, last_frame_url: lastFrame, ratio: '16:9', expires_at: 1_766_304_000 },
      durationSeconds: 5,
      seed: null,
      usage: { completion_tokens: 1, total_tokens: 1 },
      billing: { currency: 'CNY', held: zero, charged: zero, refunded: zero, items: [] },
    },
  );
  const { plan } = api.temporal.submitted.find(({ taskId }) => taskId === id)!;
  await closeTask(api.db, { taskId: id, object, charge: [], heldMicros: plan.hold.amountMicros });
  const { timings } = await read(id);
  return { id, object: { ...object, timings }, video, frame, links };
}

const remove = (id: string, path = create) => api.call('DELETE', `${path}/${id}/content`);
const read = async (id: string) => (await api.call('GET', `${create}/${id}`)).json;
const lengths = ({ id }: Finished) =>
  Promise.all(
    ['video', 'last_frame'].map((role) => lengthOf(api.storage, `results/${id}-${role}`)),
  );

const goneAs = (reason: string, { object }: Finished) => {
  const { video_url: _, ...rest } = object;
  const gone = { url_gone_reason: reason, last_frame_url_gone_reason: reason };
  return { ...rest, data: [{ ...gone, ratio: '16:9' }] };
};

test.each([create, '/v1/video/generations'])(
  'DELETE %s/{id}/content deletes the video and the last frame at once, and a repeated call changes nothing',
  async (path) => {
    const task = await aFinished();
    expect(await read(task.id)).toEqual(task.object);
    for (let times = 0; times < 2; times += 1) {
      const { status, json } = await remove(task.id, path);
      expect([status, taskSchema.parse(json)]).toEqual([200, goneAs('deleted', task)]);
    }
    expect(await read(task.id)).toEqual(goneAs('deleted', task));
    const { json: list } = await api.call('GET', '/v1/tasks');
    expect(list.data[0]).toEqual(goneAs('deleted', task));
    expect(await lengths(task)).toEqual([null, null]);
    for (const link of task.links) {
      const reply = await fetch(link);
      expect([reply.status, await reply.json()]).toMatchObject([
        410,
        { error: { code: 'file_removed', message: expect.stringContaining('its owner') } },
      ]);
    }
  },
);

test('an expired result is shown like a deleted result, except for the reason', async () => {
  await deleteDueFiles(api);
  const task = await aFinished({ expires_at: api.db.raw(`now() - interval '1 minute'`) });
  expect(await deleteDueFiles(api)).toBe(2);
  expect(await read(task.id)).toEqual(goneAs('expired', task));
  expect(await lengths(task)).toEqual([null, null]);
  // A deletion after the expiry does not change the reason.
  expect((await remove(task.id)).json).toEqual(goneAs('expired', task));
});

test('a result that is not yet copied from the provider can be deleted too', async () => {
  const awaited = { state: 'awaited', source_url: 'https://videos.example.com/a.mp4' };
  const task = await aFinished(awaited);
  expect((await remove(task.id)).json).toEqual(goneAs('deleted', task));
  expect((await fetch(task.links[0]!)).status).toBe(410);
});

test('deleting the content of an unfinished task is a 409 that tells the caller to cancel the task first', async () => {
  const { json } = await api.create();
  const { status, json: refused } = await remove(json.id);
  expect([status, refused.error]).toEqual([
    409,
    {
      code: 'task_not_finished',
      type: 'invalid_request_error',
      param: 'task_id',
      message: expect.stringContaining(`DELETE /v1/videos/generations/${json.id}`),
    },
  ]);
  expect((await read(json.id)).status).toBe('submitted');
  expect(api.temporal.cancelled).not.toContain(json.id);
});

test('deleting the content of a failed task returns the unchanged task', async () => {
  const { json } = await api.create();
  await api.finish(json.id);
  const failed = await read(json.id);
  const { status, json: answered } = await remove(json.id);
  expect([status, answered]).toEqual([200, failed]);
});

test('deleting the content of another account’s task is the same 404 as for an unknown task, and deletes nothing', async () => {
  const task = await aFinished();
  const { apiKey } = await api.anAccount();
  const removeAs = (id: string) => call(api.url, apiKey, 'DELETE', `${create}/${id}/content`);
  const foreign = await removeAs(task.id);
  const unknown = await removeAs('task_00000000000000000000000000');
  expect([foreign.status, foreign.json.error.code]).toEqual([404, 'task_not_found']);
  expect([unknown.status, unknown.json]).toEqual([foreign.status, foreign.json]);
  expect(await read(task.id)).toEqual(task.object);
  expect(await lengths(task)).toEqual([1_000, 1_000]);
});

test('if the storage is unavailable, a deletion stops the links at once, and a repeated call deletes the bytes', async () => {
  const task = await aFinished();
  const failures = api.failures.length;
  const working = api.storage.remove;
  Object.assign(api.storage, {
    remove: () => Promise.reject(new StorageError('away', 'The storage is away.')),
  });
  try {
    const { status, headers } = await remove(task.id);
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect(api.failures.splice(failures)).toHaveLength(1);
  } finally {
    Object.assign(api.storage, { remove: working });
  }
  expect((await fetch(task.links[0]!)).status).toBe(410);
  expect(await lengths(task)).not.toEqual([null, null]);
  expect((await remove(task.id)).status).toBe(200);
  expect(await lengths(task)).toEqual([null, null]);
});

test('another API process shows the deletion of a result at once', async () => {
  const task = await aFinished();
  const other = await startApi({}, undefined, api.database);
  try {
    const readThere = async () =>
      (await call(other.url, api.apiKey, 'GET', `${create}/${task.id}`)).json;
    expect(await readThere()).toEqual(task.object);
    await remove(task.id);
    expect(await readThere()).toEqual(goneAs('deleted', task));
  } finally {
    await other.close();
  }
});

describe('an operator who removes one file', () => {
  const admin = adminWith(() => ({ DATABASE_URL: api.database.operatorUrl }));
  const status = async (link: string) => (await fetch(link)).status;

  test('ends the link of this result at once, and leaves the other result of the task', async () => {
    const task = await aFinished();
    const [video = '', frame = ''] = task.links;
    const { exitCode, json } = await admin(['files', 'remove', video, '--json']);
    expect([exitCode, json]).toEqual([
      0,
      { id: task.video.id, accountId: api.accountId, taskId: task.id },
    ]);
    expect([await status(video), await status(frame)]).toEqual([410, 200]);
    const { data } = await read(task.id);
    expect(data[0]).toMatchObject({
      url_gone_reason: 'removed_by_operator',
      last_frame_url: frame,
    });
    await deleteDueFiles(api);
    expect(await lengths(task)).toEqual([null, 1_000]);
    expect((await admin(['files', 'remove', video])).exitCode).toBe(1);
  });

  test('removes an upload by its id', async () => {
    const { id, key, token } = await plantFile(api, randomBytes(10));
    expect((await admin(`files remove ${id}`)).exitCode).toBe(0);
    expect(await status(`${api.url}/files/${token}.mp4`)).toBe(410);
    expect((await api.call('GET', `/v1/files/${id}`)).status).toBe(404);
    await deleteDueFiles(api);
    expect(await lengthOf(api.storage, key)).toBeNull();
    expect((await admin(`files remove ${id} --why abuse`)).exitCode).toBe(1);
    const { json } = await admin('log --json');
    expect(json[0].command).toContain(`files remove ${id}`);
  });
});
