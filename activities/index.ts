// All activities, created with their dependencies. The histories of workflows contain the names of
// activities. So names may be added, but never changed. There are three groups: activities of tasks,
// of loops and of callbacks. Each group runs on a separate task queue, so that a busy group does not
// delay another group.

import { createCallbackActivities } from './callbacks/attempt-callback';
import type { WorkerDeps } from './deps';
import { createFileActivities } from './files/store-results';
import { createFollowActivities } from './jobs/read-and-cancel-job';
import { createRunJob } from './jobs/run-job';
import { createWatchActivities } from './jobs/watch-channel';
import { createAuditActivities } from './money/audit-books';
import { createBillingActivities } from './money/billing';
import { createUsageActivities } from './money/roll-up-usage';
import { createChannelTest } from './providers/test-channel';
import { createReconcileActivities } from './reconcile/reconcile';

/** The activities of a task. */
export function createTaskActivities(deps: WorkerDeps) {
  return {
    ...createBillingActivities(deps),
    ...createRunJob(deps),
    ...createFollowActivities(deps),
    ...createFileActivities(deps),
  };
}

/** The activities that run as loops: watchers of the channels, reconciler, audit and usage; and tests of channels. */
export function createLoopActivities(deps: WorkerDeps) {
  return {
    ...createWatchActivities(deps),
    ...createReconcileActivities(deps),
    ...createAuditActivities(deps),
    ...createUsageActivities(deps),
    ...createChannelTest(deps),
  };
}

export type { WorkerDeps };
export { createCallbackActivities };

export type Activities = ReturnType<typeof createTaskActivities> &
  ReturnType<typeof createLoopActivities>;
