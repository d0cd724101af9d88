// Ends a task whose workflow cannot end it. The task fails, its hold is returned, its jobs are
// marked to be cancelled, and its callback is started.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import { isRetryable } from '../../src/db/database';
import { expireResults } from '../../src/db/files/retention';
import type { OpenRow } from '../../src/db/reconcile';
import { billing } from '../../src/domain/pricing';
import { expiredMessage, failedObject, stoppedMessage } from '../../src/domain/task';
import type { ClosedTask, CloseTask } from '../../src/domain/task-transactions';
import type { ActivityEvents } from '../events';
import type { StartDelivery } from './lost-callbacks';

export interface CloseDeps {
  readonly db: Knex;
  readonly client: Client;
  readonly startDelivery: StartDelivery;
  readonly now: () => number;
  readonly events: ActivityEvents;
  readonly closeTask: (close: CloseTask) => Promise<ClosedTask>;
}

/**
 * Returns true if the task was still open and is now closed. If the row cannot be read, an operator
 * is informed and false is returned. So the other rows are still closed.
 */
export async function closeStopped(deps: CloseDeps, row: OpenRow): Promise<boolean> {
  try {
    return await closeRow(deps, row);
  } catch (error) {
    // Untested: the database becomes unavailable during a run; the next run starts over.
    if (isRetryable(error)) throw error;
    deps.events.finding('unreadable', row.id, String(error));
    return false;
  }
}

async function closeRow(deps: CloseDeps, row: OpenRow): Promise<boolean> {
  const { plan, nowMs } = row;
  const message =
    nowMs > row.deadlineAtMs ? expiredMessage(plan.expiresAfterSeconds) : stoppedMessage;
  const bill = billing(plan, { lines: [], final: true });
  const object = failedObject(row.object, message, Math.floor(nowMs / 1000), bill);
  const heldMicros = plan.hold.amountMicros;
  const { first, hasCallback } = await deps.closeTask({
    taskId: row.id,
    object,
    heldMicros,
    charge: [],
  });
  if (!first) return false; // Untested: the workflow ended the task at the same moment.
  deps.events.finding('closed', row.id, message);
  await expireResults(deps.db, row.id);
  // The transaction recorded that a callback must be delivered. If the delivery cannot be started
  // now, a later run of the reconciler starts the delivery.
  // Untested: Temporal becomes unavailable at that moment; lost callbacks are tested.
  if (hasCallback) await deps.startDelivery({ taskId: row.id }).catch(() => undefined);
  return true;
}
