// How deliveries share receivers: limits per name, and turns for those who find no place.

import { createHostShare, type Place } from '../../activities/host-share';

const enter = (share: ReturnType<typeof createHostShare>, max: number, ...names: string[]) =>
  share.enter(names.map((name) => ({ name, max })));
const entered = (place: ReturnType<typeof enter>): Place => {
  if (place.comeBackInMs !== undefined) throw new Error('There was no place.');
  return place;
};

test('a name has as many places as it may and one is free again after a leave', () => {
  const share = createHostShare(() => 0);
  const first = entered(enter(share, 2, 'a'));
  entered(enter(share, 2, 'a'));
  expect(enter(share, 2, 'a').comeBackInMs).toBeGreaterThanOrEqual(1_000);
  entered(enter(share, 2, 'b'));
  first.leave(10);
  entered(enter(share, 2, 'a'));
});

test('a place needs every one of its names, and takes none where one is full', () => {
  const share = createHostShare(() => 0);
  entered(share.enter([{ name: 'account', max: 1 }]));
  const names = [
    { name: 'host', max: 1 },
    { name: 'account', max: 1 },
  ];
  expect(share.enter(names).comeBackInMs).toBeDefined();
  entered(share.enter([{ name: 'host', max: 1 }]));
});

test('ten thousand that wait for a slow receiver get turns at the speed it answers, within ten minutes', () => {
  const share = createHostShare(() => 0);
  // It has been taking ten seconds: with ten at once that is one a second.
  for (let round = 0; round < 100; round += 1) {
    entered(enter(share, 10, 'slow')).leave(10_000);
  }
  for (let index = 0; index < 10; index += 1) entered(enter(share, 10, 'slow'));
  const waits = Array.from({ length: 10_000 }, () => enter(share, 10, 'slow').comeBackInMs ?? 0);
  const sooner = waits.filter((wait) => wait < 60_000).length;
  expect(sooner).toBeGreaterThan(50);
  expect(sooner).toBeLessThan(70);
  expect(Math.max(...waits)).toBeLessThanOrEqual(600_000);
  // Those past the end of the line are spread over the last half of it instead of coming all at
  // once.
  const late = waits.slice(1_000);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(300_000);
  expect(new Set(late.map((wait) => Math.floor(wait / 10_000))).size).toBeGreaterThan(20);
});
