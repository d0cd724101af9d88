// The clock of one worker is an hour ahead, and the clock of the other is an hour behind. Tasks use
// the time of Temporal and of the database, so nothing is lost, made twice or ended early. The test
// loses the answer of one create, because the search for a lost job compares times.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises, callbacksMissing } from './checker';
import { finalWithinMs, startCrowd, startTask } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

const { seed, random } = seedOf();
const hourMs = 3_600_000;
const posts = sized({ each: 20, long: 40 });

let world: World;
beforeAll(async () => {
  world = await startWorld({
    sharesServers: true,
    workerEnvironment: (n) => ({
      NODE_OPTIONS: `--require ${join(__dirname, 'shifted-clock.js')}`,
      CLOCK_SHIFT_MS: String(n === 0 ? hourMs : -hourMs),
    }),
  });
});
afterAll(() => world?.close());

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
    await until('the answer was lost', () => studio.fired > 0);
    const crowd = startCrowd(world, { posts, clients: 8, random });
    await crowd.done;
    await crowd.untilAllFinal(finalWithinMs);
    await lost.untilFinal(finalWithinMs);
    const creates = [lost.entry, ...crowd.creates];
    expect(await brokenPromises(world, creates)).toEqual([]);
    await until('every callback has arrived', () => callbacksMissing(world, creates).length === 0);
    expect(await world.unexplained()).toEqual([]);
  },
  finalWithinMs * 2 + 120_000,
);
