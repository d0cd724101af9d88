// The names and shapes that cross between the API, the workflows and the activities. Every name in
// this file is recorded in histories and must never be renamed; add beside it instead. No library
// is imported, so the API can load this without loading workflow code.

import type { Refusal } from '../src/contract/error';
import type { VideoRequest } from '../src/contract/request';
import type { CreatedTask, TaskObject } from '../src/contract/task';
import type { BillingLine, Plan } from '../src/domain/plan-types';

export const workflowNames = {
  generateVideo: 'generateVideo',
  deliverCallback: 'deliverCallback',
  watchChannel: 'watchChannel',
  reconcile: 'reconcile',
} as const;

export const acceptUpdate = 'accept';
export const taskQuery = 'task';
export const jobSignal = 'job';
export const turnSignal = 'turn';
export const toldPendingSignal = 'toldPending';
export const refusedFailure = 'Refused';

/** The input of the task's workflow: what the caller sent, and what was inferred from it. */
export interface TaskInput {
  readonly taskId: string;
  readonly accountId: string;
  readonly request: VideoRequest;
  readonly plan: Plan;
  /** Hash of the parsed request; tells a repeated Idempotency-Key with another body apart. */
  readonly requestHash: string;
  readonly traceId: string;
  /**
   * How it waits for its jobs. Absent from tasks of before, which are signalled; their steps must
   * stay as they were.
   */
  readonly waits?: 'in activities';
}

/** The answer of the `accept` update. */
export interface Accepted {
  readonly task: CreatedTask;
  readonly requestHash: string;
}

export type JobKind = 'generation' | 'super_resolution';

/** Where an upstream job stands, in our words whichever protocol it came by. */
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

export interface JobReport {
  readonly kind: JobKind;
  /** Who has the job; absent from reports of older histories, and where nobody took it. */
  readonly channel?: string;
  readonly upstreamId: string;
  readonly status: JobStatus;
  readonly result?: JobResult;
  readonly failure?: JobFailure;
}

export interface JobResult {
  readonly videoUrl: string | null;
  readonly lastFrameUrl: string | null;
  /** Unix seconds after which the links are dead. */
  readonly expiresAt: number | null;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly ratio: string | null;
  readonly seed: number | null;
  readonly completionTokens: number | null;
  readonly framesPerSecond: number | null;
}

/** Why a job failed, already put into our own sentence: raw upstream text never travels further. */
export interface JobFailure {
  readonly code: string;
  readonly sentence: string;
  /**
   * Decided here rather than by the service, for instance that a lost job cannot be told from
   * another.
   */
  readonly ours?: true;
}

/** What is to be made, by whom and for whom: the input of the one activity that has jobs done. */
export interface JobOrder {
  readonly taskId: string;
  readonly accountId: string;
  readonly kind: JobKind;
  readonly request: VideoRequest;
  readonly plan: Plan;
  /** The video to enhance; null for a generation. */
  readonly videoUrl: string | null;
  readonly deadlineAtMs: number;
  /** The trace the job's requests belong to; absent from orders of older histories. */
  readonly traceId?: string;
}

export type PlacedJob =
  /** What it answers when the job has ended, however long that takes. */
  | { readonly outcome: 'ended'; readonly report: JobReport }
  /** For tasks of before: they are signalled the end of their job. */
  | { readonly outcome: 'accepted'; readonly channel: string; readonly upstreamId: string }
  | { readonly outcome: 'rejected'; readonly report: JobReport }
  /** The channel is full; the watcher signals `turn` when a place is free. */
  | { readonly outcome: 'waiting'; readonly channel: string };

export interface JobName {
  readonly taskId: string;
  readonly kind: JobKind;
}

/** Input of the first door: the task's row and its hold, in one transaction. */
export interface OpenTask {
  readonly input: TaskInput;
  /** The task object as GET shows it from now on (status `submitted`). */
  readonly object: TaskObject;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
}

export type OpenedTask =
  | { readonly outcome: 'opened' }
  /** The row was there already: a repeated local activity, or a second run under the same id. */
  | { readonly outcome: 'exists'; readonly object: TaskObject; readonly requestHash: string }
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

/**
 * Input of the second door: the final task object, and what to charge (nothing for a failed task).
 */
export interface CloseTask {
  readonly taskId: string;
  readonly object: TaskObject;
  /** What was held at submission; the door compares it with its own record. */
  readonly heldMicros: number;
  readonly charge: readonly BillingLine[];
  /** When the task began; where it is absent, `created_at` of the object says so to the second. */
  readonly createdAtMs?: number;
  /** Of the call that started the task, as in its memo. */
  readonly nonce?: string;
  /** Stored instead when that call was told that nothing is charged (docs/decisions.md, 23). */
  readonly withdrawn?: TaskObject;
}

/** Whichever final state is stored first wins; `object` is the stored one. */
export interface ClosedTask {
  readonly object: TaskObject;
  readonly first: boolean;
}

/**
 * `taskQueue` is where the loops live: apart from the tasks' activities, so that neither can starve
 * the other.
 */
export interface WatchInput {
  readonly channel: string;
  readonly shard: number;
  readonly shards: number;
  readonly taskQueue: string;
}

export interface SweepInput {
  readonly taskQueue: string;
}

/** What a sweep found, shown as the workflow's result. */
export interface SweepReport {
  readonly lookedAt: number;
  readonly closed: readonly string[];
  readonly stopped: readonly string[];
  readonly stuck: readonly string[];
  readonly auditDifferences: number | null;
  /** Callbacks that should have gone on and were looked after. */
  readonly callbacks: number;
}

/**
 * A callback's delivery. The first is started by its task; sending again by hand makes the second
 * and so on.
 */
export interface CallbackInput {
  readonly taskId: string;
  readonly delivery?: number;
  /** Where to go on when a delivery's workflow was lost half way. */
  readonly firstAttempt?: number;
}

/**
 * The workflow of a delivery: the first is named after its task, each later one is told apart by
 * its number.
 */
export function callbackWorkflowId(taskId: string, delivery = 1): string {
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
  /** A number from 0 to 1 drawn by the workflow, so that the jitter replays. */
  readonly chance: number;
}

export interface CallbackOutcome {
  /**
   * `superseded`: the message is being sent again by a newer delivery, which this one leaves it to.
   */
  readonly state: 'pending' | 'delivered' | 'exhausted' | 'stopped' | 'superseded';
  readonly status: number | null;
  readonly error: string | null;
  /** Until the next attempt; null when there is none. */
  readonly nextInMs: number | null;
}
