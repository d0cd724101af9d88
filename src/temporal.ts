// The API's side of the workflow engine: hand a task over, ask a live task how it is, cancel one.
// Everything that can go wrong with the engine is turned into one of a few named answers here, so
// that no route knows gRPC.

import type { Connection } from '@temporalio/client';
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Accepted, TaskInput } from '../workflows/messages';
import type { Refusal } from './contract/error';
import type { TaskObject } from './contract/task';
import { describeTask, submitTask } from './task-admission';
import { createTaskQueries } from './task-queries';

export interface Engine {
  /**
   * Starts the task's workflow and waits until it has stored the task, at most the accept timeout.
   */
  submit(input: TaskInput): Promise<Submission>;
  /**
   * The live task's own answer; null when over budget, late, or nobody there to answer: use the
   * stored row.
   */
  query(taskId: string, rowVersion: number): Promise<TaskObject | null>;
  /** What the engine knows of a task that has no row yet. */
  describe(taskId: string): Promise<EngineTask | 'unknown' | 'unavailable'>;
  /** Asks the task's workflow to cancel. `gone`: no such live workflow. */
  cancel(taskId: string): Promise<'asked' | 'gone' | 'unavailable'>;
  /** Throws nothing; false when the engine does not answer within a second. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export type Submission =
  | { readonly outcome: 'accepted'; readonly accepted: Accepted }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  /**
   * The engine has the task durably, no worker has confirmed it yet. `requestHash` is the running
   * task's.
   */
  | { readonly outcome: 'pending'; readonly requestHash: string }
  /**
   * `certain`: the start provably did not happen. Otherwise this id is being cancelled until it is
   * known; `isFree` where it is noted that it may not cost anything.
   */
  | { readonly outcome: 'unavailable'; readonly certain: true }
  | {
      readonly outcome: 'unavailable';
      readonly certain: false;
      readonly nonce: string;
      readonly isFree?: true;
    };

/** From the workflow's memo; enough to show a `pending` task to its owner and to nobody else. */
export interface EngineTask {
  readonly accountId: string;
  readonly requestHash: string;
  readonly traceId: string;
  /** Of the call that started it. */
  readonly nonce: string;
  readonly model: string;
  readonly startedAtMs: number;
  readonly open: boolean;
}

export interface EngineOptions {
  /** From `connectEngine`: its calls have their time limits. */
  readonly connection: Connection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly acceptTimeoutMs: number;
  readonly queriesInFlightMax: number;
  readonly onQuery?: (outcome: 'answered' | 'shared' | 'over_budget' | 'failed') => void;
  readonly onError?: (what: string, error: unknown) => void;
}

export function createEngine(options: EngineOptions): Engine {
  const { connection, namespace } = options;
  const client = new Client({ connection, namespace });
  return {
    submit: (input) => submitTask({ options, client }, input),
    query: createTaskQueries(client, options),
    async describe(taskId) {
      try {
        return await describeTask(client, taskId);
      } catch {
        return 'unavailable';
      }
    },
    async cancel(taskId) {
      try {
        await client.workflow.getHandle(taskId).cancel();
        return 'asked';
      } catch (error) {
        return error instanceof WorkflowNotFoundError ? 'gone' : 'unavailable';
      }
    },
    async isReady() {
      try {
        await connection.workflowService.getSystemInfo({});
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}
