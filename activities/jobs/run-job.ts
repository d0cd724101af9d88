// Runs the job of a task: places it at one of its channels, and waits for its end.

import { CompleteAsyncError } from '@temporalio/activity';
import type { JobInput, PlacedJob } from '../../src/jobs/job.rules';
import { closeReported } from '../../src/jobs/steps.rows';
import { findRequest } from '../../src/tasks/tasks.rows';
import type { WorkerDeps } from '../deps';
import { whileBeating } from '../heartbeat';
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
        if (kind === 'super_resolution')
          await closeReported(deps.db, { taskId, kind: 'generation' });
        const videoUrl = await findBaseVideo(deps, input);
        const requested = { ...input, videoUrl, ...(await findRequest(deps.db, taskId)) };
        return placeJob(deps, await withInputAddresses(deps, requested));
      };
      const channels = channelsOf(input);
      const attempted = await whileBeating(() => tellingAttempts(deps, input, channels, run));
      if (attempted.outcome === 'open') throw new CompleteAsyncError();
      return attempted;
    },
  };
}
