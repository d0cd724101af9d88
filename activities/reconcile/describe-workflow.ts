// What Temporal knows of the workflow of a task.

import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { JobKind } from '../../src/jobs/job.rules';
import { failAttempt } from '../jobs/fail-attempt';

/** Returns undefined if Temporal does not know the workflow of the task. */
export async function describeWorkflow(
  client: Client,
  taskId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(taskId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error; // Untested: Temporal is unavailable; the next run tries again.
  }
}

/**
 * The activity of a job stays open although its row is closed if Temporal has lost its last seconds,
 * in which the activity had ended. Nobody will complete it again. Its next attempt reads the report
 * in the row.
 */
export async function repeatEnded(
  client: Client,
  taskId: string,
  { raw }: WorkflowExecutionDescription,
): Promise<void> {
  const open = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'runJob');
  if (!open) return;
  await failAttempt(client, { taskId, kind: open.activityId as JobKind }, 'The job has ended.');
}
