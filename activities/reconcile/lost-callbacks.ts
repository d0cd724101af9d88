// Callbacks whose delivery was lost: its workflow was terminated, Temporal lost its data, or the
// worker that closed the task died before starting one. The task's last transaction records that a
// callback is owed, so the reconciler finds it and starts a delivery at the next attempt.

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

// A delivery waits at most ten minutes for a busy receiver. An older one may be lost.
const overdueSeconds = 10 * 60;
// 200 starts per run are about 3 per second, little for Temporal, and a backlog of 10,000 is gone
// within the hour.
const limit = 200;

/** Returns the number of deliveries that were checked. A running delivery is not affected. */
export async function restartLostCallbacks(
  deps: LostCallbackDeps,
  afterSeconds = overdueSeconds,
): Promise<number> {
  const overdue = await takeOverdueDeliveries(deps.db, afterSeconds, limit);
  // A delivery that could not be started is started by a later run.
  await oneByOne(overdue, deps.startDelivery, () => undefined);
  return overdue.length;
}
