// Tests the content of rendered videos, which depends on the request. Frames are compared at a
// small size, so that encoding does not matter.

import sharp from 'sharp';
import { distance, frameOf, smallPicture } from './mp4';
import { image, type OpenStudio, openStudio, text } from './open-studio';
import { changeIn, shareOf, sizeOf, whiteIn } from './pictures';
import { download, rendered, shortFilm } from './rendered';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const short = (prompt: string, seed: number, content: object[] = []) =>
  rendered(studio, { ...shortFilm, ratio: '16:9', seed, content: [text(prompt), ...content] });

const fox = ['a fox in the snow', 7] as const;
const title = 'MMMMMMMM MMMMMMMM';
type Film = Awaited<ReturnType<typeof short>>;
let films: Promise<{ one: Film; same: Film; seed: Film; prompt: Film }>;
beforeAll(() => {
  const all = [short(...fox), short(...fox), short(fox[0], 8), short(title, fox[1])] as const;
  films = Promise.all(all).then(([one, same, seed, prompt]) => ({ one, same, seed, prompt }));
  // Each test awaits them.
  films.catch(() => undefined);
});

describe('prompt and seed', () => {
  test('the same prompt and seed give the same video, and another prompt or seed gives another video', async () => {
    const { one, same, seed, prompt } = await films;
    expect(same.bytes.equals(one.bytes)).toBe(true);
    const pictureOf = async ({ path }: Film) => smallPicture(await frameOf(path, 0));
    const first = await pictureOf(one);
    expect(distance(first, await pictureOf(seed))).toBeGreaterThan(8);
    expect(distance(first, await pictureOf(prompt))).toBeGreaterThan(8);
  });

  test('the prompt appears as a title, and the scene moves', async () => {
    const { path } = (await films).prompt;
    const [first, last] = [await frameOf(path, 0), await frameOf(path, 95)];
    const middle = { left: 216, top: 180, width: 432, height: 120 };
    expect(await whiteIn(last, middle)).toBeGreaterThan((await whiteIn(first, middle)) + 0.05);
    const land = { left: 0, top: 380, width: 864, height: 100 };
    expect(await changeIn(first, last, land)).toBeGreaterThan(1);
  });
});

test('the video starts with the first frame, shows the middle frame and ends with the last frame', async () => {
  const names = ['dawn.jpg', 'ocean.jpg', 'night-city.jpg'] as const;
  const roles = ['first_frame', 'middle_frame', 'last_frame'] as const;
  const { path, lastFrame } = await rendered(studio, {
    ...{ duration: 4, resolution: '480p', generate_audio: false },
    ...{ watermark: true, return_last_frame: true },
    content: names.map((name, at) => image(studio.sample(name), roles[at])),
  });
  const given = await Promise.all(
    names.map(async (name) => smallPicture(await download(studio.sample(name)))),
  );
  for (const [at, frame] of [0, 47, 95].entries()) {
    const shown = await smallPicture(await frameOf(path, frame));
    const distances = given.map((picture) => distance(shown, picture));
    expect(distances[at]).toBeLessThan(6);
    const others = distances.filter((_, other) => other !== at);
    expect(Math.min(...others)).toBeGreaterThan(20);
  }
  // The studio also returns the last frame as PNG, without the watermark of the video.
  const end = await frameOf(path, 95);
  const still = lastFrame ?? Buffer.alloc(0);
  expect(distance(await smallPicture(still), given[2]!)).toBeLessThan(6);
  const { width, height } = await sharp(still).metadata();
  expect({ width, height }).toEqual(await sizeOf(end));
  const corner = { left: width - 240, top: height - 40, width: 240, height: 40 };
  const free = { ...corner, left: 0 };
  expect(await changeIn(end, still, corner)).toBeGreaterThan(5);
  expect(await changeIn(end, still, free)).toBeLessThan(5);
});

test('a reference image appears in the video', async () => {
  const magenta = await sharp({
    create: { width: 400, height: 400, channels: 3, background: '#ff00ff' },
  })
    .png()
    .toBuffer();
  const inline = `data:image/png;base64,${magenta.toString('base64')}`;
  const { path } = await short(...fox, [image(inline, 'reference_image')]);
  const isMagenta = (r: number, g: number, b: number) => r > 200 && g < 60 && b > 200;
  expect(await shareOf(await frameOf(path, 95), isMagenta)).toBeGreaterThan(0.05);
  const { one: without } = await films;
  expect(await shareOf(await frameOf(without.path, 95), isMagenta)).toBe(0);
});
