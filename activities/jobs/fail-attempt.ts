// Fails the attempt of a job's activity whose worker died. The activity stays open until the job has
// ended, so Temporal cannot distinguish a dead worker from a job that takes days.

import { ApplicationFailure } from '@temporalio/activity';
import { ActivityNotFoundError, type Client } from '@temporalio/client';
import type { JobName } from '../../src/jobs/job.rules';

/**
 * Fails the attempt that is open, so that Temporal starts the next one. Returns false if none is: the
 * next one has its time, or waits for a free worker, or the activity has ended.
 */
export async function failAttempt(
  client: Client,
  { taskId, kind }: JobName,
  message: string,
): Promise<boolean> {
  const failure = ApplicationFailure.create({ type: 'WorkerSilent', message });
  // If Temporal was restored to an earlier state, its workflow may still wait for the first job.
  const activities = kind === 'super_resolution' ? [kind, 'generation'] : [kind];
  for (const activityId of activities) {
    try {
      await client.activity.fail({ workflowId: taskId, activityId }, failure);
      return true;
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) throw error;
    }
  }
  return false;
}
