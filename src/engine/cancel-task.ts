// Requests the cancellation of a task's workflow.

import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/**
 * `asked`: Temporal accepted the request. `gone`: the workflow has ended or does not exist.
 * `unavailable`: the request failed in another way.
 */
export type CancelOutcome = 'asked' | 'gone' | 'unavailable';

export async function cancelTask(client: Client, taskId: string): Promise<CancelOutcome> {
  try {
    await client.workflow.getHandle(taskId).cancel();
    return 'asked';
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'gone' : 'unavailable';
  }
}
