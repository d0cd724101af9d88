// Reads many jobs with one request for each job, for a provider that cannot list jobs.

import { setTimeout } from 'node:timers/promises';
import { eachAtOnce } from '../each-at-once';
import type { JobReading, TakeReadings } from './provider';
import { UpstreamFault } from './provider';

// These reads use 48 of the 64 sockets for reads. The remaining 16 sockets stay free for other
// reads, even if all of these reads hang for ten seconds.
const readsAtOnce = 48;
/** The time limit of a single read. */
export const readMaxMs = 10_000;
const handOnEveryMs = 500;

/** How many reads a second may begin; without a pace, there is no limit. */
export interface Pace {
  readonly perSecond: number;
}

const gapOf = (pace: Pace | undefined) => (pace ? 1000 / pace.perSecond : 0);

/** Returns the longest time that `count` reads can take, in milliseconds. */
export function readEachMaxMs(count: number, pace?: Pace): number {
  return Math.ceil(count / readsAtOnce) * readMaxMs + count * gapOf(pace);
}

/**
 * Reads the jobs, and passes the new readings to `take` every 500 ms. Other reads may then still
 * wait for their answers. Throws if no job could be read, or after a fault that affects all jobs.
 */
export async function readEach(
  upstreamIds: readonly string[],
  read: (upstreamId: string) => Promise<JobReading>,
  take: TakeReadings,
  pace?: Pace,
): Promise<void> {
  const turn = turns(gapOf(pace));
  // Each round begins elsewhere, so that refused jobs at one place do not hide the others for ever.
  const first = Math.floor(Math.random() * upstreamIds.length);
  const ids = [...upstreamIds.slice(first), ...upstreamIds.slice(0, first)];
  let come = new Map<string, JobReading>();
  let count = 0;
  let refusals = 0;
  let trouble: UpstreamFault | undefined;
  // After a `busy` fault, or if the account is refused, every request would fail, so the remaining
  // jobs are not read. A single `operator` fault may belong to one job, for example of a former
  // project.
  const isAboutAll = () => trouble?.kind === 'busy' || (count === 0 && refusals >= readsAtOnce);
  const readOne = async (id: string) => {
    await turn();
    if (isAboutAll()) return;
    try {
      const reading = await read(id);
      // `come` may have become another map during the read.
      come.set(id, reading);
      count += 1;
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
      if (error.kind === 'operator') refusals += 1;
      if (error.kind !== 'not_found' && !isAboutAll()) trouble = error;
    }
  };
  let isDone = false;
  const all = eachAtOnce(ids, readsAtOnce, readOne).finally(() => {
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
  // A fault of one job must not hide the readings of the other jobs. If no job could be read, the
  // provider itself has a fault.
  if (trouble && (isAboutAll() || count === 0)) throw trouble;
}

/** Returns a function whose calls return one after another, with this time between two of them. */
function turns(gapMs: number): () => Promise<void> {
  let nextAt = performance.now();
  return async () => {
    const waitMs = nextAt - performance.now();
    nextAt += Math.max(gapMs, gapMs - waitMs);
    if (gapMs > 0 && waitMs > 0) await setTimeout(waitMs);
  };
}
