// The clock of one worker is an hour ahead, and the clock of the other is an hour behind. Tasks use
// the time of Temporal and of the database, so nothing is lost, made twice or ended early. The test
// loses the answer of one create, because the search for a lost job compares times. Then the clocks
// of the API and of both workers step together by an hour and by a day, in both directions, while
// jobs run. The service still notices the end of each job without delay.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises, callbacksMissing } from './checker';
import { type Created, finalWithinMs, pause, startCrowd, startTask } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

const { seed, random } = seedOf();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const posts = sized({ each: 20, long: 40 });
// Jobs run for 1.5 s at most. A limit of a minute shows the smallest delay, which would be an hour.
const seenWithinMs = 60_000;

const clocks = ['worker-1', 'worker-2', 'api'] as const;
type Clock = (typeof clocks)[number];

let folder: string;
let world: World;
const all: Created[] = [];
const fileOf = (clock: Clock) => join(folder, clock);
const setShift = (clock: Clock, ms: number) => writeFile(fileOf(clock), String(ms));
const setAll = (ms: number) => Promise.all(clocks.map((clock) => setShift(clock, ms)));
const shifted = (clock: Clock) => ({
  NODE_OPTIONS: `--require ${join(__dirname, 'shifted-clock.js')}`,
  CLOCK_SHIFT_FILE: fileOf(clock),
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-clock-'));
  await setShift('worker-1', hourMs);
  await setShift('worker-2', -hourMs);
  await setShift('api', 0);
  world = await startWorld({
    sharesServers: true,
    apis: 1,
    workerEnvironment: (n) => shifted(n === 0 ? 'worker-1' : 'worker-2'),
    apiEnvironment: shifted('api'),
  });
});
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * The number of hours that this worker's clock is ahead, read from its log. The file gets each line
 * a little later than the worker writes it.
 */
async function hoursAhead(worker: string): Promise<number> {
  const path = join(world.folder, 'data', 'logs', `${worker}.log`);
  let readyAt: string | undefined;
  await until('the log says that the worker is ready', async () => {
    const log = await readFile(path, 'utf8').catch(() => '');
    readyAt = /"time":"([^"]+)"[^\n]*"event":"ready"/.exec(log)?.[1];
    return readyAt !== undefined;
  });
  return Math.round((Date.parse(readyAt ?? '') - Date.now()) / hourMs);
}

test(
  `tasks end correctly on workers whose clocks are two hours apart, even if the answer to a create of a job is lost (CHAOS_SEED=${seed})`,
  async () => {
    expect([await hoursAhead('worker-1'), await hoursAhead('worker-2')]).toEqual([1, -1]);
    const studio = world.links['worker to studio'];
    const create = 'POST /api/v3/contents/generations/tasks';
    studio.set({ containing: [create], when: 'after', spring: () => studio.mend() });
    const lost = startTask(world);
    all.push(lost.entry);
    await until('the answer was lost', () => studio.fired > 0);
    const crowd = startCrowd(world, { posts, clients: 8, random });
    all.push(...crowd.creates);
    await crowd.done;
    await crowd.untilAllFinal(finalWithinMs);
    await lost.untilFinal(finalWithinMs);
    expect(await brokenPromises(world, all)).toEqual([]);
    await until('every callback has arrived', () => callbacksMissing(world, all).length === 0);
    expect(await world.unexplained()).toEqual([]);
  },
  finalWithinMs * 2 + 120_000,
);

describe('clocks that step', () => {
  beforeAll(() => setAll(0));

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
      await setAll(shiftMs);
      await pause(200);
      await crowd.untilAllFinal(seenWithinMs);
      expect(await brokenPromises(world, all)).toEqual([]);
    },
    180_000,
  );

  test('no process reports an error that the faults do not explain', async () => {
    expect(await world.unexplained()).toEqual([]);
  });
});
