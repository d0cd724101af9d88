// Tasks long past their deadline: their workflow cannot act any more, so it is terminated and the task
// is closed as expired.

import { WorkflowNotFoundError } from '@temporalio/client';
import { listOverdue } from '../../src/db/reconcile';
import { type CloseDeps, closeStopped } from './close-task';

// By then the workflow's own timer has ended the task, unless it cannot run.
const graceSeconds = 300;
// Twice the longest STORE_WAIT_SECONDS.
const storingGraceSeconds = 2 * 3_600;

/** The ids of the tasks that were closed. */
export async function stopOverdue(deps: CloseDeps): Promise<string[]> {
  const stopped: string[] = [];
  for (const row of await listOverdue(deps.db, graceSeconds, storingGraceSeconds)) {
    try {
      await deps.client.workflow.getHandle(row.id).terminate('past its deadline');
    } catch (error) {
      // Untested: Temporal goes away in the middle of a run; the next run starts over.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    if (await closeStopped(deps, row)) stopped.push(row.id);
  }
  return stopped;
}
