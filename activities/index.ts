// All activities, created with their dependencies. The histories of workflows contain the names of
// activities. So names may be added, but never changed. There are four groups: activities of tasks,
// of loops, of callbacks and of files. Each group runs on a separate task queue, so that a busy
// group does not delay another group.

import type { AuditDeps } from './audit-books';
import { createAuditActivities } from './audit-books';
import { createBillingActivities } from './billing';
import type { CallbackDeps } from './callbacks/attempt-callback';
import { createCallbackActivities } from './callbacks/attempt-callback';
import { createFollowActivities } from './jobs/read-and-cancel-job';
import { createSubmitActivities, type SubmitDeps } from './jobs/submit-job';
import type { WatchDeps } from './jobs/watch-channel';
import { createWatchActivities } from './jobs/watch-channel';
import type { ReconcileDeps } from './reconcile/reconcile';
import { createReconcileActivities } from './reconcile/reconcile';
import { createFileActivities, type FileDeps } from './results/store-results';

/**
 * The activities of a task. The activities that store its results are created by
 * createFileActivities.
 */
export function createTaskActivities(deps: SubmitDeps) {
  return {
    ...createBillingActivities(deps),
    ...createSubmitActivities(deps),
    ...createFollowActivities(deps),
  };
}

/** The activities that run as loops: the watchers of the channels, the reconciler and the audit. */
export function createLoopActivities(deps: WatchDeps & ReconcileDeps & AuditDeps) {
  return {
    ...createWatchActivities(deps),
    ...createReconcileActivities(deps),
    ...createAuditActivities(deps),
  };
}

export type { CallbackDeps, FileDeps };
export { createCallbackActivities, createFileActivities };

export type Activities = ReturnType<typeof createTaskActivities> &
  ReturnType<typeof createLoopActivities>;
