// One run of the reconciler. The reconciler repairs tasks, jobs and files that no workflow will
// finish. Each duty is a function, most of them in a file of their own, and docs/architecture.md lists
// what they repair. If a duty fails, the next duties still run. Then the run fails and is repeated. If
// the worker stops, another worker repeats the run.

import { forgetRefusals } from '../../src/accounts/refusals.rows';
import { alertLowBalances, forgetAlerts } from '../../src/callbacks/alerts.rows';
import { forgetRemovedUploads } from '../../src/files/uploads.rows';
import { releaseStranded } from '../../src/jobs/slots.rows';
import { recordRun } from '../../src/tasks/reconcile.rows';
import type { ReconcileReport } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { unlessStopping } from '../handing-over';
import { whileBeating } from '../heartbeat';
import { endLost, endOverdue, endTerminated } from './end-tasks';
import { createForgetOld, type ForgetOld } from './old-tasks';
import { watchUsedChannels } from './unwatched-channels';

// The row of a removed upload is kept for this long. Until then, a request for the upload is
// answered with the reason of the removal. The rows of results are deleted with their tasks.
const removedUploadsKeptDays = 35;
const endedAlertsKeptDays = 35;
const refusalsKeptDays = 90;
const forgottenMax = 2_000;

export function createReconcileActivities(deps: WorkerDeps) {
  const forgetOld = createForgetOld(deps, deps.settings);
  return {
    reconcileOnce: (): Promise<ReconcileReport> =>
      whileBeating(() => runReconciler(deps, forgetOld)),
  };
}

async function runReconciler(deps: WorkerDeps, forgetOld: ForgetOld): Promise<ReconcileReport> {
  const failures: unknown[] = [];
  const attempt = async <T>(duty: () => Promise<T>): Promise<T | undefined> => {
    unlessStopping(deps.stopping);
    try {
      return await duty();
    } catch (error) {
      failures.push(error);
      return undefined;
    }
  };
  await attempt(() => watchUsedChannels(deps));
  await attempt(() => releaseStranded(deps.db, deps.channels.ids()));
  const stopped = (await attempt(() => endOverdue(deps))) ?? [];
  const ended = (await attempt(() => endTerminated(deps))) ?? [];
  const { checked = 0, closed = [], stuck = [] } = (await attempt(() => endLost(deps))) ?? {};
  await attempt(() => alertLowBalances(deps.db));
  await attempt(() => forgetAlerts(deps.db, endedAlertsKeptDays));
  await attempt(() => forgetRefusals(deps.db, refusalsKeptDays));
  await attempt(() => forgetRemovedUploads(deps.db, removedUploadsKeptDays, forgottenMax));
  await attempt(() => forgetOld());
  if (failures.length > 0) throw failures[0];
  await recordRun(deps.db);
  return { checked, closed: [...ended, ...closed], stopped, stuck };
}
