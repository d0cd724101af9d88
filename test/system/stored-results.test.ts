// Tests the stored results of tasks through the whole service. The links of a succeeded task work
// even if the provider or the storage failed during the copy. A task without a copy fails. No task
// is generated or charged twice.

import { createHash } from 'node:crypto';
import { setTerms } from '../../src/accounts/terms.rows';
import { audit } from '../../src/money/audit.rows';
import { acceptedJobs } from '../support/accepted-jobs';
import { deleteDueFiles } from '../support/owed';
import { cancelTask, type Service, startService, textTask } from '../support/service';
import { timePasses } from '../support/time-passes';
import { until } from '../support/until';
import { failingStorage } from './failing-storage';

const storage = failingStorage();

let service: Service;
beforeAll(async () => {
  service = await startService({
    storage: storage.around,
    activitySlots: 4,
    copiesAtOnceMax: 2,
  });
});
afterAll(() => service?.close());
afterEach(async () => {
  storage.isAway = false;
  storage.isSlow = false;
  expect(service.failures).toEqual([]);
  expect((await audit(service.db)).differences).toEqual([]);
});

const notStored = async (id: string, outcome: string) =>
  service.events.filter(
    ({ name, args }) => name === 'resultNotStored' && args[0] === id && args[2] === outcome,
  );

const filesOf = ({ db }: Service, taskId: string) =>
  db('files').where({ task_id: taskId }).orderBy('role');

async function played(url: string) {
  const answer = await fetch(url);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const digest = createHash('sha256').update(bytes).digest();
  return { status: answer.status, type: answer.headers.get('content-type'), digest };
}

test('a finished task shows links of this service, and each link returns its file', async () => {
  const metadata = { return_last_frame: true };
  const { json } = await service.create(textTask({}, { metadata }));
  const task = await service.finished(json.id);
  const [video] = task.data;
  for (const [url, type] of [
    [video.url, 'video/mp4'],
    [video.last_frame_url, 'image/png'],
  ]) {
    expect(url).toMatch(`${service.url}/files/`);
    expect(await played(url)).toMatchObject({ status: 200, type });
  }
  const files = await filesOf(service, json.id);
  expect((await played(video.url)).digest).toEqual(files[1].sha256);
  const ends = files.map((row: { expires_at: Date }) => Math.floor(Number(row.expires_at) / 1_000));
  expect(video.expires_at).toBe(Math.min(...ends));
  expect(JSON.stringify(task)).not.toContain(new URL(service.studio.url).host);
});

test.each([7, 36_500])(
  'the results of an account are kept for the %i days in its terms',
  async (filesKeptDays) => {
    await setTerms(service.db, service.accountId, { filesKeptDays });
    const { json } = await service.create(textTask());
    const { data } = await service.finished(json.id);
    const [row] = await filesOf(service, json.id);
    const keptMs = Number(row.expires_at) - Number(row.created_at);
    // The time is counted from the end of the copy.
    expect(Math.floor(keptMs / 86_400_000)).toBe(filesKeptDays);
    expect(data[0].expires_at).toBe(Math.floor(row.expires_at.getTime() / 1_000));
    await setTerms(service.db, service.accountId, { filesKeptDays: null });
  },
);

test.each<[string, object]>([
  ['answers three times that the video is not ready', { code: 'video_not_ready', times: 3 }],
  ['answers 403 and 404 first', [{ status: 403 }, { status: 404 }] as object],
  ['stops after 1,000 bytes', { stop_after_bytes: 1_000 }],
  ['announces too many bytes', { claim_bytes: 10_000_000 }],
])('a video whose link at the provider %s is stored without a second job', async (_, result) => {
  const { json } = await service.create(textTask({ result }));
  const task = await service.finished(json.id);
  expect(task.status).toBe('succeeded');
  expect((await played(task.video_url)).status).toBe(200);
  expect(await acceptedJobs(service, json.id)).toBe(1);
  expect(await filesOf(service, json.id)).toMatchObject([{ state: 'stored' }]);
});

test('a video is still available an hour later although its link at the provider expired after five seconds', async () => {
  const { db, storage } = service;
  const { json } = await service.create(textTask({ link_life_s: 5 }));
  const task = await service.finished(json.id);
  const [row] = await filesOf(service, json.id);
  await until('the provider’s link is dead', async () => !(await fetch(row.source_url)).ok);
  await timePasses(db, json.id, 1);
  expect(await deleteDueFiles({ db, storage })).toBe(0);
  const { json: later } = await service.call('GET', `/v1/videos/generations/${json.id}`);
  expect(later.video_url).toBe(task.video_url);
  expect(await played(later.video_url)).toMatchObject({
    status: 200,
    type: 'video/mp4',
    digest: row.sha256,
  });
});

