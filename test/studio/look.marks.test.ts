// What one hears in a rendered film, how a draft shows that it is one, and the samples.

import { readFile } from 'node:fs/promises';
import { correlation, frameOf, soundOf } from './mp4';
import { audio, type OpenStudio, openStudio, text } from './open-studio';
import { colourOf, whiteIn } from './pictures';
import { download, rendered } from './rendered';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

test('a reference sound is its sound', async () => {
  const order = { duration: 4, resolution: '480p', ratio: '1:1', seed: 4 };
  const content = [text('x'), audio(studio.sample('chime.wav'))];
  const [chimed, plain] = await Promise.all([
    rendered(studio, { ...order, content }),
    rendered(studio, order),
  ]);
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
