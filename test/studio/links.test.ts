// Workers fetch results at one address of the studio, and browsers open samples at another address.

import { type OpenStudio, openStudio } from './open-studio';

const packaged: { path: string } = require('@ffmpeg-installer/ffmpeg');

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio({
    publicUrl: 'http://studio.test:8090/',
    samplesUrl: 'http://localhost:9999',
    ffmpegPath: packaged.path,
  });
});
afterAll(() => studio?.close());

test('a result link has the address for workers', async () => {
  const { content } = await studio.reaching(await studio.accepted({}), 'succeeded');
  expect(content.video_url).toMatch(/^http:\/\/studio\.test:8090\/files\//);
});

test('a sample link has the address for browsers', async () => {
  const { samples } = (await studio.call('GET', '/samples/')).json;
  expect(samples.length).toBeGreaterThan(2);
  for (const link of samples) expect(link).toMatch(/^http:\/\/localhost:9999\/samples\//);
});

// Nothing listens at these addresses, so a request to them would fail with another message.
test.each(['http://studio.test:8090', 'http://localhost:9999'])(
  'reads the samples of %s from its own disk',
  async (address) => {
    const video_url = `${address}/samples/dawn.jpg`;
    const asked = { video_url, resolution: '1080p', studio: {} };
    const { json } = await studio.enhance(asked);
    const { error } = await studio.reaching(json.task_id, 'failed');
    expect(error.message).toMatch(/not an mp4 or mov file/);
  },
);
