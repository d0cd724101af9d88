// Starts lost deliveries of callbacks again. A delivery is lost if its workflow was terminated, if
// Temporal lost its data, or if the worker that closed the task died before it started the
// delivery. The row of the callback was stored when the task ended, so the reconciler finds the
// lost delivery. A delivery that is started again continues with its next attempt.

import { takeOverdueDeliveries } from '../../src/callbacks/callbacks.rows';
import type { WorkerDeps } from '../deps';
import { oneByOne } from './one-by-one';

// A delivery waits at most ten minutes for a busy receiver. If a delivery is overdue for longer,
// the delivery may be lost.
const overdueSeconds = 10 * 60;
// 200 starts per run are about 3 per second, which is little for Temporal. 10,000 lost deliveries
// are started within an hour.
const limit = 200;

/**
 * Starts the overdue deliveries and returns their number. If an overdue delivery is still running,
 * its start has no effect.
 */
export async function restartLostCallbacks(
  deps: Pick<WorkerDeps, 'db' | 'startDelivery' | 'stopping'>,
  afterSeconds = overdueSeconds,
): Promise<number> {
  const overdue = await takeOverdueDeliveries(deps.db, afterSeconds, limit);
  // If a delivery cannot be started now, a later run starts the delivery.
  await oneByOne(deps.stopping, overdue, deps.startDelivery, () => undefined);
  return overdue.length;
}
