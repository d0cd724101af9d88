// Whole tasks on channels that speak DashScope. The generator is the studio. A liar between them
// gives wrong answers. Afterwards the ledger agrees.

import { dashscopeCatalogue } from '../support/dashscope-catalogue';
import { type Exchange, lies } from '../support/liar';
import { liedToService } from '../support/lied-to-service';
import { until } from '../support/until';
import { sentEarlier } from '../support/upstream';

const request = { model: 'wan', prompt: 'a lighthouse at dusk', ratio: '16:9' };
const { service, liar, sample, script, jobsOf, ended } = liedToService({
  catalogue: dashscopeCatalogue,
  task: request,
});
beforeEach(() => script({}));

const isRead = ({ method, path }: Exchange) => method === 'GET' && /\/tasks\/[\w-]+$/.test(path);
const isCreate = ({ method, path }: Exchange) =>
  method === 'POST' && path.endsWith('/video-synthesis');

test('a task from a prompt succeeds, has a copy of the video and is billed by its seconds', async () => {
  const task = await ended({ duration: 8, metadata: { seed: 7 } });
  expect(task).toMatchObject({ seed: 7, data: [{ resolution: '720p' }] });
  expect(task).toMatchObject({ status: 'succeeded', usage: { completion_tokens: 172_800 } });
  expect(task.billing).toMatchObject({ charged: '7.948800', refunded: '0.000000' });
  const video = await fetch(task.video_url);
  expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
});

test.each([
  ['two frames', () => ({ images: [sample('dawn.jpg'), sample('ocean.jpg')] })],
  ['references', () => ({ images: [sample('dawn.jpg')], videos: [sample('mountains.mp4')] })],
  ['an image', () => ({ model: 'wan-i2v', ratio: 'adaptive', images: [sample('dawn.jpg')] })],
  ['a length of its choice', () => ({ duration: -1, ratio: 'adaptive' })],
])('a task from %s succeeds', async (_, over) => {
  expect((await ended(over())).status).toBe('succeeded');
});

test('a rendered video arrives whole', async () => {
  await script({ render: 'full' });
  const task = await ended({ resolution: '480p', duration: 4 });
  expect(task.status).toBe('succeeded');
  const bytes = Buffer.from(await (await fetch(task.video_url)).arrayBuffer());
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
});

test('a filtered video costs nothing', async () => {
  await script({ end: 'failed', code: 'DataInspectionFailed' });
  const task = await ended();
  expect(task).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
  expect(task.error.message).toMatch(/content check/);
});

test('a task whose reads are refused with 200 for a while succeeds', async () => {
  const body = '{"code":"Throttling","message":"m"}';
  const left = lies(liar(), isRead, 3, { status: 200, body });
  expect((await ended()).status).toBe('succeeded');
  expect(left()).toBe(0);
});

test('a create whose answer is lost is refunded, and makes one job', async () => {
  lies(liar(), isCreate, 1, { instead: 'reset' });
  const { db, create, finished } = service();
  const { json } = await create(request);
  const jobs = () => db('jobs').where({ task_id: json.id });
  await until('the create is sent', async () => (await jobs().whereNotNull('sent_at')).length > 0);
  // An attempt may store its answer for two minutes, so the create is made older.
  await sentEarlier(db, 200, json.id);
  const task = await finished(json.id, 200_000);
  expect(task).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
  expect(await jobsOf(task.id)).toBe(1);
}, 240_000);
