// Starts lost deliveries of callbacks again. A delivery is lost if its workflow was terminated,
// Temporal lost its data, or the worker that closed the task died before it started a delivery. The
// row says that the callback is owed, so the reconciler finds it. The delivery continues with its
// next attempt.

import type { Knex } from 'knex';
import { takeOverdueDeliveries } from '../../src/db/callbacks';
import type { CallbackInput } from '../../workflows/messages';
import { oneByOne } from './one-by-one';

/** Starts a delivery. If it is running already, nothing happens. */
export type StartDelivery = (input: CallbackInput) => Promise<void>;

interface LostCallbackDeps {
  readonly db: Knex;
  readonly startDelivery: StartDelivery;
}

// A delivery waits at most ten minutes for a busy receiver. A delivery that is overdue for longer
// may be lost.
const overdueSeconds = 10 * 60;
// 200 starts per run are about 3 per second, which is little for Temporal. A backlog of 10,000 is
// gone within an hour.
const limit = 200;

/** Returns the number of overdue deliveries. A delivery that is still running is not affected. */
export async function restartLostCallbacks(
  deps: LostCallbackDeps,
  afterSeconds = overdueSeconds,
): Promise<number> {
  const overdue = await takeOverdueDeliveries(deps.db, afterSeconds, limit);
  // A delivery that could not be started is started by a later run.
  await oneByOne(overdue, deps.startDelivery, () => undefined);
  return overdue.length;
}
