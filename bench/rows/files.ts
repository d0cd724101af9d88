// Three benchmark rows about results as files. `copy-lag` measures how much later a task ends
// because its video is copied. `copy-memory` measures the worker's memory while many large videos
// are copied at once. `delivery` compares the download of a stored video with a bare server that
// streams a file.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atLeast, type Finding, type Row } from '../row';
import { downloadRate } from '../support/file-load';
import { finishLags } from '../support/finish-lags';
import { anotherWorker } from '../support/more-processes';
import { figuresOf, pause, pidOf, settledRss } from '../support/process-figures';
import { alternate, compare, quantile } from '../support/rounds';
import { startServer } from '../support/start-server';
import { createTasks, readTask, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

const smallBytes = 64 * 1024;
const usualBytes = 10_000_000;
const largeBytes = 50_000_000;
const connections = 50;
// The limit for the lag is the default poll interval. The jobs of these rows are polled ten times a
// second, so the lag contains almost no waiting for the poll.
const pollIntervalMs = 3_000;
const megabytesMax = 64;

/** Makes a benchmark row. After each measurement, the generator is set back to small videos. */
const row = (name: string, measure: (world: World, account: Account) => Promise<Finding>): Row => ({
  name,
  async measure(world) {
    try {
      return [await measure(world, await world.anAccount())];
    } finally {
      await world.generator.sendVideos(smallBytes);
    }
  },
});

export const fileRows = [
  row('copy-lag', copyLag),
  row('copy-memory', copyMemory),
  row('delivery', delivery),
] as const;

async function copyLag(world: World, account: Account): Promise<Finding> {
  const count = world.settings.quick ? 10 : 100;
  const lagsOf = async (bytes: number) => {
    await world.generator.sendVideos(bytes);
    const ids = await heldTasks(world, account, count);
    const lags = await finishLags(world, account, ids);
    await removeFiles(world, ids);
    return lags;
  };
  await lagsOf(usualBytes);
  const small = await lagsOf(smallBytes);
  const usual = await lagsOf(usualBytes);
  const more = (share: number) => quantile(usual, share) - quantile(small, share);
  return {
    figure: 'end of a job → its task, beyond a video of 64 KB: a video of 10 MB, p99',
    unit: 'ms',
    ours: more(0.99),
    reference: pollIntervalMs,
    ratio: more(0.99) / pollIntervalMs,
    wanted: '≤ the poll interval',
    met: more(0.99) <= pollIntervalMs,
    note: `p50 ${more(0.5).toFixed(0)} ms; ${count} tasks within nine seconds`,
  };
}

/**
 * Measures how much the memory of a worker grows while the worker copies many large videos at once.
 * The worker is new, and first copies small videos to reach its usual memory.
 */
async function copyMemory(world: World, account: Account): Promise<Finding> {
  const usual = world.stack.part('worker');
  await usual.stop();
  const worker = await anotherWorker(world, 'worker-copies');
  await copyTogether(world, account, smallBytes);
  await pause(5_000);
  const idle = await settledRss(pidOf(worker));
  let most = 0;
  const sampling = setInterval(() => {
    most = Math.max(most, figuresOf(pidOf(worker)).rssBytes);
  }, 20);
  const bytes = world.settings.quick ? usualBytes : largeBytes;
  const started = performance.now();
  await copyTogether(world, account, bytes).finally(() => clearInterval(sampling));
  const seconds = (performance.now() - started) / 1_000;
  await worker.stop();
  await usual.start();
  const megabytes = (most - idle) / 2 ** 20;
  return {
    figure: `worker memory beyond idle, ${connections} copies of ${bytes / 1e6} MB at once`,
    unit: 'MB',
    ours: megabytes,
    wanted: `≤ ${megabytesMax}`,
    met: megabytes <= megabytesMax,
    note: `${(idle / 2 ** 20).toFixed(0)} MB when idle; all are stored after ${seconds.toFixed(0)} s`,
  };
}

/** Copies many videos at once: the generator lets each transfer wait until all have begun. */
async function copyTogether(world: World, account: Account, bytes: number): Promise<void> {
  const ids = await heldTasks(world, account, connections);
  await world.generator.sendVideos(bytes, connections);
  await world.generator.finish(ids);
  await untilCount(world, ids, 'finished', 300_000);
  await removeFiles(world, ids);
}

async function delivery(world: World, account: Account): Promise<Finding> {
  const { rounds, quick } = world.settings;
  await world.generator.sendVideos(usualBytes);
  const ids = await heldTasks(world, account, 1);
  await world.generator.finish(ids);
  await untilCount(world, ids, 'finished', 60_000);
  const [id = ''] = ids;
  const { text } = await readTask(world, account, id);
  const { pathname } = new URL((JSON.parse(text) as { video_url: string }).video_url);
  const file = join(resultsOf(world, id), 'video');
  const bare = await startServer('the bare server of files', 'bare/stream-server.js', [file]);
  const rate = (url: string) => downloadRate({ url, connections, seconds: quick ? 1 : 4 });
  try {
    const found = await alternate(
      rounds,
      () => rate(`${world.apiUrl}${pathname}`),
      () => rate(`${bare.url}/video`),
    );
    const figure = `delivery of a file of 10 MB, ${connections} connections`;
    return atLeast(figure, 'MB/s', compare(found), 0.7);
  } finally {
    await bare.child.stop();
    await removeFiles(world, ids);
  }
}

async function heldTasks(world: World, account: Account, count: number) {
  const { ids } = await createTasks(world, account, { model: models.held, count, inFlight: 16 });
  await untilCount(world, ids, 'placed', 60_000);
  return ids;
}

function resultsOf({ stack }: World, taskId: string): string {
  return join(stack.addresses.environment.STORAGE_DIR ?? '', 'results', taskId);
}

/** Removes the stored files. Without this, the benchmark would leave gigabytes of files. */
async function removeFiles(world: World, ids: readonly string[]): Promise<void> {
  for (const id of ids) await rm(resultsOf(world, id), { recursive: true, force: true });
}
