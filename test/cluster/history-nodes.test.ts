// Changes the history processes of Temporal while tasks are created. A second process joins, and
// then the first one stops. So the second one must take over all shards.

import { brokenPromises, callbacksMissing } from '../chaos/checker';
import { finalWithinMs, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import type { World } from '../chaos/world';
import { until } from '../support/until';
import { openClusterWorld, openWithinMs } from './open';

let world: World;
beforeAll(async () => {
  world = await openClusterWorld({ workers: 2 });
}, openWithinMs);
afterAll(() => world?.close(), openWithinMs);

const { seed, random } = seedOf();

test(`no task is lost or made twice while a second history process joins and the first one stops (CHAOS_SEED=${seed})`, async () => {
  await world.part('temporal-history-2').stop();
  const posts = 300;
  const crowd = startCrowd(world, { posts, clients: 16, random, createsPerSecond: 5 });
  const accepted = (count: number) =>
    until(`${count} tasks are accepted`, () => crowd.accepted() >= count, finalWithinMs);
  await accepted(posts / 3);
  await world.part('temporal-history-2').start();
  await accepted((posts * 2) / 3);
  await world.part('temporal-history-1').stop();
  await crowd.done;
  await crowd.untilAllFinal(finalWithinMs);
  expect(crowd.accepted()).toBeGreaterThan(posts * 0.95);
  expect(await brokenPromises(world, crowd.creates)).toEqual([]);
  await until(
    'every callback has arrived',
    () => callbacksMissing(world, crowd.creates).length === 0,
  );
  expect(await world.unexplained()).toEqual([]);
}, 900_000);
