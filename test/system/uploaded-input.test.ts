// A caller uploads a file and creates a task with the file's id. The generator then gets the file.

import sharp from 'sharp';
import { readMovie } from '../studio/mp4';
import { type Service, startService } from '../support/service';
import { until } from '../support/until';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

async function upload(name: string, body: ArrayBuffer | Buffer): Promise<{ id: string }> {
  const uploaded = await fetch(`${service.url}/v1/files?name=${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: new Uint8Array(body),
  });
  const file = (await uploaded.json()) as { id: string; kind: string };
  expect([uploaded.status, file.kind]).toEqual([200, 'image']);
  return file;
}

test('a task with an uploaded image as its reference succeeds, although the upload would expire before its channel has a free slot', async () => {
  const sample = await fetch(`${service.studio.url}/samples/dawn.jpg`);
  const file = await upload('dawn.jpg', await sample.arrayBuffer());
  const { api, worker } = service.catalogues;
  const channels = Object.entries(worker.channels).map(([id, channel]) => [
    id,
    { ...channel, jobsInFlightMax: 0 },
  ]);
  const full = { ...worker, channels: Object.fromEntries(channels) };
  service.catalogues.api = full;
  service.catalogues.worker = full;
  const lives = `interval '2 seconds'`;
  await service.db.raw(`update files set expires_at = now() + ${lives} where id = ?`, [file.id]);
  const { status, json } = await service.create({
    model: 'studio-2.0',
    prompt: 'dawn over a town',
    images: [file.id],
    resolution: '480p',
    duration: 4,
  });
  expect([status, json.error]).toEqual([200, undefined]);
  await until('the upload would have expired while its task waits', async () => {
    const { rows } = await service.db.raw<{ rows: unknown[] }>(
      `select from tasks join jobs on task_id = id
        where id = ? and jobs.state = 'waiting' and tasks.created_at < now() - ${lives}`,
      [json.id],
    );
    return rows.length > 0;
  });
  Object.assign(service.catalogues, { api, worker });
  const task = await service.finished(json.id, 120_000);
  expect([task.status, task.error]).toEqual(['succeeded', undefined]);
}, 180_000);

test('a task with super-resolution shows the real width and height if the uploaded image determines the ratio', async () => {
  const portrait = sharp({ create: { width: 611, height: 917, channels: 3, background: '#369' } });
  const file = await upload('portrait.png', await portrait.png().toBuffer());
  const { status, json } = await service.create({
    model: 'studio-2.0',
    prompt: 'the portrait smiles',
    image: file.id,
    resolution: '480p',
    duration: 4,
    metadata: { super_resolution_config: { resolution: '720p' } },
  });
  expect([status, json.error]).toEqual([200, undefined]);
  const { data } = await service.finished(json.id, 120_000);
  const video = await fetch(data[0].url);
  const { width, height } = readMovie(Buffer.from(await video.arrayBuffer())).video;
  expect(data[0]).toMatchObject({ ratio: '3:4', width, height });
  expect(Math.abs(width / height - 611 / 917)).toBeLessThan(0.01);
}, 180_000);
