// This test places a small number of tasks. test/long places thousands.

import { placeMany } from './placed-once';

test('no job is created twice if replies are lost, pages shift and jobs are listed late', async () => {
  const placed = await placeMany(120);
  expect(placed.lostReplies + placed.cutBefore).toBeGreaterThan(0);
  expect(placed).toMatchObject({ placedTwice: 0, adoptedWrongJob: 0, rejected: 0 });
});
