// The names of workflows, task queues and messages, and the types that only these messages use. Types that
// the database code uses too are in src/jobs/job.rules.ts and src/tasks/task-transactions.rules.ts.
// Histories record every name here: names may be added, but never changed. This file imports no
// library, so the API can load it without workflow code.

import type { LiveStage } from '../src/tasks/task.rules';

export const workflowNames = {
  generateVideo: 'generateVideo',
  deliverCallback: 'deliverCallback',
  watchChannel: 'watchChannel',
  reconcile: 'reconcile',
  audit: 'audit',
  usage: 'usage',
} as const;

/** The task queues of a service, from the name of its first one. */
export function queuesOf(taskQueue: string) {
  return {
    tasks: taskQueue,
    loops: `${taskQueue}-loops`,
    callbacks: `${taskQueue}-callbacks`,
  } as const;
}

export const taskQuery = 'task';
export const jobSignal = 'job';
export const turnSignal = 'turn';
export const attemptSignal = 'attempt';

/** The answer of the query: a stage that is committed, and what the workflow is doing. */
export interface ToldTask {
  readonly stage: LiveStage;
  readonly message: string;
}

export interface ChannelTest {
  readonly channel: string;
}

/** What the provider of a channel answered to a question that is free. */
export interface ChannelTested {
  readonly isWell: boolean;
  readonly answer: string;
  readonly code: string | null;
  readonly ms: number;
}

export interface WatchInput {
  readonly channel: string;
}

/** The result of one run of the reconciler, for operators in the Temporal UI. */
export interface ReconcileReport {
  readonly checked: number;
  readonly closed: readonly string[];
  readonly stopped: readonly string[];
  readonly stuck: readonly string[];
}

/** The result of an audit, for operators in the Temporal UI. The log names each difference. */
export interface AuditReport {
  readonly differences: number;
}

/** The result of a roll-up of usage, for operators in the Temporal UI. */
export interface RollUpReport {
  /** The time zone of the days. */
  readonly zone: string;
}

/**
 * One delivery of a callback. The task starts the first delivery, and each resend by an operator
 * starts another.
 */
export interface CallbackInput {
  readonly taskId: string;
  readonly delivery?: number;
  /** The number of the attempt to continue with, if the workflow of this delivery was lost. */
  readonly firstAttempt?: number;
}

/**
 * The workflow id of a delivery. From the second delivery on, the id also contains the number of
 * the delivery.
 */
export function callbackWorkflowId(taskId: string, delivery = 1): string {
  // Untested: workflows start only first deliveries; tests of activities and API cover the rest.
  return delivery === 1 ? `${taskId}:callback` : `${taskId}:callback:resend:${delivery}`;
}

export interface CallbackName {
  readonly taskId: string;
  readonly delivery: number;
}

export interface CallbackAttempt {
  readonly taskId: string;
  readonly delivery: number;
  readonly attempt: number;
  /**
   * A random number from 0 to 1, drawn by the workflow so that the jitter is the same in a replay.
   */
  readonly chance: number;
}

export interface CallbackOutcome {
  /** `superseded`: a newer delivery of this callback has begun, so this delivery ends. */
  readonly state: 'pending' | 'delivered' | 'exhausted' | 'stopped' | 'superseded';
  readonly status: number | null;
  readonly error: string | null;
  /** The time until the next attempt; null if no attempt follows. */
  readonly nextInMs: number | null;
}

export interface WebhookTest {
  readonly webhookId: string;
}

/** The answer of the receiver, or why there is none. */
export interface WebhookTested {
  /** Unix seconds. */
  readonly at: number;
  readonly status: number | null;
  readonly latency_ms: number | null;
  readonly error: string | null;
}
