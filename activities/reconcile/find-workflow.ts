// Reads the state of a task's workflow from Temporal.

import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';

// After this many failed attempts of its workflow task, a workflow counts as stuck. Then an
// operator must deploy other code or reset the workflow.
const attemptsBeforeStuck = 4;

/**
 * `live`: the workflow is open and runs. `stuck`: the workflow is open, but its workflow task keeps
 * failing. `ended`: the workflow has ended. `unknown`: Temporal lost the workflow, or removed the
 * workflow after the retention period.
 */
export async function stateOf(
  client: Client,
  taskId: string,
): Promise<'live' | 'stuck' | 'ended' | 'unknown'> {
  const found = await describe(client, taskId);
  if (!found) return 'unknown';
  if (found.status.name !== 'RUNNING') return 'ended';
  const attempt = found.raw.pendingWorkflowTask?.attempt ?? 0;
  return attempt >= attemptsBeforeStuck ? 'stuck' : 'live';
}

/**
 * Returns the workflow if it is running. Returns undefined if the workflow has ended or is unknown
 * to Temporal.
 */
export async function findLive(
  client: Client,
  taskId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  const found = await describe(client, taskId);
  return found?.status.name === 'RUNNING' ? found : undefined;
}

async function describe(
  client: Client,
  taskId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(taskId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error; // Untested: Temporal is unavailable; the next check or run tries again.
  }
}
