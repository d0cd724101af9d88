/*
 * Computes times that follow from a job's record alone: its next transition, the expiry of its
 * results, and the deletion of its record.
 */

import { isRendered } from './fault-script';
import type { Job } from './job';
import { isFinal } from './job';

const DAY_MS = 86_400_000;

/** Result files and their links expire a day after the job ended. */
export const RESULT_LIFE_MS = DAY_MS;

/**
 * Returns the time of the job's next transition that needs no request. While the job waits for a
 * slot or for its rendering, this is its expiry.
 */
export function nextMove(job: Job, isWaiting: boolean): number {
  if (isFinal(job)) return forgetAt(job);
  if (job.status === 'queued') {
    return isWaiting ? job.expiresAt : Math.min(job.readyAt, job.expiresAt);
  }
  const isBusy = isRendered(job.script) && !job.result && !job.failure;
  const runMs = (job.script.run_s ?? 0) * 1000;
  return isBusy ? job.expiresAt : Math.min((job.startedAt ?? 0) + runMs, job.expiresAt);
}

export function resultsExpireAt(job: Job): number {
  const life = job.script.link_life_s;
  return (job.finishedAt ?? job.createdAt) + (life === undefined ? RESULT_LIFE_MS : life * 1000);
}

/**
 * Returns the time at which the record is deleted: seven days after the creation of the job, or one
 * day after a cancellation.
 */
function forgetAt(job: Job): number {
  return job.status === 'cancelled'
    ? (job.finishedAt ?? job.createdAt) + DAY_MS
    : job.createdAt + 7 * DAY_MS;
}
