// The names of workflows and their messages, and the types that only these use. Types that storage
// uses too are in src/domain/job.ts and src/domain/task-transactions.ts. Every name here is
// recorded in histories: add, never rename. No library is imported, so the API can load this file
// without workflow code.

import type { CreatedTask } from '../src/contract/task';

export const workflowNames = {
  generateVideo: 'generateVideo',
  deliverCallback: 'deliverCallback',
  storeLater: 'storeLater',
  watchChannel: 'watchChannel',
  reconcile: 'reconcile',
  audit: 'audit',
} as const;

export const acceptUpdate = 'accept';
export const taskQuery = 'task';
export const jobSignal = 'job';
export const turnSignal = 'turn';
export const refusedFailure = 'Refused';
export const anotherCreateFailure = 'AnotherCreate';

/**
 * The id of the `accept` update for the task stored at this time. The id of a refused task may be
 * used again; with the time in it, no workflow of that id answers the update of the next task.
 */
export function acceptUpdateId(createdAtMs: number): string {
  return `${acceptUpdate}:${createdAtMs}`;
}

/** The answer of the `accept` update. */
export interface Accepted {
  readonly task: CreatedTask;
}

export interface WatchInput {
  readonly channel: string;
  readonly shard: number;
  readonly shards: number;
}

/** The result of a run of the reconciler, shown as the workflow's result. */
export interface ReconcileReport {
  readonly checked: number;
  readonly closed: readonly string[];
  readonly stopped: readonly string[];
  readonly stuck: readonly string[];
  /** Callbacks that were overdue and have been checked. */
  readonly callbacks: number;
}

/** The result of an audit, shown as the workflow's result. The log names each difference. */
export interface AuditReport {
  readonly differences: number;
}

/**
 * One delivery of a callback. The task starts the first; each resend by an operator is another one.
 */
export interface CallbackInput {
  readonly taskId: string;
  readonly delivery?: number;
  /** The attempt to continue with, if the workflow of this delivery was lost. */
  readonly firstAttempt?: number;
}

/** The workflow id of a delivery: the first is named after its task, later ones by number too. */
export function callbackWorkflowId(taskId: string, delivery = 1): string {
  // Untested: no workflow calls it; the tests of the activities and the API do.
  return delivery === 1 ? `${taskId}:callback` : `${taskId}:callback:resend:${delivery}`;
}

/** The copy of results that their task does not wait for. */
export interface StoreLater {
  readonly taskId: string;
}

export function storeLaterWorkflowId(taskId: string): string {
  return `${taskId}:store`;
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
  /** `superseded`: a newer delivery of this message has begun, so this one ends. */
  readonly state: 'pending' | 'delivered' | 'exhausted' | 'stopped' | 'superseded';
  readonly status: number | null;
  readonly error: string | null;
  /** Time until the next attempt; null if there is none. */
  readonly nextInMs: number | null;
}
