// Translates a provider's word for the state of a job into a `JobReading`, and gives the sentences
// for the ends that all generators have.

import type { JobFailure, JobResult, JobStatus } from '../../src/jobs/job.rules';
import type { JobReading } from './provider';

export type Statuses = Readonly<Record<string, JobStatus>>;
export type FailedStatus = 'failed' | 'cancelled' | 'expired';

/**
 * The status that a word of the provider stands for; null if the word is not in the table. A word
 * may be the name of a property that every object has, such as `constructor`.
 */
export function statusIn(statuses: Statuses, word: string): JobStatus | null {
  return Object.hasOwn(statuses, word) ? (statuses[word] ?? null) : null;
}

export function readingIn(
  statuses: Statuses,
  word: string,
  resultOf: () => JobResult,
  failureOf: (status: FailedStatus) => JobFailure,
): JobReading {
  const status = statusIn(statuses, word);
  if (status === 'succeeded') return { status, word, result: resultOf() };
  if (status === 'failed' || status === 'cancelled' || status === 'expired') {
    return { status, word, failure: failureOf(status) };
  }
  return { status, word };
}

export const unfinished = 'The generator could not finish this video.';

const endings = {
  cancelled: 'The generator cancelled the task.',
  expired: 'The generator let the task expire before it was done.',
};

/** `reasonOf` is asked only for a job that failed by itself. */
export function endedAs(status: FailedStatus, reasonOf: () => JobFailure): JobFailure {
  return status === 'failed' ? reasonOf() : { code: status, sentence: endings[status] };
}

export function failedWith(code: string, isWithheld: boolean): JobFailure {
  return {
    code,
    sentence: isWithheld ? 'The video was withheld by the content check.' : unfinished,
  };
}
