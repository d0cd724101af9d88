// Results of whole tasks. The links of a finished task work even if the provider or the storage failed
// during the copy, and no task is generated or charged twice.

import { createHash } from 'node:crypto';
import { removeExpired } from '../../activities/reconcile/expired-files';
import { setTerms } from '../../src/db/account-terms';
import { audit } from '../../src/db/ledger-audit';
import { failingStorage } from '../support/failing-storage';
import { type Service, startService, textTask } from '../support/service';
import { timePasses } from '../support/time-passes';
import { until } from '../support/until';

const storage = failingStorage();

let service: Service;
let hasty: Service;
beforeAll(async () => {
  service = await startService({ storage: storage.around });
  hasty = await startService({ storage: storage.around, storeWaitSeconds: 1 });
});
afterAll(async () => {
  await service?.close();
  await hasty?.close();
});
afterEach(async () => {
  storage.isAway = false;
  for (const { db, failures } of [service, hasty]) {
    expect(failures).toEqual([]);
    expect((await audit(db)).differences).toEqual([]);
  }
});

const filesOf = ({ db }: Service, taskId: string) =>
  db('files').where({ task_id: taskId }).orderBy('role');

async function played(url: string) {
  const answer = await fetch(url);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const digest = createHash('sha256').update(bytes).digest();
  return { status: answer.status, type: answer.headers.get('content-type'), digest };
}

const generations = async ({ studio, studioKey }: Service, taskId: string) => {
  const url = `${studio.url}/admin/accepted?client_request_id=${taskId}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${studioKey}` } });
  return ((await answer.json()) as { total: number }).total;
};

test('a finished task shows links of this service, and they play', async () => {
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
  const [, row] = await filesOf(service, json.id);
  expect((await played(video.url)).digest).toEqual(row.sha256);
  expect(video.expires_at).toBe(Math.floor(row.expires_at.getTime() / 1_000));
  expect(JSON.stringify(task)).not.toContain(new URL(service.studio.url).host);
});

test('the results of an account are kept for its own number of days', async () => {
  await setTerms(service.db, service.accountId, { filesKeptDays: 7 });
  const { json } = await service.create(textTask());
  await service.finished(json.id);
  const [row] = await filesOf(service, json.id);
  expect(Number(row.expires_at) - Number(row.created_at)).toBe(7 * 86_400_000);
  await setTerms(service.db, service.accountId, { filesKeptDays: null });
});

test.each<[string, object]>([
  ['is not ready three times', { code: 'video_not_ready', times: 3 }],
  ['answers 403 and 404 first', [{ status: 403 }, { status: 404 }] as object],
  ['stops midway', { stop_after_bytes: 1_000 }],
  ['claims a greater length', { claim_bytes: 10_000_000 }],
])('a provider whose link %s is asked again, and nothing is generated again', async (_, result) => {
  const { json } = await service.create(textTask({ result }));
  const task = await service.finished(json.id);
  expect(task.status).toBe('succeeded');
  expect((await played(task.video_url)).status).toBe(200);
  expect(await generations(service, json.id)).toBe(1);
  expect(await filesOf(service, json.id)).toMatchObject([{ state: 'stored' }]);
});

test('the video of a link that lives for five seconds plays an hour later', async () => {
  const { db, storage } = service;
  const { json } = await service.create(textTask({ link_life_s: 5 }));
  const task = await service.finished(json.id);
  const [row] = await filesOf(service, json.id);
  await until('the provider’s link is dead', async () => !(await fetch(row.source_url)).ok);
  await timePasses(db, json.id, 1);
  expect(await removeExpired({ db, storage })).toBe(0);
  const { json: later } = await service.call('GET', `/v1/videos/generations/${json.id}`);
  expect(later.video_url).toBe(task.video_url);
  expect(await played(later.video_url)).toMatchObject({
    status: 200,
    type: 'video/mp4',
    digest: row.sha256,
  });
});

