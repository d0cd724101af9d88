/*
 * The moments of a job's life that follow from its record alone: when it moves by itself, when its
 * results die, when it is forgotten.
 */

import type { Job } from './jobs';
import { isFinal } from './jobs';
import { isRendered } from './script';

const DAY_MS = 86_400_000;

/** Result files and their addresses die a day after the job ended. */
export const RESULT_LIFE_MS = DAY_MS;

/** The next moment at which this job moves by itself. */
export function nextMove(job: Job, isInLine: boolean): number {
  if (isFinal(job)) return forgetAt(job);
  if (job.status === 'queued') {
    return isInLine ? job.expiresAt : Math.min(job.readyAt, job.expiresAt);
  }
  const isBusy = isRendered(job.script) && !job.result && !job.failure;
  const runMs = (job.script.run_s ?? 0) * 1000;
  return isBusy ? job.expiresAt : Math.min((job.startedAt ?? 0) + runMs, job.expiresAt);
}

export function resultsDieAt(job: Job): number {
  return (job.finishedAt ?? job.createdAt) + RESULT_LIFE_MS;
}

/** Records stay readable for seven days; a cancelled one is gone after one. */
function forgetAt(job: Job): number {
  return job.status === 'cancelled'
    ? (job.finishedAt ?? job.createdAt) + DAY_MS
    : job.createdAt + 7 * DAY_MS;
}
