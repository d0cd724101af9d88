// The inputs and results of the two transactions that move the money of a task. Storage, activities
// and workflows share these types. Workflow histories contain values of these types.

import type { Refusal } from '../contract/error';
import type { Labels, VideoRequest } from '../contract/request';
import type { TaskObject } from '../contract/task';
import type { BillingLine, Plan } from '../planning/plan-types.rules';

/** The data of the row that a create stores: the caller's request, and the plan made from it. */
export interface NewTask {
  readonly taskId: string;
  readonly accountId: string;
  /** The key that created the task. The budgets of this key count the task. */
  readonly keyId: string;
  readonly request: VideoRequest;
  readonly plan: Plan;
  /**
   * The hash of the parsed request. It shows whether a repeated Idempotency-Key comes with another
   * body.
   */
  readonly requestHash: string;
  readonly traceId: string;
}

/**
 * The input of the task's workflow. The request stays in the row, so histories are small and
 * Temporal contains no prompt.
 */
export interface TaskInput {
  readonly taskId: string;
  readonly accountId: string;
  readonly plan: Plan;
  readonly traceId: string;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly labels: Labels | null;
}

export type OpenedTask =
  | { readonly outcome: 'opened' }
  /**
   * The task is no longer pending. An earlier attempt has opened the task, or the task has ended
   * (cancelled, expired, too little money): `object` is then its final object. This call moved no
   * money.
   */
  | {
      readonly outcome: 'exists';
      readonly object: TaskObject | null;
      readonly hasCallback: boolean;
    }
  /** The amount could not be held. This call has ended the task as failed; `object` says so. */
  | {
      readonly outcome: 'refused';
      readonly refusal: Refusal;
      readonly object: TaskObject;
      readonly hasCallback: boolean;
    };

/**
 * The input of the transaction that stores the final task object and settles the money. A failed
 * task is charged nothing.
 */
export interface CloseTask {
  readonly taskId: string;
  readonly object: TaskObject;
  /**
   * The amount that was held. The transaction checks that the hold in the ledger has this amount.
   */
  readonly heldMicros: number;
  readonly charge: readonly BillingLine[];
}

/**
 * Only the first final state of a task is stored. `object` is the stored state. `first` is true if
 * this call stored that state.
 */
export interface ClosedTask {
  readonly object: TaskObject;
  readonly first: boolean;
  /** True if a callback must be delivered. */
  readonly hasCallback: boolean;
}
