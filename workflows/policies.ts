// All timeouts and retries of activities in one table, each with its reason. Retries are defined only
// here: no client inside an activity retries by itself. The workflow of a callback retries failures
// of the receiver, on the documented schedule.

import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';

/**
 * For openTask and closeTask. Local activities, because each is one short transaction and a round
 * trip to Temporal would double the time of a POST. They are retried until the database answers,
 * because an open task holds a customer's money. The threshold of 1 ms makes every pause between
 * retries a timer of the workflow: it keeps no workflow task open, and avoids the SDK's own
 * retries, which leave the timeout timer of the failed attempt running.
 */
export const transactionPolicy: LocalActivityOptions = {
  summary: 'row and money in one transaction',
  startToCloseTimeout: '7 s',
  localRetryThreshold: '1 ms',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 s' },
};

/**
 * For a job from its placement to its end. No worker holds the activity while it waits, so it has
 * no heartbeat timeout; a worker that dies while it places the job is noticed by the watchers
 * (activities/jobs/recover-stalled-placements.ts). Attempts are unlimited, until the task's
 * deadline. A cancellation does not wait for an attempt in progress: cancelJob looks for a create
 * that was on its way.
 */
export function jobPolicy(remainingMs: number): ActivityOptions {
  return {
    summary: 'places the job with a channel, once, and waits for its end',
    // Longer than the remaining time, so that the task's own timer ends it first.
    startToCloseTimeout: remainingMs + 60_000,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s' },
  };
}

/**
 * For the last read of a job at the deadline: three attempts within 20 s, then the task expires.
 */
export const lastCheckPolicy: ActivityOptions = {
  summary: 'deadline: reads the job once more',
  startToCloseTimeout: '10 s',
  scheduleToCloseTimeout: '20 s',
  retry: { initialInterval: '1 s', maximumAttempts: 3 },
};

/** A few attempts within a minute. After that the reconciler repeats the cancel. */
export const cancelPolicy: ActivityOptions = {
  summary: 'asks the provider to stop the job',
  startToCloseTimeout: '30 s',
  scheduleToCloseTimeout: '1 min',
  retry: { initialInterval: '2 s', backoffCoefficient: 2 },
};

/**
 * Of the 40 s the receiver has 15 s and the database the rest. A missing heartbeat shows within 15
 * s that a worker died. Attempts are unlimited: while the database is away nothing can be sent or
 * recorded, but the callback is still owed. A cancel waits for the request in progress, so that its
 * answer is recorded.
 */
export const callbackPolicy: ActivityOptions = {
  startToCloseTimeout: '40 s',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
};

/**
 * For the copy of results into the storage. The activity decides how long a task waits for it; the
 * time limit is above the longest wait that can be set. A missing heartbeat shows within 15 s that a
 * worker died.
 */
export const storePolicy: ActivityOptions = {
  summary: 'copies the results into the storage',
  startToCloseTimeout: '65 min',
  heartbeatTimeout: '15 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s' },
};

/** No task waits for this copy and upload. They may take a day. */
export const storeLaterPolicy: ActivityOptions = {
  ...storePolicy,
  startToCloseTimeout: '2 hours',
  retry: { initialInterval: '10 s', backoffCoefficient: 2, maximumInterval: '5 min' },
};

/**
 * For the watcher's loop: one activity of an hour, then a new one, so that the history stays short.
 * A missing heartbeat shows within 15 s that its worker died; the next attempt starts a second
 * later on another worker.
 */
export const watchPolicy: ActivityOptions = {
  summary: 'polls all open jobs of the channel',
  startToCloseTimeout: '65 min',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 s', backoffCoefficient: 1, maximumInterval: '5 s' },
};

/** Few attempts for the reconciler, because its next run starts within a minute anyway. */
export const reconcilePolicy: ActivityOptions = {
  summary: 'repairs what no workflow will finish',
  startToCloseTimeout: '5 min',
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumAttempts: 3 },
};

/** An audit reads the movements of an hour; after a restore it reads all of them once. */
export const auditPolicy: ActivityOptions = {
  summary: 'checks the books',
  startToCloseTimeout: '50 min',
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '10 s', backoffCoefficient: 2, maximumInterval: '5 min' },
};
