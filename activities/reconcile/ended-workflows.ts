// Closes a task if its workflow ended without closing the task. Usually such a workflow was
// terminated. Temporal's visibility store lists ended workflows soon. So these tasks need not wait
// until lost-workflows.ts checks them.

import type { Client } from '@temporalio/client';
import { findOpenRows, type OpenRow } from '../../src/db/reconcile';
import { workflowNames } from '../../workflows/messages';
import { type CloseDeps, closeStopped } from './close-task';
import { stateOf } from './find-workflow';
import { oneByOne } from './one-by-one';

// Temporal updates its visibility store with a delay. Ten minutes cover this delay and one or two
// missed runs of the reconciler.
const visibilityWindowMs = 10 * 60_000;
const endedMax = 2_000;

/** Returns the ids of the tasks that were closed. */
export async function closeEnded(deps: CloseDeps): Promise<string[]> {
  const closed: string[] = [];
  const rows = await findOpenRows(deps.db, await listRecentlyEnded(deps.client, deps.now()));
  const close = async (row: OpenRow): Promise<void> => {
    // The list may show an old workflow although a newer workflow of the same task runs.
    if ((await stateOf(deps.client, row.id)) !== 'ended') return;
    if (await closeStopped(deps, row)) closed.push(row.id);
  };
  await oneByOne(rows, close, ({ id }) => {
    deps.events.finding('stuck', id, 'its workflow could not be described');
  });
  return closed;
}

async function listRecentlyEnded(client: Client, nowMs: number): Promise<string[]> {
  const since = new Date(nowMs - visibilityWindowMs).toISOString();
  const query =
    `WorkflowType = '${workflowNames.generateVideo}' and CloseTime > '${since}' and ` +
    `ExecutionStatus in ('Terminated', 'Failed', 'TimedOut', 'Canceled')`;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 200 })) {
    ids.push(workflowId);
    if (ids.length >= endedMax) break; // Untested: two thousand terminations in ten minutes.
  }
  return ids;
}
