// Whole tasks on a channel that speaks Kling. The generator is the studio, which takes signed tokens
// only. A liar between them gives wrong answers. Afterwards the ledger agrees.

import { klingCatalogue } from '../support/kling-catalogue';
import { type Exchange, lies } from '../support/liar';
import { liedToService } from '../support/lied-to-service';

const { liar, sample, script, jobsOf, ended } = liedToService({
  catalogue: klingCatalogue,
  channelKeys: { KLING_KEY: 'access:studio-key-for-tests' },
  task: { model: 'kling', prompt: 'a lighthouse at dusk' },
});
beforeEach(() => script({}));

const isCreate = ({ method, path }: Exchange) => method === 'POST' && path.includes('/kling/');

test('a task from a prompt succeeds, has a copy of the video and is billed by its seconds', async () => {
  const task = await ended({ duration: 8 });
  expect(task.data).toMatchObject([{ resolution: '720p' }]);
  expect(task).toMatchObject({ status: 'succeeded', usage: { completion_tokens: 172_800 } });
  expect(task.billing).toMatchObject({ charged: '7.948800', refunded: '0.000000' });
  const video = await fetch(task.video_url);
  expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
});

test.each([
  ['two frames', 2, undefined],
  ['one image', 1, undefined],
  ['references', 2, 'reference'],
])('a task from %s succeeds', async (_, count, type) => {
  const images = [sample('dawn.jpg'), sample('ocean.jpg')].slice(0, count);
  expect((await ended({ images, input_type: type })).status).toBe('succeeded');
});

test('a task with a watermark succeeds with the marked video of its two', async () => {
  const task = await ended({ metadata: { watermark: true } });
  expect(task.status).toBe('succeeded');
});

test('a failed video, also one that was filtered, costs nothing', async () => {
  await script({ end: 'failed', message: 'Failure to pass the risk control system' });
  const task = await ended();
  expect(task).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
  expect(task.error.message).not.toMatch(/risk control/);
});

test('a create whose answer is lost makes one job', async () => {
  const left = lies(liar(), isCreate, 1, { instead: 'reset' });
  const task = await ended();
  expect([task.status, left()]).toEqual(['succeeded', 0]);
  expect(await jobsOf(task.id)).toBe(1);
});
