// Inputs and results of the two transactions that move the money of a task. Storage, activities and
// workflows share these shapes; they are recorded in histories.

import type { Refusal } from '../contract/error';
import type { Labels, VideoRequest } from '../contract/request';
import type { TaskObject } from '../contract/task';
import type { BillingLine, Plan } from './plan-types';

/** The row that a create stores: the caller's request, and the plan that follows from it. */
export interface NewTask {
  readonly taskId: string;
  readonly accountId: string;
  /** The key of the create; budgets of a key count its tasks. */
  readonly keyId: string;
  readonly request: VideoRequest;
  readonly plan: Plan;
  /** Hash of the parsed request. It shows whether a repeated Idempotency-Key has another body. */
  readonly requestHash: string;
  readonly traceId: string;
}

/**
 * The input of the task's workflow. The request stays in the row, so that histories are small and
 * no prompt is in Temporal.
 */
export interface TaskInput {
  readonly taskId: string;
  readonly accountId: string;
  readonly plan: Plan;
  readonly traceId: string;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly hasCallback: boolean;
  readonly labels: Labels | null;
}

/** Turns a pending task into a submitted one and takes its hold, in one transaction. */
export interface OpenTask {
  readonly input: TaskInput;
  /** The task object as GET shows it from now on (status `submitted`). */
  readonly object: TaskObject;
}

export type OpenedTask =
  | { readonly outcome: 'opened' }
  /**
   * The task is no longer pending: opened by an earlier attempt, or it has ended (cancelled,
   * expired, too little money). Nothing was moved.
   */
  | { readonly outcome: 'exists'; readonly object: TaskObject }
  /** The row is gone: too little money before the caller was given the id, or withdrawn. */
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

/** Stores the final task object and its money in one transaction. A failed task is charged nothing. */
export interface CloseTask {
  readonly taskId: string;
  readonly object: TaskObject;
  /** The amount held at submission; the transaction compares it with its own record. */
  readonly heldMicros: number;
  readonly charge: readonly BillingLine[];
  /** The start of the task; if absent, `created_at` of the object has it to the second. */
  readonly createdAtMs?: number;
}

/** The final state that is stored first stays; `object` is the stored one. */
export interface ClosedTask {
  readonly object: TaskObject;
  readonly first: boolean;
}
