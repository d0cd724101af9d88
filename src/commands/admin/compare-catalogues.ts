// Starts the thread that compares two catalogues, and ends it if it takes too long or too much memory.

import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CommandError } from '../command';
import { projectFolder } from '../package-info';
import type { Compared, Compares } from './compare-thread';

// The longest time of a report, too.
const longestMs = 15_000;
// Beside the rest of the process, within the 384 MB that the chart gives the console.
const resourceLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 };

let isBusy = false;

export async function compareCatalogues(
  compares: Compares,
  withinMs = longestMs,
): Promise<Compared> {
  if (isBusy) {
    const message = 'Another catalogue is compared at the moment. Try again in a few seconds.';
    throw new CommandError(message, 1, { kind: 'away' });
  }
  isBusy = true;
  // A thread always runs from dist, even in tests, which run this code from source.
  const file = join(projectFolder(), 'dist/src/commands/admin/compare-thread.js');
  const thread = new Worker(file, { workerData: compares, resourceLimits, env: {} });
  try {
    const [answer] = await once(thread, 'message', { signal: AbortSignal.timeout(withinMs) });
    return JSON.parse(answer as string) as Compared;
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException;
    const isTooMuch = name === 'AbortError' || name === 'RangeError';
    if (!isTooMuch && code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    const faults = ['(the whole file): is too large or too deeply nested to be compared'];
    return { faults, warnings: [], diff: null, isFirst: false };
  } finally {
    await thread.terminate();
    isBusy = false;
  }
}
