// The workflows that run whether or not there is a task: watchers, reconciler and audit. Each only
// runs its activity. They move to new code with the workers; a task stays on the build it began on.

import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type {
  AuditInput,
  AuditReport,
  ReconcileInput,
  ReconcileReport,
  WatchInput,
} from './messages';
import { auditPolicy, reconcilePolicy, watchPolicy } from './policies';
import { movesWithDeploys } from './versioning';

/**
 * Keeps one watcher of a channel running. The loop itself is a single long activity; this workflow
 * starts it again if its worker dies, and continues as new every hour to keep its history short.
 */
export async function watchChannel(input: WatchInput): Promise<void> {
  const { watchJobs } = proxyActivities<Activities>({ ...watchPolicy, taskQueue: input.taskQueue });
  setCurrentDetails(`Asks **${input.channel}** about its open jobs and notifies their tasks.`);
  const outcome = await watchJobs(input);
  // A channel that left the catalogue and has no open job needs no watcher.
  if (outcome === 'go on') await continueAsNew<typeof watchChannel>(input);
}
movesWithDeploys(watchChannel);

/** Started by a schedule; its result lists what it repaired. */
export async function reconcile({ taskQueue }: ReconcileInput): Promise<ReconcileReport> {
  const { reconcileOnce } = proxyActivities<Activities>({ ...reconcilePolicy, taskQueue });
  return reconcileOnce({ taskQueue });
}
movesWithDeploys(reconcile);

/** Started by its own schedule, so that refunds and cancels do not wait for its long reads. */
export async function audit({ taskQueue }: AuditInput): Promise<AuditReport> {
  const { auditBooks } = proxyActivities<Activities>({ ...auditPolicy, taskQueue });
  return auditBooks();
}
movesWithDeploys(audit);
