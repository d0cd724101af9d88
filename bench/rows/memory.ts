// Measures the worker's memory per waiting task, without the cached workflows. A worker with a
// small cache and collected garbage is measured with some tasks, and then with many more.

import { join } from 'node:path';
import type { Finding, Row } from '../row';
import { anotherWorker } from '../support/more-processes';
import { pause, pidOf, settledRss } from '../support/process-figures';
import { createTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

const cached = 100;
const kilobytesMax = 20;
// Long enough for two garbage collections, after which the operating system gets the memory back.
const settlingMs = 10_000;

export const memoryRow: Row = {
  name: 'memory',
  async measure(world: World): Promise<readonly Finding[]> {
    const { quick } = world.settings;
    const [few, many] = quick ? [150, 300] : [300, 1_800];
    const usual = world.stack.part('worker');
    await usual.stop();
    const worker = await anotherWorker(world, 'worker-small-cache', {
      WORKER_CACHED_WORKFLOWS_MAX: String(cached),
      NODE_OPTIONS: `--require ${join(__dirname, '../support/collect-garbage.js')}`,
    });
    const account = await world.anAccount();
    const ids: string[] = [];
    const bytesAt = async (count: number) => {
      const run = { model: models.parked, count: count - ids.length, inFlight: 32 };
      const made = await createTasks(world, account, run);
      await untilCount(world, made.ids, 'placed', 120_000);
      ids.push(...made.ids);
      await pause(settlingMs);
      return settledRss(pidOf(worker));
    };
    const before = await bytesAt(few);
    const after = await bytesAt(many);
    await worker.stop();
    await usual.start();
    await world.generator.finish(ids);
    await untilCount(world, ids, 'finished', 300_000);
    return [finding({ few, many, before, after })];
  },
};

interface Sizes {
  readonly few: number;
  readonly many: number;
  readonly before: number;
  readonly after: number;
}

function finding({ few, many, before, after }: Sizes): Finding {
  const kilobytes = (after - before) / 1_024 / (many - few);
  const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
  return {
    figure: 'worker memory per waiting task beyond the workflow cache',
    unit: 'KB',
    ours: kilobytes,
    wanted: `≤ ${kilobytesMax} KB`,
    met: kilobytes <= kilobytesMax,
    note: `${megabytes(before)} at ${few} tasks, ${megabytes(after)} at ${many}, a cache of ${cached}`,
  };
}
