// These tests check which URLs of a result may reach a customer.

import { createChannels } from '../../../activities/providers/channels';
import { reportOf } from '../../../activities/providers/provider';
import type { Channel } from '../../../src/catalogue/catalogue.rules';
import { type Canned, startCanned } from '../../support/canned';
import { readAll } from '../../support/readings';

let provider: Canned;
beforeAll(async () => {
  provider = await startCanned();
});
afterAll(() => provider?.close());

async function reportWith(content: object) {
  const channel: Channel = {
    id: 'c',
    protocol: 'ark',
    baseUrl: provider.url,
    apiKeyEnv: 'KEY',
    requestTimeoutMs: 5_000,
    pollIntervalMs: 250,
    jobsInFlightMax: null,
    honoursIdempotencyKey: false,
    hasList: true,
    listLagMs: 500,
  };
  const channels = createChannels(
    () => ({
      currency: 'CNY',
      channels: { c: channel },
      models: {},
      superResolution: null,
      chargeMaxFactor: 3,
    }),
    () => 'key',
    () => Date.now(),
    { events: { upstream: () => undefined }, allowHosts: ['media.test:8080'] },
  );
  const item = { id: 'cgt-1', status: 'succeeded', content };
  provider.say = ({ path }) => ({ body: path.includes('?') ? { items: [item], total: 1 } : item });
  const found = channels.find('c')?.provider;
  const reading = await found?.read('cgt-1');
  expect(found && (await readAll(found, ['cgt-1'])).get('cgt-1')).toEqual(reading);
  const job = { kind: 'generation', channel: 'c', upstreamModel: 'm' } as const;
  return reading && reportOf(job, 'cgt-1', reading);
}

const video = 'https://tos.example.com/video.mp4';

test.each([
  ['https', video],
  ['an allowed host', 'http://media.test:8080/video.mp4'],
  ['a signature and 4,000 characters', `${video}?${'s'.repeat(3_960)}`],
])('a video URL with %s is accepted unchanged', async (_, video_url) => {
  const report = await reportWith({ video_url });
  expect(report).toMatchObject({ status: 'succeeded', result: { videoUrl: video_url } });
});

test('a video URL on the host of the channel itself is allowed', async () => {
  const report = await reportWith({ video_url: `${provider.url}/video.mp4` });
  expect(report?.status).toBe('succeeded');
});

test.each([
  ['a javascript: URL', 'javascript:alert(1)'],
  ['a file: URL', 'file:///etc/passwd'],
  ['a plain http URL', 'http://tos.example.com/video.mp4'],
  ['a URL of an internal host', 'https://169.254.169.254/latest'],
  ['longer than 4 KB', `${video}?${'s'.repeat(4_096)}`],
  ['not a URL', 'video'],
])('a job fails if the URL of its video or of its last frame is %s', async (_, url) => {
  const failed = { status: 'failed', failure: { code: 'bad_address' } };
  expect(await reportWith({ video_url: url })).toMatchObject(failed);
  expect(await reportWith({ video_url: video, last_frame_url: url })).toMatchObject(failed);
});
