// From a file of the caller to a video: upload, create by the file's id, and the generator has it.

import { type Service, startService } from '../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 60_000);
afterAll(() => service?.close());

test('an uploaded image becomes the reference of a video', async () => {
  const sample = await fetch(`${service.studio.url}/samples/dawn.jpg`);
  const uploaded = await fetch(`${service.url}/v1/files?name=dawn.jpg`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: await sample.arrayBuffer(),
  });
  const file = (await uploaded.json()) as { id: string; kind: string };
  expect([uploaded.status, file.kind]).toEqual([200, 'image']);
  const { status, json } = await service.create({
    model: 'studio-2.0',
    prompt: 'dawn over a town',
    images: [file.id],
    resolution: '480p',
    duration: 4,
  });
  expect([status, json.error]).toEqual([200, undefined]);
  const task = await service.finished(json.id, 120_000);
  expect([task.status, task.error]).toEqual(['succeeded', undefined]);
}, 180_000);
