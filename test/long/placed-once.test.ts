// A larger size of the test of a provider with many faults at once: 5,000 tasks.

import { type Placements, placeMany } from '../activities/placed-once';

test('no job of 5,000 tasks is placed twice', async () => {
  const tasks = Number(process.env.PLACED_ONCE_TASKS ?? 5_000);
  const placed: Placements = await placeMany(tasks, (placed, counts) => {
    process.stderr.write(`${new Date().toISOString()} ${placed} ${JSON.stringify(counts)}\n`);
  });
  console.log(JSON.stringify(placed));
  expect(placed).toMatchObject({ tasks, placedTwice: 0, adoptedWrongJob: 0 });
}, 2_400_000);
