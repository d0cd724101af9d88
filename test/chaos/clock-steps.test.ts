// The clocks of an API and of the workers step by an hour and by a day, in both directions, while
// jobs run. The service still notices the end of each job without delay.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokenPromises } from './checker';
import { type Created, pause, startCrowd } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

const { seed, random } = seedOf();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
// Jobs run for 1.5 s at most. A limit of a minute shows the smallest delay, which would be an hour.
const seenWithinMs = 60_000;

let folder: string;
let world: World;
const all: Created[] = [];
const setShift = (ms: number) => writeFile(join(folder, 'shift'), String(ms));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-clock-'));
  await setShift(0);
  const stepping = {
    NODE_OPTIONS: `--require ${join(__dirname, 'shifted-clock.js')}`,
    CLOCK_SHIFT_FILE: join(folder, 'shift'),
  };
  world = await startWorld({
    sharesServers: true,
    apis: 1,
    workerEnvironment: () => stepping,
    apiEnvironment: stepping,
  });
});
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['an hour ahead', hourMs],
  ['an hour back', 0],
  ['a day back', -dayMs],
  ['a day ahead', 0],
])(
  `a clock that steps %s does not delay the end of a job (CHAOS_SEED=${seed})`,
  async (_, shiftMs) => {
    const crowd = startCrowd(world, { posts: 12, clients: 4, random });
    all.push(...crowd.creates);
    await crowd.done;
    await setShift(shiftMs);
    await pause(200);
    await crowd.untilAllFinal(seenWithinMs);
    expect(await brokenPromises(world, all)).toEqual([]);
  },
  180_000,
);
