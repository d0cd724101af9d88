// Timeouts and retries of a callback's activities. What is repeated here is our own trouble (the
// database, a worker that died); a receiver's is repeated by the workflow, on the schedule the
// consumer knows.

import type { ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';

/**
 * An attempt has 15 s for the receiver, the rest of the 40 s is the database's; its heartbeat tells
 * within 15 s that a worker died. Attempts are not limited: while the database is away nothing can
 * be sent or recorded, and the callback is still owed. A cancel waits for a request that is on its
 * way, so that its answer is recorded.
 */
export const callbackPolicy: ActivityOptions = {
  startToCloseTimeout: '40 s',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
};
