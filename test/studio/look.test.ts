// What one sees and hears in a rendered film: that it has to do with what was asked. Pictures are compared small, so that only what
// they show counts.

import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { correlation, distance, frameOf, smallPicture, soundOf } from './mp4';
import { audio, image, type OpenStudio, openStudio, text } from './open-studio';
import { download, rendered, shortFilm } from './rendered';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const short = (prompt: string, seed: number, content: object[] = []) =>
  rendered(studio, { ...shortFilm, ratio: '16:9', seed, content: [text(prompt), ...content] });

describe('prompt and seed', () => {
  test('the same give the same film, another of either gives another', async () => {
    const films = [
      await short('a fox in the snow', 7),
      await short('a fox in the snow', 7),
      await short('a fox in the snow', 8),
      await short('a fox in the city', 7),
    ] as const;
    expect(films[1].bytes.equals(films[0].bytes)).toBe(true);
    const [one, , seed, prompt] = await Promise.all(
      films.map(async ({ path }) => smallPicture(await frameOf(path, 0))),
    );
    expect(distance(one!, seed!)).toBeGreaterThan(8);
    expect(distance(one!, prompt!)).toBeGreaterThan(8);
  });

  test('the prompt appears as a title, and the scene moves', async () => {
    const { path } = await short('MMMMMMMM MMMMMMMM', 1);
    const [first, last] = [await frameOf(path, 0), await frameOf(path, 28)];
    const middle = { left: 216, top: 180, width: 432, height: 120 };
    expect(await whiteIn(last, middle)).toBeGreaterThan((await whiteIn(first, middle)) + 0.05);
    const land = { left: 0, top: 380, width: 864, height: 100 };
    expect(await changeIn(first, last, land)).toBeGreaterThan(1);
  });
});

test('frames: it starts on the first, passes the middle one and ends on the last', async () => {
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
  // The last frame comes apart as well, and without the mark that the film bears.
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

test('a reference image appears in it', async () => {
  const magenta = await sharp({
    create: { width: 400, height: 400, channels: 3, background: '#ff00ff' },
  })
    .png()
    .toBuffer();
  const inline = `data:image/png;base64,${magenta.toString('base64')}`;
  const { path } = await short('a quiet forest', 3, [image(inline, 'reference_image')]);
  const isMagenta = (r: number, g: number, b: number) => r > 200 && g < 60 && b > 200;
  expect(await shareOf(await frameOf(path, 28), isMagenta)).toBeGreaterThan(0.05);
  const without = await short('a quiet forest', 3);
  expect(await shareOf(await frameOf(without.path, 28), isMagenta)).toBe(0);
});

test('a reference sound is its sound', async () => {
  const order = { duration: 4, resolution: '480p', ratio: '1:1', seed: 4 };
  const content = [text('x'), audio(studio.sample('chime.wav'))];
  const [chimed, plain] = [
    await rendered(studio, { ...order, content }),
    await rendered(studio, order),
  ];
  const chime = await soundOf(`${studio.dataDir}/samples/chime.wav`);
  expect(correlation(await soundOf(chimed.path), chime)).toBeGreaterThan(0.9);
  expect(correlation(await soundOf(plain.path), chime)).toBeLessThan(0.3);
});

test('a draft shows that it is one, and its final version is the same film', async () => {
  const order = { model: 'studio-1.5-pro', resolution: '480p', duration: 4, ratio: '1:1', seed: 9 };
  const draft = await rendered(studio, { ...order, draft: true, content: [text('a red dragon')] });
  const content = [{ type: 'draft_task', draft_task: { id: draft.reply.id } }];
  const final = await rendered(studio, { model: order.model, resolution: '480p', content });
  expect(final.reply).toMatchObject({
    ...{ seed: 9, ratio: '1:1', duration: 4, draft: false, draft_task_id: draft.reply.id },
  });
  const [pale, full] = [await frameOf(draft.path, 0), await frameOf(final.path, 0)];
  const sign = { left: 20, top: 20, width: 300, height: 80 };
  expect(await whiteIn(pale, sign)).toBeGreaterThan((await whiteIn(full, sign)) + 0.1);
  expect(await colourOf(pale)).toBeLessThan((await colourOf(full)) * 0.6);
  const whole = Math.floor((97 * 640 * 640) / 1024);
  expect(final.reply.usage.completion_tokens).toBe(whole);
  expect(draft.reply.usage.completion_tokens).toBe(Math.floor((whole * 6) / 10));
});

test('samples are there, drawn by the studio itself', async () => {
  const reply = await fetch(studio.sample(''));
  const { samples } = (await reply.json()) as { samples: string[] };
  expect(samples).toEqual(
    expect.arrayContaining(['dawn.jpg', 'forest.jpg', 'mountains.mp4', 'chime.wav']),
  );
  for (const name of samples) {
    expect((await fetch(studio.sample(name), { method: 'HEAD' })).status).toBe(200);
  }
  expect((await fetch(studio.sample('other.jpg'))).status).toBe(404);
  const kept = await readFile(`${studio.dataDir}/samples/dawn.jpg`);
  expect(kept.equals(await download(studio.sample('dawn.jpg')))).toBe(true);
});

interface Region {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const pixelsOf = (picture: Buffer, region?: Region) => {
  const whole = sharp(picture).removeAlpha().toColourspace('srgb');
  return (region ? whole.extract(region) : whole).raw().toBuffer();
};

async function sizeOf(picture: Buffer): Promise<{ width: number; height: number }> {
  const { width, height } = await sharp(picture).metadata();
  return { width, height };
}

async function shareOf(
  picture: Buffer,
  isIt: (r: number, g: number, b: number) => boolean,
  region?: Region,
): Promise<number> {
  const pixels = await pixelsOf(picture, region);
  let count = 0;
  for (let at = 0; at < pixels.length; at += 3) {
    if (isIt(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!)) count += 1;
  }
  return count / (pixels.length / 3);
}

const whiteIn = (picture: Buffer, region: Region) =>
  shareOf(picture, (r, g, b) => Math.min(r, g, b) > 205, region);

async function changeIn(one: Buffer, other: Buffer, region: Region): Promise<number> {
  return distance(await pixelsOf(one, region), await pixelsOf(other, region));
}

/** How far the pixels are from grey, on average. */
async function colourOf(picture: Buffer): Promise<number> {
  const pixels = await smallPicture(picture);
  let sum = 0;
  for (let at = 0; at < pixels.length; at += 3) {
    const parts = [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!];
    sum += Math.max(...parts) - Math.min(...parts);
  }
  return sum / (pixels.length / 3);
}
