// The checker must be able to find faults: each kind of damage is planted in the records of a
// correct run.

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startCallbackSink } from '../support/callback-sink';
import { type Service, startService, textTask } from '../support/service';
import { brokenPromises, callbacksMissing } from './checker';
import type { Created } from './client';
import type { World } from './world';

let service: Service;
let world: World;
let good: Created[];
beforeAll(async () => {
  const receiver = await startCallbackSink();
  service = await startService({ allowHosts: [receiver.hostPort] });
  const { studio, db, storage } = service;
  const addresses = { studioUrl: studio.url, studioApiKey: 'studio-key-for-tests' };
  world = { db, storage, receiver, stack: { addresses } } as unknown as World;
  good = await Promise.all([1, 2].map(aFinishedTask));
});
afterAll(async () => {
  await world?.receiver.close();
  await service?.close();
});

async function aFinishedTask(n: number): Promise<Created> {
  const { json } = await service.create(textTask());
  await service.finished(json.id);
  const seen = [
    { status: 'submitted', step: 1 },
    { status: 'succeeded', step: 9 },
  ];
  const ends = { status: 'succeeded', enhancements: 0 } as const;
  return { key: String(n), callback: false, ends, outcome: 'ok', id: json.id, seen };
}

const storageOf = async (key: string) => buffer((await world.storage.read(key)) as Readable);
const put = (key: string, bytes: Buffer) =>
  world.storage.write(key, Readable.from([bytes]), {
    contentType: 'video/mp4',
    length: bytes.length,
  });

const judged = async (creates: readonly Created[]) =>
  (await brokenPromises(world, creates)).join('\n');

test('the checker finds nothing in a correct run', async () => {
  expect(await judged(good)).toBe('');
});

test('the checker finds a lost task', async () => {
  const lost = { ...(good[0] as Created), id: 'task_lost' };
  expect(await judged([...good, lost])).toContain('task_lost was accepted and is lost');
});

test('the checker finds a task whose id no caller has received', async () => {
  expect(await judged(good.slice(1))).toContain('1 tasks whose id no caller was given');
});

test('the checker finds a status that went backwards', async () => {
  const [first, second] = good as [Created, Created];
  const back = { ...first, seen: [...first.seen, { status: 'running', step: 2 }] };
  expect(await judged([back, second])).toContain('stepped back from succeeded to running');
});

test('the checker finds a task that ended in another way than without a fault', async () => {
  const [first, second] = good as [Created, Created];
  const failing = { ...first, ends: { status: 'failed', enhancements: 0 } as const };
  const enhanced = { ...second, ends: { status: 'succeeded', enhancements: 1 } as const };
  const found = await judged([failing, enhanced]);
  expect(found).toContain(`${first.id} ended succeeded instead of failed`);
  expect(found).toContain(`${second.id} was enhanced 0 times instead of 1`);
});

test('the checker finds a task whose create was told that nothing was stored', async () => {
  const [first, second] = good as [Created, Created];
  const refused = { ...first, outcome: 'refused' as const, id: null };
  expect(await judged([refused, second])).toContain('and only 0 unknown creates');
});

test('the checker finds a video that is missing in the storage, and a stored object that belongs to no file', async () => {
  const id = good[0]?.id ?? '';
  const key = `results/${id}-video`;
  const bytes = await storageOf(key);
  await world.storage.remove(key);
  expect(await judged(good)).toContain(`${id} succeeded and its video is not in the storage`);
  await put(key, bytes);
  await put('results/task_nobody-video', bytes);
  expect(await judged(good)).toContain('results/task_nobody-video belongs to no file');
  await world.storage.remove('results/task_nobody-video');
});

test('the checker finds a missing callback', () => {
  const owed = { ...(good[0] as Created), callback: true };
  expect(callbacksMissing(world, [owed])).toEqual([`${owed.id} called back under 0 ids`]);
});

test('the checker finds a job that was accepted twice', async () => {
  const id = good[0]?.id ?? '';
  await fetch(`${service.studio.url}/api/v3/contents/generations/tasks`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer studio-key-for-tests',
      'content-type': 'application/json',
      'x-client-request-id': id,
    },
    body: JSON.stringify({
      model: 'studio-2.0',
      content: [{ type: 'text', text: 'again' }],
      studio: { render: 'none' },
    }),
  });
  expect(await judged(good)).toContain(`${id} was accepted 2 times upstream`);
});
