// Whole tasks on a channel that speaks MiniMax's protocol, also as the enhancer. The generator is the
// studio. Afterwards the ledger agrees.

import { liedToService } from '../support/lied-to-service';
import { minimaxCatalogue } from '../support/minimax-catalogue';

const { service, sample, script, ended } = liedToService({
  catalogue: (url) => minimaxCatalogue(url, url, ['minimax']),
  task: { model: 'minimax-h3', prompt: 'a lighthouse at dusk' },
});

beforeEach(() => script({ enhance: { render: 'none' } }));

test('a task from a prompt succeeds, has a copy of the video and is billed by its seconds', async () => {
  const task = await ended({ duration: 8 });
  expect(task).toMatchObject({ status: 'succeeded', usage: { completion_tokens: 172_800 } });
  expect(task.billing).toMatchObject({ charged: '7.948800', refunded: '0.000000' });
  const video = await fetch(task.video_url);
  expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
});

test('a task with two frames, and one with references, succeed', async () => {
  const picture = sample('image.png');
  expect((await ended({ images: [picture, picture] })).status).toBe('succeeded');
  const video = sample('video.mp4');
  const references = await ended({ images: [picture], videos: [video], ratio: '9:16' });
  expect(references.status).toBe('succeeded');
  // The seconds of the reference video are billed as well.
  expect(references.usage.completion_tokens).toBe((5 + 4) * 21_600);
});

test('a video is enlarged to 2k by a regeneration, and both are billed', async () => {
  const task = await ended({
    metadata: { super_resolution_config: { resolution: '2k' } },
  });
  expect(task).toMatchObject({ status: 'succeeded' });
  expect(task.billing.items.map(({ kind }: { kind: string }) => kind)).toEqual([
    'generation',
    'super_resolution',
  ]);
  const { json } = await service().call('GET', '/v1/models');
  const shown = json.data.find(({ id }: { id: string }) => id === 'minimax-h3-max');
  expect(shown.super_resolution.targets).toEqual({ '480p': [], '720p': ['2k'] });
});

test('super-resolution that a regeneration cannot do is refused when it is submitted', async () => {
  const refused = await service().create({
    ...{ model: 'minimax-h3', prompt: 'p' },
    metadata: { super_resolution_config: { resolution: '4k' } },
  });
  expect([refused.status, refused.json.error]).toMatchObject([
    400,
    { code: 'unsupported_value', param: 'metadata.super_resolution_config.resolution' },
  ]);
});

test('a filtered video costs nothing', async () => {
  await script({ end: 'failed', code: '1027' });
  const task = await ended();
  expect(task).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
  expect(task.error.message).toMatch(/content check/);
});

test('an enlargement that is refused with 429 is placed later', async () => {
  await script({ enhance: { render: 'none', create: { status: 429, times: 1 } } });
  const task = await ended({ metadata: { super_resolution_config: { resolution: '2k' } } });
  expect(task.status).toBe('succeeded');
});
