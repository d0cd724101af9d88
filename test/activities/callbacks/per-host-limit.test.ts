// These tests check how callback deliveries share a receiver. They cover the limits per name, and
// the times at which deliveries without a slot come back.

import { createHostShare, type Slot } from '../../../activities/callbacks/per-host-limit';

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

test('an account gets the next free slot of a host that two other accounts keep busy, however many of their deliveries wait', () => {
  let now = 0;
  const share = createHostShare(() => now);
  const of = (by: string) => share.enter([{ name: 'slow', max: 5, by }]);
  const slots = ['a', 'a', 'a', 'b', 'b'].map((by) => entered(of(by)));
  // The receiver needs 15 s for each delivery, and many deliveries of both accounts wait.
  for (let round = 0; round < 100; round += 1) {
    for (const by of ['a', 'b']) expect(of(by).comeBackInMs).toBeDefined();
  }
  const comeBackInMs = of('other').comeBackInMs ?? Number.NaN;
  expect(comeBackInMs).toBeLessThanOrEqual(15_000);
  now += 15_000;
  for (const slot of slots) slot.leave(15_000);
  // The busy accounts try first, as often as they can.
  const again = ['a', 'b', 'a', 'b', 'a', 'b'].map(of);
  expect(again.some((slot) => slot.comeBackInMs !== undefined)).toBe(true);
  entered(of('other'));
});

test('a claim that its account does not use ends, and an account alone uses all slots', () => {
  let now = 0;
  const share = createHostShare(() => now);
  const of = (by: string) => share.enter([{ name: 'host', max: 1, by }]);
  const first = entered(of('a'));
  const comeBackInMs = of('other').comeBackInMs ?? Number.NaN;
  first.leave(1_000);
  expect(of('a').comeBackInMs).toBeDefined();
  now += comeBackInMs + 15_001;
  entered(of('a')).leave(1_000);
  entered(of('a'));
});
