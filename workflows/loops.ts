// The workflows that belong to no task: watchers, reconciler, audit and usage. Each workflow only runs one
// activity. On a deploy these workflows move to the new code. The workflow of a task stays on the
// build on which the task began.

import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import {
  type AuditReport,
  queuesOf,
  type ReconcileReport,
  type RollUpReport,
  type WatchInput,
} from './messages';
import { auditPolicy, reconcilePolicy, usagePolicy, watchPolicy } from './policies';
import { movesWithDeploys } from './versioning';

// The Temporal task queue of these activities. The activities of video tasks use another queue, so
// neither kind of activity can delay the other.
const loopsQueue = () => queuesOf(workflowInfo().taskQueue).loops;

/**
 * Keeps the watcher loop of a channel running. The loop is one activity of an hour; Temporal
 * retries the activity if its worker dies. After the hour the workflow continues as new, so that
 * its history stays short.
 */
export async function watchChannel(input: WatchInput): Promise<void> {
  const { watchJobs } = proxyActivities<Activities>({ ...watchPolicy, taskQueue: loopsQueue() });
  setCurrentDetails(`Asks **${input.channel}** about its open jobs and notifies their tasks.`);
  const outcome = await watchJobs(input);
  // 'gone': the catalogue no longer contains the channel, and no job is open.
  if (outcome === 'go on') await continueAsNew<typeof watchChannel>(input);
}
movesWithDeploys(watchChannel);

/** Started by a schedule. The result lists the repairs. */
export async function reconcile(): Promise<ReconcileReport> {
  const { reconcileOnce } = proxyActivities<Activities>({
    ...reconcilePolicy,
    taskQueue: loopsQueue(),
  });
  return reconcileOnce();
}
movesWithDeploys(reconcile);

/**
 * Started by a schedule of its own, so that the reconciler's refunds and cancels do not wait for
 * the long reads of an audit.
 */
export async function audit(): Promise<AuditReport> {
  const { auditBooks } = proxyActivities<Activities>({ ...auditPolicy, taskQueue: loopsQueue() });
  return auditBooks();
}
movesWithDeploys(audit);

/** Started by a schedule of its own, so that a fault of the audit does not make the reports old. */
export async function usage(): Promise<RollUpReport> {
  const { rollUpUsage } = proxyActivities<Activities>({ ...usagePolicy, taskQueue: loopsQueue() });
  return rollUpUsage();
}
movesWithDeploys(usage);
