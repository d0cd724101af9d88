// Runs the job of a task: places it at one of its channels, and waits for its end. Each attempt begins the
// same way, as if the job were new. If an earlier attempt has sent it, the first slot cannot be taken, and
// src/jobs/placing.rules.ts decides what follows from the row.

import { ApplicationFailure, CompleteAsyncError } from '@temporalio/activity';
import type { Knex } from 'knex';
import { assert } from '../../src/assert';
import type { JobInput, JobName, PlacedJob } from '../../src/jobs/job.rules';
import { beginPlacing, pausePlacing, renewPlacing } from '../../src/jobs/owed.rows';
import { closeReported } from '../../src/jobs/steps.rows';
import type { WorkerDeps } from '../deps';
import { findBaseVideo } from './base-video';
import { channelsOf } from './candidates';
import { withInputAddresses } from './input-addresses';
import { placeJob } from './place-job';
import { tellingAttempts } from './tell-attempts';

export function createRunJob(deps: WorkerDeps) {
  return {
    /**
     * Places the job. After a channel has accepted the job, the activity stays open. The watcher
     * completes the activity when the job ends (notify-tasks.ts).
     */
    async runJob(input: JobInput): Promise<PlacedJob> {
      const run = async () => {
        const { taskId, kind } = input;
        const began = performance.now();
        const begun = await beginPlacing(deps.db, input);
        assert(begun, `${taskId} has a row`);
        if (kind === 'super_resolution')
          await closeReported(deps.db, { taskId, kind: 'generation' });
        const videoUrl = await findBaseVideo(deps, input);
        const requested = await withInputAddresses(deps, { ...input, videoUrl, ...begun });
        return placeJob(deps, requested, began);
      };
      const channels = channelsOf(input);
      const attempted = await whileAtWork(deps.db, input, () =>
        tellingAttempts(deps, input, channels, run),
      );
      if (attempted.outcome === 'open') throw new CompleteAsyncError();
      return attempted;
    },
  };
}

const renewEveryMs = 5_000;

// The longest pause of the retry policy of the job (workflows/policies.ts).
const pauseMaxMs = 30_000;

/**
 * Renews the lease of the attempt. If its worker dies, the lease lapses (../owed/place-jobs.ts). An
 * attempt that fails leaves a lease that covers the pause before the next one.
 */
async function whileAtWork<T>(db: Knex, job: JobName, work: () => Promise<T>): Promise<T> {
  // A renewal that fails is made up for by the next one.
  const renew = () => void renewPlacing(db, job).catch(() => undefined);
  const renewing = setInterval(renew, renewEveryMs);
  try {
    return await work();
  } catch (error) {
    clearInterval(renewing);
    if (error instanceof ApplicationFailure) {
      const { nextRetryDelay } = error;
      const pauseMs = typeof nextRetryDelay === 'number' ? nextRetryDelay : pauseMaxMs;
      await pausePlacing(db, job, pauseMs).catch(() => undefined);
    }
    throw error;
  } finally {
    clearInterval(renewing);
  }
}
