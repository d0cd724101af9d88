// Closes tasks that are long past their deadline. The workflow of such a task evidently does not
// work any more. So the workflow is terminated, and the task is closed as expired.

import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { listOverdue, type OpenRow } from '../../src/db/reconcile';
import { type CloseDeps, closeStopped } from './close-task';
import { oneByOne } from './one-by-one';

// Within this time after the deadline the workflow itself ends the task, unless the workflow cannot
// run.
const graceSeconds = 300;
// A task whose video is made gets more time: it may take ten minutes to store the video, and all
// workers may be away.
const madeGraceSeconds = 2 * 3_600;

/** Returns the ids of the tasks that were closed. */
export async function stopOverdue(deps: CloseDeps): Promise<string[]> {
  const stopped: string[] = [];
  const overdue = await listOverdue(deps.db, graceSeconds, madeGraceSeconds);
  const stop = async (row: OpenRow): Promise<void> => {
    await terminate(deps.client, row.id);
    if (await closeStopped(deps, row)) stopped.push(row.id);
  };
  await oneByOne(overdue, stop, ({ id }) => {
    deps.events.finding('stuck', id, 'its workflow could not be terminated');
  });
  return stopped;
}

async function terminate(client: Client, taskId: string): Promise<void> {
  try {
    await client.workflow.getHandle(taskId).terminate('past its deadline');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
