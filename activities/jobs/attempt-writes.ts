// What one attempt to place a job writes to the row of the job. A later attempt takes the row over.
// After that, what the earlier one writes changes nothing, except for an upstream id.

import { randomUUID } from 'node:crypto';
import { isRetryable } from '../../src/database/database';
import type { JobFailure, JobInput } from '../../src/jobs/job.rules';
import { takeSlot } from '../../src/jobs/slots.rows';
import {
  type Destination,
  forgetSending,
  storeOpened,
  storeRejected,
  storeSearched,
} from '../../src/jobs/steps.rows';
import { takeOver } from '../../src/jobs/take-over.rows';
import type { WorkerDeps } from '../deps';
import { whileRetryable } from './while-retryable';

export function attemptWrites(
  { db, stopping }: Pick<WorkerDeps, 'db' | 'stopping'>,
  job: JobInput,
) {
  // A restored Temporal may give out the same attempt twice, so its number would be no name.
  const attempt = randomUUID();

  /**
   * Records that no create of this attempt is in progress. Only this attempt knows that. Returns
   * false if a later attempt has taken the job over.
   */
  const release = () => whileRetryable(stopping, () => forgetSending(db, job, attempt));

  return {
    release,
    async takeSlot(to: Destination, slots: number | null) {
      try {
        return await takeSlot(db, job, to, slots, attempt);
      } catch (error) {
        // The slot may be taken although the answer was lost. But nothing was sent.
        if (isRetryable(error)) await release();
        throw error;
      }
    },
    takeOver: () => takeOver(db, job, attempt),
    storeOpened: (placed: { readonly channel: string; readonly upstreamId: string }) =>
      whileRetryable(stopping, () => storeOpened(db, job, placed)),
    storeRejected: (failure: JobFailure) => storeRejected(db, job, attempt, failure),
    storeSearched: () => storeSearched(db, job, attempt),
  };
}
