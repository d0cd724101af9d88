// Tests the files of enhancements: their size, their frames and refusals. The videos are small, so
// that the tests take only seconds.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Movie, readMovie } from './mp4';
import { type OpenStudio, openStudio } from './open-studio';
import { download } from './rendered';

const packaged: { path: string } = require('@ffmpeg-installer/ffmpeg');

let dataDir: string;
let studio: OpenStudio;
/** One second of 320 × 180 at 24 frames a second, with sound. */
let small: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'video-studio-'));
  await makeVideo('samples/mountains.mp4', ['color=c=red:s=3000x400:d=0.5']);
  studio = await openStudio({ dataDir, ffmpegPath: packaged.path });
  const id = await studio.accepted({});
  await makeVideo(`results/${id}/video.mp4`, ['testsrc=s=320x180:r=24:d=1', 'sine=d=1']);
  small = (await studio.reaching(id, 'succeeded')).content.video_url;
});
afterAll(async () => {
  await studio?.close();
  await rm(dataDir, { recursive: true, force: true });
});

test.each<[string, object, Partial<Movie['video']>, number]>([
  ['a resolution', { resolution: '720p' }, { width: 1280, height: 720, samples: 24 }, 24],
  ['a short side', { resolution_limit: 360 }, { width: 640, height: 360, samples: 24 }, 24],
  [
    'more frames per second',
    { resolution_limit: 200, fps: 60 },
    { width: 356, height: 200, samples: 60 },
    60,
  ],
  [
    'fewer frames',
    { resolution_limit: 200, fps: 12 },
    { width: 356, height: 200, samples: 12 },
    12,
  ],
  [
    'everything at once',
    {
      resolution: '720p',
      fps: 30,
      scene: 'old_film',
      tool_version: 'professional',
    },
    { width: 1280, height: 720, samples: 30 },
    30,
  ],
])('an enhancement to %s has the expected size and frames', async (_, request, picture, fps) => {
  const { json } = await studio.enhance({ ...fresh, ...request, video_url: small });
  const { result } = await studio.reaching(json.task_id, 'completed', 50_000);
  expect(result).toMatchObject({ duration: 1, fps });
  const movie = readMovie(await download(result.video_url));
  expect(movie.video).toMatchObject({ codec: 'avc1', ...picture });
  expect(movie.framesPerSecond).toBe(fps);
  expect(movie.audio?.codec).toBe('mp4a');
  expect(movie.boxes).toEqual(['ftyp', 'moov', 'mdat']);
});

test('an enhancement of a video that was not rendered is as long as that video', async () => {
  const made = await studio.reaching(await studio.accepted({ duration: 4 }), 'succeeded');
  const request = { ...fresh, resolution_limit: 200, video_url: made.content.video_url };
  const { json } = await studio.enhance(request);
  const { result } = await studio.reaching(json.task_id, 'completed', 50_000);
  expect(result).toMatchObject({ duration: 4, fps: 24 });
  const movie = readMovie(await download(result.video_url));
  expect(movie.video).toMatchObject({ seconds: 4, samples: 96 });
});

test.each<[string, () => string, RegExp]>([
  ['a video above 2K', () => studio.sample('mountains.mp4'), /3000×400, which is above 2K/],
  ['a picture', () => studio.sample('dawn.jpg'), /not an mp4 or mov file/],
  ['an expired link', () => `${small}0`, /does not exist or is no longer valid/],
  ['an internal address', () => 'http://10.0.0.1/a.mp4', /address is not allowed/],
])('an enhancement of %s fails', async (_, url, message) => {
  const { json } = await studio.enhance({ ...fresh, resolution: '1080p', video_url: url() });
  const { error } = await studio.reaching(json.task_id, 'failed');
  expect(error).toMatchObject({
    code: 'InvalidParameter',
    message: expect.stringMatching(message),
  });
});

const fresh = { resolution: undefined, studio: {} };

/** Writes a video of these sources into a folder that the studio serves. */
async function makeVideo(name: string, sources: readonly string[]): Promise<void> {
  const path = join(dataDir, name);
  await mkdir(dirname(path), { recursive: true });
  const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
  const args = ['-loglevel', 'error', ...inputs, '-pix_fmt', 'yuv420p', path];
  await promisify(execFile)(packaged.path, args);
}
