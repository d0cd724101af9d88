// The workflows that run whether or not there is a task: watchers, reconciler and audit. Each only
// runs its activity. They move to new code with the workers; a task stays on the build it began on.

import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { AuditReport, ReconcileReport, WatchInput } from './messages';
import { auditPolicy, reconcilePolicy, watchPolicy } from './policies';
import { movesWithDeploys } from './versioning';

// The queue of their activities. It is separate from the queue of task activities, so that neither
// can starve the other.
const loopsQueue = () => `${workflowInfo().taskQueue}-loops`;

/**
 * Keeps one watcher of a channel running. The loop itself is a single long activity; this workflow
 * starts it again if its worker dies, and continues as new every hour to keep its history short.
 */
export async function watchChannel(input: WatchInput): Promise<void> {
  const { watchJobs } = proxyActivities<Activities>({ ...watchPolicy, taskQueue: loopsQueue() });
  setCurrentDetails(`Asks **${input.channel}** about its open jobs and notifies their tasks.`);
  const outcome = await watchJobs(input);
  // A channel that left the catalogue and has no open job needs no watcher.
  if (outcome === 'go on') await continueAsNew<typeof watchChannel>(input);
}
movesWithDeploys(watchChannel);

/** Started by a schedule; its result lists what it repaired. */
export async function reconcile(): Promise<ReconcileReport> {
  const { reconcileOnce } = proxyActivities<Activities>({
    ...reconcilePolicy,
    taskQueue: loopsQueue(),
  });
  return reconcileOnce();
}
movesWithDeploys(reconcile);

/** Started by its own schedule, so that refunds and cancels do not wait for its long reads. */
export async function audit(): Promise<AuditReport> {
  const { auditBooks } = proxyActivities<Activities>({ ...auditPolicy, taskQueue: loopsQueue() });
  return auditBooks();
}
movesWithDeploys(audit);