test('while the storage is away a task is shown as storing, and a cancellation does not undo its success', async () => {
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

test('a task does not wait for a storage that stays away, and its links stay the same once the copy is done', async () => {
  storage.isAway = true;
  const { json } = await hasty.create(textTask());
  const task = await hasty.finished(json.id);
  expect(task).toMatchObject({ status: 'succeeded', billing: { charged: '5.009400' } });
  expect(await filesOf(hasty, json.id)).toMatchObject([{ state: 'awaited' }]);
  storage.isAway = false;
  await until('it is stored', async () => (await filesOf(hasty, json.id))[0]?.state === 'stored');
  expect((await played(task.video_url)).status).toBe(200);
  expect(await generations(hasty, json.id)).toBe(1);
});

test('a worker that stops in the middle of a copy loses nothing', async () => {
  const { json } = await service.create(
    textTask({ result: { bytes_per_s: 500, size_bytes: 1_000_000, times: 1 } }),
  );
  await until('the copy has begun', async () => (await filesOf(service, json.id)).length === 1);
  await service.stopWorker();
  await service.startWorker();
  const task = await service.finished(json.id);
  expect((await played(task.video_url)).status).toBe(200);
  expect(await generations(service, json.id)).toBe(1);
});

describe('a provider’s link that expires before the copy is done', () => {
  /** A task whose video is still to be copied, while the storage is away. */
  async function anAwaited(studio: Record<string, unknown> = {}): Promise<string> {
    storage.isAway = true;
    const { json } = await hasty.create(textTask(studio));
    await hasty.finished(json.id);
    expect(await filesOf(hasty, json.id)).toMatchObject([{ state: 'awaited' }]);
    return json.id;
  }
  const expire = (taskId: string, columns: object = {}) =>
    hasty
      .db('files')
      .where({ task_id: taskId })
      .update({ source_expires_at: hasty.db.raw(`now() - interval '1 second'`), ...columns });
  const stateOf = async (taskId: string) => (await filesOf(hasty, taskId))[0];
  const readTask = async (taskId: string) =>
    (await hasty.call('GET', `/v1/videos/generations/${taskId}`)).json;

  test('the copy goes on with the new link that the provider gives', async () => {
    const id = await anAwaited();
    await expire(id, { source_url: `${hasty.studio.url}/files/an-expired-one.mp4` });
    storage.isAway = false;
    await until('it is stored', async () => (await stateOf(id))?.state === 'stored');
    const task = await readTask(id);
    expect((await played(task.video_url)).status).toBe(200);
    expect(await generations(hasty, id)).toBe(1);
  });

  test('the task says that the video is lost if there is no other link', async () => {
    const id = await anAwaited({ result: { status: 403, times: 1_000 } });
    const { video_url: link } = await readTask(id);
    await expire(id);
    storage.isAway = false;
    await until('it is lost', async () => (await stateOf(id))?.state === 'removed');
    await until('the task says so', async () => (await readTask(id)).video_url === undefined);
    const task = await readTask(id);
    expect(task).toMatchObject({ status: 'succeeded', billing: { charged: '5.009400' } });
    expect(task.data[0].url_gone_reason).toBe('lost');
    expect((await played(link)).status).toBe(410);
  });

  test('nothing is given up while the provider cannot be asked', async () => {
    const id = await anAwaited();
    const { worker } = hasty.catalogues;
    const away = Object.entries(worker.channels).map(([name, channel]) => [
      name,
      { ...channel, baseUrl: 'http://127.0.0.1:9' },
    ]);
    hasty.catalogues.worker = { ...worker, channels: Object.fromEntries(away) };
    const asked = () =>
      hasty.events.filter(({ name, args: [request] }) => {
        const { operation, taskId } = request as { operation?: string; taskId?: string };
        return name === 'upstream' && operation === 'read' && taskId === id;
      }).length;
    const before = asked();
    try {
      await expire(id, { source_url: `${hasty.studio.url}/files/an-expired-one.mp4` });
      storage.isAway = false;
      await until('the provider was asked', async () => asked() > before);
      expect((await stateOf(id))?.state).toBe('awaited');
    } finally {
      hasty.catalogues.worker = worker;
    }
    await until('it is stored', async () => (await stateOf(id))?.state === 'stored');
  });
});
