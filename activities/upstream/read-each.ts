// Reads many jobs one by one, for a provider that cannot list them.

import { setTimeout } from 'node:timers/promises';
import { eachAtOnce } from '../each-at-once';
import type { JobReading, TakeReadings } from './provider';
import { UpstreamFault } from './provider';

// These reads use 48 of the 64 sockets for reads. The others stay free for other reads, even if
// these reads hang for ten seconds.
const readsAtOnce = 48;
/** The time limit of one of these reads. */
export const readMaxMs = 10_000;
const handOnEveryMs = 500;

/** The longest time that this many reads can take. */
export function readEachMaxMs(count: number): number {
  return Math.ceil(count / readsAtOnce) * readMaxMs;
}

/**
 * Reads the jobs and passes readings to `take` at intervals, while other reads still wait for their
 * answer.
 */
export async function readEach(
  upstreamIds: readonly string[],
  read: (upstreamId: string) => Promise<JobReading>,
  take: TakeReadings,
): Promise<void> {
  let come = new Map<string, JobReading>();
  let count = 0;
  let trouble: UpstreamFault | undefined;
  // These faults affect every request, so the remaining jobs are not read.
  const isAboutAll = () => trouble?.kind === 'busy' || trouble?.kind === 'operator';
  const readOne = async (id: string) => {
    if (isAboutAll()) return;
    try {
      come.set(id, await read(id));
      count += 1;
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
      if (error.kind !== 'not_found') trouble = error;
    }
  };
  let isDone = false;
  const all = eachAtOnce(upstreamIds, readsAtOnce, readOne).finally(() => {
    isDone = true;
  });
  // `all` is awaited below. This line prevents an unhandled rejection if `take` fails first.
  all.catch(() => undefined); // Untested: only a defect leads here.
  while (!isDone || come.size > 0) {
    await Promise.race([all, setTimeout(handOnEveryMs)]);
    const readings = come;
    come = new Map();
    if (readings.size > 0) await take(readings);
  }
  // A job that cannot be read must not hide the others. If no job could be read, the fault is the
  // provider's.
  if (trouble && (isAboutAll() || count === 0)) throw trouble;
}
