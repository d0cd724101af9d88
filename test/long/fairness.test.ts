// One account creates many tasks, and another account creates one task at a time. The test prints
// how much longer such a task takes, and asserts that it ends.

import { median } from '../../bench/support/rounds';
import { createAccount } from '../../src/money/new-account.rows';
import { startWorld, type World } from '../chaos/world';
import { call, textTask } from '../support/service';

const burst = Number(process.env.BURST ?? 1_000);
const samples = 5;

let world: World;
beforeAll(async () => {
  world = await startWorld({ apis: 1, workers: 1 });
}, 120_000);
afterAll(() => world?.close());

async function aTask(apiKey: string): Promise<number> {
  const began = Date.now();
  const api = world.apis[0] ?? '';
  const { json } = await call(api, apiKey, 'POST', '/v1/videos/generations', textTask());
  for (;;) {
    const path = `/v1/videos/generations/${json.id}`;
    const read = await call(api, apiKey, 'GET', path, undefined, { prefer: 'wait=10' });
    if (read.json.status === 'succeeded') return Date.now() - began;
    if (Date.now() - began > 600_000) throw new Error('It is not done.');
  }
}

async function medianOf(apiKey: string): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < samples; n += 1) took.push(await aTask(apiKey));
  return median(took);
}

test(`a single task of one account ends during a burst of ${burst} tasks of another account`, async () => {
  const other = await createAccount(world.db, { name: 'b', creditMicros: 1_000_000_000 });
  const quiet = await medianOf(other.apiKey);
  let left = burst;
  const crowd = Array.from({ length: 32 }, async () => {
    for (; left > 0; ) {
      left -= 1;
      const path = '/v1/videos/generations';
      await call(world.apis[0] ?? '', world.apiKey, 'POST', path, textTask());
    }
  });
  const busy = await medianOf(other.apiKey);
  await Promise.all(crowd);
  process.stdout.write(
    `a single task: ${quiet} ms alone, ${busy} ms beside a burst of ${burst}: ${(busy / quiet).toFixed(1)} times\n`,
  );
  expect(busy).toBeGreaterThan(0);
}, 1_800_000);
