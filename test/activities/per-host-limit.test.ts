// These tests check how callback deliveries share a receiver. They cover the limits per name, and
// the times at which deliveries without a slot come back.

import { createHostShare, type Slot } from '../../activities/callbacks/per-host-limit';

const enter = (share: ReturnType<typeof createHostShare>, max: number, ...names: string[]) =>
  share.enter(names.map((name) => ({ name, max })));
const entered = (slot: ReturnType<typeof enter>): Slot => {
  if (slot.comeBackInMs !== undefined) throw new Error('There was no place.');
  return slot;
};

test('a host has a fixed number of delivery slots, and a delivery that ends frees its slot', () => {
  const share = createHostShare(() => 0);
  const first = entered(enter(share, 2, 'a'));
  entered(enter(share, 2, 'a'));
  expect(enter(share, 2, 'a').comeBackInMs).toBeGreaterThanOrEqual(1_000);
  entered(enter(share, 2, 'b'));
  first.leave(10);
  entered(enter(share, 2, 'a'));
});

test('a delivery needs a slot of its host and a slot of its account, and takes none if one is missing', () => {
  const share = createHostShare(() => 0);
  entered(share.enter([{ name: 'account', max: 1 }]));
  const names = [
    { name: 'host', max: 1 },
    { name: 'account', max: 1 },
  ];
  expect(share.enter(names).comeBackInMs).toBeDefined();
  entered(share.enter([{ name: 'host', max: 1 }]));
});

test('the retry times of ten thousand deliveries to a slow receiver fit its speed and lie within ten minutes', () => {
  const share = createHostShare(() => 0);
  // The receiver needs ten seconds per delivery, so with ten slots it takes one delivery a second.
  for (let round = 0; round < 100; round += 1) {
    entered(enter(share, 10, 'slow')).leave(10_000);
  }
  for (let index = 0; index < 10; index += 1) entered(enter(share, 10, 'slow'));
  const waits = Array.from({ length: 10_000 }, () => enter(share, 10, 'slow').comeBackInMs ?? 0);
  const sooner = waits.filter((wait) => wait < 60_000).length;
  expect(sooner).toBeGreaterThan(50);
  expect(sooner).toBeLessThan(70);
  expect(Math.max(...waits)).toBeLessThanOrEqual(600_000);
  // Deliveries for which the queue is too long are spread over the second half of the longest wait.
  const late = waits.slice(1_000);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(300_000);
  expect(new Set(late.map((wait) => Math.floor(wait / 10_000))).size).toBeGreaterThan(20);
});
