// Every timeout and retry of a task's activities, in one table, each with its reason. Retries exist
// here and nowhere else: no client inside an activity repeats anything by itself.

import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';

/**
 * The two doors to the money. Local: they are one short transaction, and a round trip to the engine
 * would double the time a POST takes. They are repeated until the database answers, because a task
 * between its doors is a customer's held money. Every wait between two tries is a timer: no
 * workflow task is kept open for it, and the SDK, which forgets to end the time limit of a try that
 * it repeats by itself, has none to repeat.
 */
export const doorPolicy: LocalActivityOptions = {
  summary: 'row and money in one transaction',
  startToCloseTimeout: '7 s',
  localRetryThreshold: '1 ms',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 s' },
};

const submitRetries = {
  initialInterval: '1 s',
  backoffCoefficient: 2,
  maximumInterval: '30 s',
} as const;

/**
 * A job from its placing to its end, for as long as its task may take. No worker holds it while it
 * waits, so it has no heartbeat timeout: a worker that dies over the placing is noticed by the
 * watchers (activities/unplaced.ts). Attempts have no limit: only the task's deadline ends them. A
 * cancel waits for none; who stops the job upstream looks for one that was on its way.
 */
export function jobPolicy(remainingMs: number): ActivityOptions {
  return {
    summary: 'places the job with a channel, once, and waits for its end',
    // So that it is the task's own timer that ends it.
    startToCloseTimeout: remainingMs + 60_000,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: submitRetries,
  };
}

/** As it was for tasks of before, for whom the activity ends when the job is placed. */
export const submitPolicyOfBefore: ActivityOptions = {
  summary: 'places the job with a channel, once',
  startToCloseTimeout: '75 s',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: submitRetries,
};

/** One last look at a job whose time is up: three tries within 20 s, then the deadline stands. */
export const lastLookPolicy: ActivityOptions = {
  summary: 'time is up: one last look at the job',
  startToCloseTimeout: '10 s',
  scheduleToCloseTimeout: '20 s',
  retry: { initialInterval: '1 s', maximumAttempts: 3 },
};

/**
 * Asking a service to cancel is a courtesy with a limit: the customer has been refunded already,
 * and a service that does not answer within ten minutes will finish the job at our cost.
 */
export const cancelPolicy: ActivityOptions = {
  summary: 'asks the service to stop the job',
  startToCloseTimeout: '30 s',
  scheduleToCloseTimeout: '10 min',
  retry: { initialInterval: '2 s', backoffCoefficient: 2, maximumInterval: '1 min' },
};

/**
 * The watcher's loop is one long activity: an hour, then a fresh one, so that its history stays
 * short. Its heartbeat tells within 15 s that a worker died; the next attempt starts a second later
 * elsewhere.
 */
export const watchPolicy: ActivityOptions = {
  summary: 'asks about all open jobs, again and again',
  startToCloseTimeout: '65 min',
  heartbeatTimeout: '15 s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 s', backoffCoefficient: 1, maximumInterval: '5 s' },
};

/** A sweep that fails is not repeated at length: the next one starts within the minute anyway. */
export const sweepPolicy: ActivityOptions = {
  summary: 'finishes what no workflow will ever finish',
  startToCloseTimeout: '5 min',
  heartbeatTimeout: '30 s',
  retry: { initialInterval: '1 s', maximumAttempts: 3 },
};
