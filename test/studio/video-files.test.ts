// Measures the files of rendered jobs: size, frames, length, sound, and the order of their boxes.

import { sized } from '../support/sized';
import { image, type OpenStudio, openStudio, text, video } from './open-studio';
import { rendered, shortFilm } from './rendered';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

type Row = readonly [string, number, number];
// The widest and the narrowest. Each film costs seconds of the processor.
const outer: readonly Row[] = [
  ['9:16', 480, 864],
  ['21:9', 960, 416],
];
const inner: readonly Row[] = [
  ['16:9', 864, 480],
  ['4:3', 736, 544],
  ['1:1', 640, 640],
  ['3:4', 544, 736],
];

test.each(sized({ each: outer, long: [...outer, ...inner] }))(
  'a studio-1.0 video of ratio %s is silent H.264 with the expected size and frames',
  async (ratio, width, height) => {
    const { reply, movie } = await rendered(studio, { ...shortFilm, ratio, seed: 1 });
    expect(movie.video).toMatchObject({ codec: 'avc1', samples: 97, width, height });
    expect(movie.framesPerSecond).toBe(24);
    expect(movie.audio).toBeUndefined();
    expect(movie.boxes).toEqual(['ftyp', 'moov', 'mdat']);
    expect(reply.usage.completion_tokens).toBe(Math.floor((97 * width * height) / 1024));
  },
);

test('a studio-2.0 video has sound of the same length as its picture', async () => {
  const request = { ratio: '4:3', resolution: '720p', duration: 4, return_last_frame: true };
  const { movie, reply, lastFrame } = await rendered(studio, request);
  expect(movie.video).toMatchObject({ codec: 'avc1', samples: 97, width: 1112, height: 834 });
  expect(movie.video.seconds).toBeCloseTo(97 / 24, 3);
  expect(movie.audio?.codec).toBe('mp4a');
  // A packet of AAC lasts 21 ms, half a frame.
  expect(Math.abs((movie.audio?.seconds ?? 0) - 4)).toBeLessThan(1 / 24);
  expect(movie.boxes).toEqual(['ftyp', 'moov', 'mdat']);
  expect(reply).toMatchObject({ duration: 4, ratio: '4:3', generate_audio: true });
  expect(lastFrame?.subarray(1, 4).toString()).toBe('PNG');
});

test('an adaptive video has the shape of the first image, and is billed for its own size', async () => {
  const request = { duration: 4, resolution: '480p', generate_audio: false };
  const content = [text('x'), image(studio.sample('forest.jpg'))];
  const { movie, reply } = await rendered(studio, { ...request, content });
  expect(movie.video).toMatchObject({ width: 562, height: 750, samples: 97 });
  expect(movie.audio).toBeUndefined();
  expect(reply.ratio).toBe('3:4');
  expect(reply.usage.completion_tokens).toBe(Math.floor((97 * 562 * 750) / 1024));
});

test('the bill of a video also counts the frames of its reference video', async () => {
  const request = { duration: 4, resolution: '480p', ratio: '1:1', generate_audio: false };
  const content = [text('x'), video(studio.sample('mountains.mp4'))];
  const { reply } = await rendered(studio, { ...request, content });
  expect(reply.usage.completion_tokens).toBe(Math.floor((193 * 640 * 640) / 1024));
});
