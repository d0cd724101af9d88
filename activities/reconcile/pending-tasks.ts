// Repairs pending tasks that no process is working on. A task past its deadline is ended. A task that
// no API process starts is started here.

import { claimStarts, failPending, listExpiredPending } from '../../src/tasks/pending.rows';
import { expiredMessage, stoppedMessage } from '../../src/tasks/task.rules';
import type { WorkerDeps } from '../deps';
import { unlessStopping } from '../handing-over';

type Pending = Pick<WorkerDeps, 'db' | 'events' | 'startTask' | 'stopping'>;

// Within this time an API process starts the task, unless no API process runs, all are busy, or they
// cannot reach Temporal. The latter try the task again and again, so their leases do not count. A task
// that is started twice has one workflow.
const forgottenSeconds = 60;
const leaseSeconds = 60;
const endedMax = 500;
const startsMax = 500;
// After this many failed starts in a row Temporal is probably unavailable. The other tasks are claimed
// again in the next run.
const failuresMax = 3;

export async function repairPending(deps: Pending): Promise<void> {
  const { db } = deps;
  for (const { id, expiresAfterSeconds } of await listExpiredPending(db, endedMax)) {
    unlessStopping(deps.stopping);
    await end(deps, id, expiredMessage(expiresAfterSeconds));
  }
  await startForgotten(deps);
}

/** Starts workflows, but does not wait until the workflows have opened their tasks. */
export async function startForgotten(
  deps: Pending,
  olderThanSeconds = forgottenSeconds,
): Promise<void> {
  const limits = { limit: startsMax, leaseSeconds, olderThanSeconds };
  let failures = 0;
  for (const input of await claimStarts(deps.db, limits)) {
    unlessStopping(deps.stopping);
    try {
      const isRunning = await deps.startTask(input);
      failures = 0;
      if (isRunning) continue;
    } catch {
      // If Temporal refuses one task, the next tasks are still started.
      deps.events.finding('stuck', input.taskId, 'its workflow could not be started');
      failures += 1;
      if (failures >= failuresMax) return;
      continue;
    }
    // The workflow has completed although the task is pending: it was terminated, or our database or
    // Temporal's database was restored from an older state.
    await end(deps, input.taskId, stoppedMessage);
  }
}

async function end(deps: Pending, taskId: string, message: string): Promise<void> {
  const ended = await failPending(deps.db, taskId, message);
  if (ended) deps.events.finding('closed', taskId, message);
}
