// All timeouts and retry policies of activities, each with its reason. Calls to providers,
// receivers and the database are not retried inside an activity. An activity may set the delay
// before its next attempt. If the receiver of a callback fails, the callback workflow makes the
// next attempt on the documented schedule.

import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';

/**
 * For openTask and closeTask. They are local activities, because each is one short transaction and
 * a round trip to Temporal would take longer than it. They are retried until the database
 * answers, because an open task holds a customer's money. With the threshold of 1 ms, each pause
 * between retries is a timer of the workflow and keeps no workflow task open. The SDK's own retries
 * would also leave the timeout timer of the failed attempt running.
 */
export const transactionPolicy: LocalActivityOptions = {
  summary: 'row and money in one transaction',
  startToCloseTimeout: '7 s',
  localRetryThreshold: '1 ms',
  // Each retry adds six events to the history. With 30 s, its limit is reached after three days.
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
};

/** For findEnd, before a cancelled or expired task is closed: it is retried for as long as closeTask would be. */
export const findEndPolicy: LocalActivityOptions = {
  ...transactionPolicy,
  summary: 'cancel or deadline: reads the row of the job',
};

/**
 * For a job from its placement to its end. No worker runs the activity while it waits for the end,
 * so it has no heartbeat timeout. If a worker dies while it places the job, its lease lapses
 * (activities/owed/place-jobs.ts). Attempts are unlimited until the task's
 * deadline. A cancellation does not wait for an attempt in progress, because cancelJob asks the
 * provider about a create that may have arrived.
 */
export const jobPolicy: ActivityOptions = {
  summary: 'places the job with a channel, once, and waits for its end',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s' },
};

/**
 * For the last read of a job at the deadline: three attempts within 20 s, then the task expires.
 */
export const lastCheckPolicy: ActivityOptions = {
  summary: 'deadline: reads the job once more',
  startToCloseTimeout: '10 s',
  scheduleToCloseTimeout: '20 s',
  retry: { initialInterval: '1 s', maximumAttempts: 3 },
};

/** For cancelJob: a few attempts within a minute. After that a worker repeats the cancel. */
export const cancelPolicy: ActivityOptions = {
  summary: 'asks the provider to stop the job',
  startToCloseTimeout: '30 s',
  scheduleToCloseTimeout: '1 min',
  retry: { initialInterval: '2 s', backoffCoefficient: 2 },
};

/**
 * For one attempt of a callback. Of the 40 s, at most 15 s are for the receiver, and the rest is
 * for the database. If a worker dies, the missing heartbeat shows that within 15 s. Attempts are
 * unlimited: without the database nothing can be sent or recorded, but the callback must still be
 * delivered. A cancel waits for the request in progress, so that the answer of the receiver is
 * recorded.
 */
export const callbackPolicy: ActivityOptions = {
  startToCloseTimeout: '40 s',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
};

/**
 * For the first attempt, which the workflow of the task makes. If it has to wait longer for a busy
 * receiver, a delivery makes it: the task's workflow does not move to the code of a deploy. The row
 * of the callback counts as forgotten after ten minutes, so until then nothing else makes the attempt.
 */
export const firstCallbackPolicy: ActivityOptions = {
  ...callbackPolicy,
  summary: 'the first attempt of the callback',
  scheduleToCloseTimeout: '5 min',
};

/**
 * For the copy of results into the storage. The activity decides when to give up, so attempts are
 * unlimited. If a worker dies, the missing heartbeat shows that within 15 s. A worker with too many
 * copies refuses further ones, which come back after the same pauses as those that fail.
 */
export const storePolicy: ActivityOptions = {
  summary: 'copies the results into the storage',
  startToCloseTimeout: '65 min',
  heartbeatTimeout: '15 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s' },
};

/**
 * For the watcher's loop. The activity runs for an hour, then the workflow starts the next
 * activity. If a worker dies, the missing heartbeat shows that within 15 s, and the next attempt
 * starts a second later.
 */
export const watchPolicy: ActivityOptions = {
  summary: 'polls all open jobs of the channel',
  startToCloseTimeout: '65 min',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 s', backoffCoefficient: 1, maximumInterval: '5 s' },
};

/** The reconciler gets few attempts, because its next run usually starts within a minute. */
export const reconcilePolicy: ActivityOptions = {
  summary: 'repairs what no workflow will finish',
  startToCloseTimeout: '5 min',
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumAttempts: 3 },
};

/**
 * For the audit, which usually reads the movements of one hour. The first audit reads all movements
 * and needs far more time.
 */
export const auditPolicy: ActivityOptions = {
  summary: 'checks the books',
  startToCloseTimeout: '50 min',
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '10 s', backoffCoefficient: 2, maximumInterval: '5 min' },
};

/** For the roll-up of usage. The first one derives all days, and each day is kept. */
export const usagePolicy: ActivityOptions = {
  ...auditPolicy,
  summary: 'derives the usage of days',
};
