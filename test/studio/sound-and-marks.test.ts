// Tests the sound of a rendered video, the mark of a draft, and the samples.

import { readFile } from 'node:fs/promises';
import { correlation, frameOf, soundOf } from './mp4';
import { audio, type OpenStudio, openStudio, text } from './open-studio';
import { whiteIn } from './pictures';
import { download, rendered } from './rendered';

const square = { duration: 4, resolution: '480p', ratio: '1:1', seed: 4 };
let studio: OpenStudio;
/** A video without a reference audio, whose prompt cannot be seen. */
let untitled: ReturnType<typeof rendered>;
beforeAll(async () => {
  studio = await openStudio();
  untitled = rendered(studio, { ...square, content: [text('\u200b\u00ad\u200e')] });
  // A test awaits it.
  untitled.catch(() => undefined);
});
afterAll(() => studio?.close());

test('the video uses the reference audio as its soundtrack', async () => {
  const content = [text('x'), audio(studio.sample('chime.wav'))];
  const chimed = await rendered(studio, { ...square, content });
  const chime = await soundOf(`${studio.dataDir}/samples/chime.wav`);
  expect(correlation(await soundOf(chimed.path), chime)).toBeGreaterThan(0.9);
  expect(correlation(await soundOf((await untitled).path), chime)).toBeLessThan(0.3);
});

test('a prompt of invisible characters only makes a video without a title', async () => {
  expect((await untitled).reply.status).toBe('succeeded');
});

test('a draft has a mark and costs fewer tokens', async () => {
  const request = {
    ...{ model: 'studio-1.5-pro', resolution: '480p', duration: 4, ratio: '1:1', seed: 9 },
    content: [text('a red dragon')],
  };
  const [draft, final] = await Promise.all([
    rendered(studio, { ...request, draft: true }),
    rendered(studio, request),
  ]);
  const [marked, plain] = [await frameOf(draft.path, 0), await frameOf(final.path, 0)];
  const sign = { left: 20, top: 20, width: 300, height: 80 };
  expect(await whiteIn(marked, sign)).toBeGreaterThan((await whiteIn(plain, sign)) + 0.1);
  const whole = Math.floor((97 * 640 * 640) / 1024);
  expect(final.reply.usage.completion_tokens).toBe(whole);
  expect(draft.reply.usage.completion_tokens).toBe(Math.floor((whole * 6) / 10));
});

test('the studio lists the complete address of every sample, makes the samples itself and keeps them', async () => {
  const reply = await fetch(studio.sample(''));
  const { samples } = (await reply.json()) as { samples: string[] };
  expect(samples).toEqual(
    expect.arrayContaining(
      ['dawn.jpg', 'forest.jpg', 'mountains.mp4', 'chime.wav'].map(studio.sample),
    ),
  );
  for (const address of samples) {
    expect((await fetch(address, { method: 'HEAD' })).status).toBe(200);
  }
  expect((await fetch(studio.sample('other.jpg'))).status).toBe(404);
  const kept = await readFile(`${studio.dataDir}/samples/dawn.jpg`);
  expect(kept.equals(await download(studio.sample('dawn.jpg')))).toBe(true);
});
