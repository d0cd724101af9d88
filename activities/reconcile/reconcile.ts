// The run of the reconciler: repairs what no workflow will finish, in this order. Each duty is a file
// of its own; docs/architecture.md lists all of them.

import type { ReconcileReport } from '../../workflows/messages';
import type { JobDeps } from '../deps';
import { whileBeating } from '../heartbeat';
import { wakeStranded } from '../jobs/notify-tasks';
import { recoverStalledPlacements } from '../jobs/recover-stalled-placements';
import { deleteDeadUploads, type UploadDeps } from './dead-uploads';
import { closeEnded } from './ended-workflows';
import { removeExpired } from './expired-files';
import { type StopDeps, stopLeftJobs } from './left-jobs';
import { restartLostCallbacks } from './lost-callbacks';
import { type CopyStartDeps, restartLostCopies } from './lost-copies';
import { checkSlice, type SliceDeps } from './lost-workflows';
import { createDeleteOld, type DeleteOld, type OldTaskDeps } from './old-tasks';
import { stopOverdue } from './overdue-tasks';
import { type PendingDeps, settlePending } from './pending-tasks';
import { createRemoveUnknown, type ObjectDeps, type RemoveUnknown } from './unknown-objects';
import { type ChannelDeps, watchUsedChannels } from './unwatched-channels';

export type ReconcileDeps = JobDeps &
  ChannelDeps &
  CopyStartDeps &
  ObjectDeps &
  OldTaskDeps &
  PendingDeps &
  SliceDeps &
  StopDeps &
  UploadDeps;

export function createReconcileActivities(deps: ReconcileDeps) {
  const removeUnknown = createRemoveUnknown(deps);
  const deleteOld = createDeleteOld(deps);
  return {
    reconcileOnce: (): Promise<ReconcileReport> =>
      whileBeating(() => runReconciler(deps, removeUnknown, deleteOld)),
  };
}

async function runReconciler(
  deps: ReconcileDeps,
  removeUnknown: RemoveUnknown,
  deleteOld: DeleteOld,
): Promise<ReconcileReport> {
  await watchUsedChannels(deps);
  const callbacks = await restartLostCallbacks(deps);
  await settlePending(deps);
  await recoverStalledPlacements(deps);
  await wakeStranded(deps);
  const stopped = await stopOverdue(deps);
  const ended = await closeEnded(deps);
  const { checked, closed, stuck } = await checkSlice(deps);
  await stopLeftJobs(deps);
  await deleteDeadUploads(deps);
  await restartLostCopies(deps);
  await removeExpired(deps);
  await removeUnknown();
  await deleteOld();
  return { checked, closed: [...ended, ...closed], stopped, stuck, callbacks };
}