test('while the storage is unavailable, the stage of a task is "storing", and a cancellation does not prevent the success of the task', async () => {
  storage.isAway = true;
  const { json } = await service.create(textTask());
  const shown = async () =>
    (await service.call('GET', `/v1/videos/generations/${json.id}`)).json.stage;
  await until('it is being stored', async () => (await shown()) === 'storing');
  const cancel = await service.call('DELETE', `/v1/videos/generations/${json.id}`);
  expect([cancel.status, cancel.json.stage]).toEqual([200, 'storing']);
  storage.isAway = false;
  const task = await service.finished(json.id);
  expect(task).toMatchObject({ status: 'succeeded', billing: { charged: '5.009400' } });
  expect((await played(task.video_url)).status).toBe(200);
});

test('copies that a slow storage holds up keep no other task from its job, and all videos are stored in the end', async () => {
  storage.isSlow = true;
  const read = async (id: string) =>
    (await service.call('GET', `/v1/videos/generations/${id}`)).json as {
      status: string;
      stage?: string;
    };
  // More than the worker has slots.
  const held = await Promise.all(Array.from({ length: 6 }, () => service.create(textTask())));
  for (const { json } of held) {
    await until('it is being stored', async () => (await read(json.id)).stage === 'storing');
  }
  const { json: other } = await service.create(textTask({ run_s: 600 }));
  await until('its job runs', async () => (await read(other.id)).stage === 'generation');
  storage.isSlow = false;
  for (const { json } of held) expect((await service.finished(json.id)).status).toBe('succeeded');
  await cancelTask(service.call, other.id);
  expect((await service.finished(other.id)).status).toBe('failed');
}, 240_000);

test('a task whose video can never be fetched fails and is refunded, and its files are removed', async () => {
  const { db, storage: kept } = service;
  const { json } = await service.create(textTask({ result: { status: 404, times: 1_000 } }));
  await until('its copy failed', async () => (await notStored(json.id, 'failed')).length > 0);
  await db('files')
    .where({ task_id: json.id })
    .update({ created_at: db.raw(`created_at - interval '3 days'`) });
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    error: { code: 'task_error' },
    billing: { charged: '0.000000' },
  });
  expect(await notStored(json.id, 'given_up')).toHaveLength(1);
  expect(await acceptedJobs(service, json.id)).toBe(1);
  const [row] = await filesOf(service, json.id);
  expect((await fetch(`${service.url}/files/${row.link_token}.mp4`)).status).toBe(404);
  const deleteDue = async () => {
    await deleteDueFiles({ db, storage: kept });
    return filesOf(service, json.id);
  };
  // A worker may still copy it.
  expect(await deleteDue()).toMatchObject([{ state: 'awaited' }]);
  await db('files').where({ task_id: json.id }).update({ due_at: null });
  expect(await deleteDue()).toMatchObject([{ state: 'removed' }]);
});

test('a video is stored although its worker stops in the middle of the copy', async () => {
  const { json } = await service.create(
    textTask({ result: { bytes_per_s: 500, total_bytes: 1_000_000, times: 1 } }),
  );
  await until('the copy has begun', async () => (await filesOf(service, json.id)).length === 1);
  await service.stopWorker();
  await service.startWorker();
  const task = await service.finished(json.id);
  expect((await played(task.video_url)).status).toBe(200);
  expect(await acceptedJobs(service, json.id)).toBe(1);
});

describe('if the provider’s link expires before the copy is done', () => {
  /** Makes the storage fail and runs a task until its copy failed. Then its link expires. */
  async function anExpired(): Promise<string> {
    storage.isAway = true;
    const { json } = await service.create(textTask());
    await until('its copy failed', async () => (await notStored(json.id, 'failed')).length > 0);
    const { db, studio } = service;
    const source_url = `${studio.url}/files/an-expired-one.mp4`;
    const source_expires_at = db.raw(`now() - interval '1 second'`);
    await db('files').where({ task_id: json.id }).update({ source_url, source_expires_at });
    return json.id;
  }

  async function expectStored(taskId: string): Promise<void> {
    const task = await service.finished(taskId);
    expect(task.status).toBe('succeeded');
    expect((await played(task.video_url)).status).toBe(200);
    expect(await acceptedJobs(service, taskId)).toBe(1);
  }

  test('the video is copied from the new link that the provider gives', async () => {
    const id = await anExpired();
    storage.isAway = false;
    await expectStored(id);
  });

  test('the service waits while the provider cannot be reached, and then stores the video', async () => {
    const { worker } = service.catalogues;
    const away = Object.entries(worker.channels).map(([name, channel]) => [
      name,
      { ...channel, baseUrl: 'http://127.0.0.1:9' },
    ]);
    const id = await anExpired();
    service.catalogues.worker = { ...worker, channels: Object.fromEntries(away) };
    const asked = () =>
      service.events.filter(({ name, args: [request] }) => {
        const { operation, taskId } = request as { operation?: string; taskId?: string };
        return name === 'upstream' && operation === 'read' && taskId === id;
      }).length;
    const before = asked();
    try {
      storage.isAway = false;
      await until('the provider was asked', async () => asked() > before);
      expect(await filesOf(service, id)).toMatchObject([{ state: 'awaited' }]);
    } finally {
      service.catalogues.worker = worker;
    }
    await expectStored(id);
  });
});
