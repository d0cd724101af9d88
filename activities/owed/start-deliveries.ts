// A pending callback owes `deliver`. Most are delivered by the workflow of their task. Three kinds are
// left: callbacks of tasks that ended without their workflow, messages that are sent again, and
// deliveries whose workflow was lost. Besides the workflow of a task, only this duty starts deliveries.

import {
  claimDeliveries,
  type DueDelivery,
  postponeDelivery,
} from '../../src/callbacks/callbacks.rows';
import type { Duty } from '../../src/owed/loop';
import type { WorkerDeps } from '../deps';

export function callbackDeliveries({
  db,
  startDelivery,
}: Pick<WorkerDeps, 'db' | 'startDelivery'>): Duty<DueDelivery> {
  return {
    name: 'deliver',
    atOnce: 16,
    idleMs: 1_000,
    claim: claimDeliveries(db),
    async fulfil({ taskId, delivery, firstAttempt }) {
      try {
        // If the delivery is running, for example because it waits for a busy receiver, nothing happens.
        await startDelivery({ taskId, delivery, firstAttempt });
        return true;
      } catch {
        return false;
      }
    },
    postpone: ({ taskId }) => postponeDelivery(db, taskId),
  };
}
