// A streaming replica of PostgreSQL is promoted during 200 creates. Commits are synchronous, so no
// accepted task is lost or made twice.

import { brokenPromises } from '../chaos/checker';
import { finalWithinMs, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import { startWorld, type World } from '../chaos/world';
import { until } from '../support/until';
import { type DatabasePair, startDatabasePair } from './database-pair';

const { seed, random } = seedOf();
let pair: DatabasePair;
let world: World;
beforeAll(async () => {
  pair = await startDatabasePair();
  world = await startWorld({ environment: { DATABASE_URL: pair.url } });
}, 240_000);
afterAll(async () => {
  await world?.close();
  await pair?.close();
}, 60_000);

test(`the promotion of a replica during 200 creates loses no accepted task and duplicates no task (CHAOS_SEED=${seed})`, async () => {
  const crowd = startCrowd(world, { posts: 200, clients: 16, random });
  await until('creates are accepted', () => crowd.accepted() > 60);
  await pair.failOver();
  await crowd.done;
  expect(crowd.accepted()).toBeGreaterThan(100);
  await crowd.untilAllFinal(finalWithinMs);
  expect(await brokenPromises(world, crowd.creates)).toEqual([]);
  expect(await world.unexplained()).toEqual([]);
}, 600_000);
