// Jobs that are not rendered: their video is as long as they report, for every reader and player.

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createVideoHead } from '../../src/files/video-head.rules';
import { readMovie } from './mp4';
import { type OpenStudio, openStudio } from './open-studio';
import { download } from './rendered';

const { path: ffmpeg }: { path: string } = require('@ffmpeg-installer/ffmpeg');

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio({ ffmpegPath: ffmpeg });
});
afterAll(() => studio?.close());

test.each([4, 5, 10])(
  'the video of a job of %i seconds has that length, and a player shows all its frames',
  async (duration) => {
    const reply = await studio.reaching(await studio.accepted({ duration }), 'succeeded');
    expect(reply.duration).toBe(duration);
    await expectVideo(reply.content.video_url, duration * 24, duration * 1_000);
  },
);

test('the video of an enhancement has the length that it reports, also after another job', async () => {
  const { json } = await studio.enhance({});
  const { result } = await studio.reaching(json.task_id, 'completed');
  expect(result.duration).toBe(5.042);
  await expectVideo(result.video_url, 121, 5_042);
  await expectVideo(result.video_url, 121, 5_042);
});

async function expectVideo(url: string, frames: number, milliseconds: number): Promise<void> {
  const bytes = await download(url);
  const movie = readMovie(bytes);
  expect(movie.video).toMatchObject({ codec: 'avc1', samples: frames });
  expect(movie.framesPerSecond).toBe(24);
  expect(movie.boxes).toEqual(['ftyp', 'moov', 'mdat']);
  const head = createVideoHead();
  head.read(bytes);
  expect([head.milliseconds(), head.isCut()]).toEqual([milliseconds, false]);
  const film = join(studio.dataDir, 'film.mp4');
  await writeFile(film, bytes);
  const shown = ['-v', 'error', '-i', film, '-progress', '-', '-f', 'null', '-'];
  const { stdout, stderr } = await promisify(execFile)(ffmpeg, shown);
  expect(stderr).toBe('');
  expect(stdout.match(/frame=(\d+)/g)?.at(-1)).toBe(`frame=${frames}`);
}
