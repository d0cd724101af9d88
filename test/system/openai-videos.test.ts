// Whole tasks on channels that speak OpenAI videos, one channel for each dialect. The generator is
// the studio. A liar between them gives wrong answers. Afterwards the ledger agrees.

import { type Exchange, type Lie, lies } from '../support/liar';
import { liedToService } from '../support/lied-to-service';
import { profiles, videosCatalogue } from '../support/videos-catalogue';

const { service, liar, sample, script, ended } = liedToService({
  catalogue: videosCatalogue,
  task: { prompt: 'a lighthouse at dusk' },
});

const isContent = ({ method, path }: Exchange) => method === 'GET' && path.endsWith('/content');

describe.each(profiles)('a task in the dialect %s', (profile) => {
  beforeEach(() => script({}));

  test('from a prompt succeeds, has a copy of the video and is billed by its seconds', async () => {
    const task = await ended({ model: profile, duration: 8 });
    expect(task.data).toMatchObject([{ resolution: '720p' }]);
    expect(typeof task.seed).toBe(profile === 'openai' ? 'undefined' : 'number');
    expect(task).toMatchObject({ status: 'succeeded', usage: { completion_tokens: 172_800 } });
    expect(task.billing).toMatchObject({ charged: '7.948800', refunded: '0.000000' });
    expect(task.billing.usage_missing).toBeUndefined();
    const video = await fetch(task.video_url);
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  });

  test('with an image succeeds', async () => {
    const image = sample('image.png');
    expect((await ended({ model: profile, image })).status).toBe('succeeded');
  });
});

test('a filtered video costs nothing', async () => {
  await script({ end: 'failed', code: 'moderation_blocked' });
  const task = await ended({ model: 'openai' });
  expect(task).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
  expect(task.error.message).toMatch(/content check/);
});

test('a video that is not ready at once is copied later', async () => {
  await script({});
  const left = lies(liar(), isContent, 1, { status: 404, body: '{}' } as Lie);
  expect((await ended({ model: 'openai' })).status).toBe('succeeded');
  expect(left()).toBe(0);
});

test('a model of such a channel shows no super-resolution, and refuses it', async () => {
  const { json } = await service().call('GET', '/v1/models');
  const shown = json.data.find(({ id }: { id: string }) => id === 'openai');
  expect([shown.features.super_resolution, shown.super_resolution]).toEqual([false, null]);
  const refused = await service().create({
    ...{ model: 'openai', prompt: 'p' },
    metadata: { super_resolution_config: { resolution: '1080p', tool_version: 'standard' } },
  });
  expect([refused.status, refused.json.error.code]).toEqual([400, 'unsupported_value']);
});
