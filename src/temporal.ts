// The API's side of the workflow engine: hand a task over, ask a live task how it is, cancel one. Everything that can
// go wrong with the engine is turned into one of a few named answers here, so that no route knows gRPC.

import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import {
  ApplicationFailure,
  Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { generateVideo } from '../workflows/generate-video';
import type { Accepted, TaskInput } from '../workflows/messages';
import {
  acceptUpdate,
  refusedFailure,
  toldPendingSignal,
  workflowNames,
} from '../workflows/messages';
import * as attributes from '../workflows/search-attributes';
import type { Refusal } from './contract/error';
import type { TaskObject } from './contract/task';
import { createTaskQueries } from './task-queries';

export interface Engine {
  /** Starts the task's workflow and waits until it has stored the task, at most the accept timeout. */
  submit(input: TaskInput): Promise<Submission>;
  /** The live task's own answer; null when over budget, late, or nobody there to answer: use the stored row. */
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
  /** The engine has the task durably, no worker has confirmed it yet. `requestHash` is the running task's. */
  | { readonly outcome: 'pending'; readonly requestHash: string }
  /** `certain`: the start provably did not happen. Otherwise this id is being cancelled until it is known. */
  | { readonly outcome: 'unavailable'; readonly certain: boolean };

/** From the workflow's memo; enough to show a `pending` task to its owner and to nobody else. */
export interface EngineTask {
  readonly accountId: string;
  readonly requestHash: string;
  readonly traceId: string;
  readonly model: string;
  readonly startedAtMs: number;
  readonly open: boolean;
}

export interface EngineOptions {
  readonly connection: Connection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly acceptTimeoutMs: number;
  readonly queriesInFlightMax: number;
  readonly onQuery?: (outcome: 'answered' | 'shared' | 'over_budget' | 'failed') => void;
  readonly onError?: (what: string, error: unknown) => void;
}

// A look at the engine beside a request: long enough for a busy server, short enough to stand in a caller's way.
const lookMs = 1_500;

export function createEngine(options: EngineOptions): Engine {
  const { connection, namespace } = options;
  const client = new Client({ connection, namespace });
  const within = <T>(ms: number, work: () => Promise<T>) =>
    connection.withDeadline(Date.now() + ms, work);
  const look = (taskId: string) => within(lookMs, () => describeTask(client, taskId));

  return {
    async submit(input) {
      const first = await accept(options, client, input, acceptUpdate);
      // A closed, refused workflow repeats its old refusal; a fresh update id starts it anew or hears the same again.
      if (first.outcome !== 'refused') return first;
      return accept(options, client, input, `${acceptUpdate}:${randomUUID()}`);
    },
    query: createTaskQueries(client, connection, options),
    async describe(taskId) {
      try {
        return await look(taskId);
      } catch {
        return 'unavailable';
      }
    },
    async cancel(taskId) {
      try {
        await within(lookMs, () => client.workflow.getHandle(taskId).cancel());
        return 'asked';
      } catch (error) {
        return error instanceof WorkflowNotFoundError ? 'gone' : 'unavailable';
      }
    },
    async isReady() {
      try {
        await within(1_000, () => connection.workflowService.getSystemInfo({}));
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

/** One round trip that starts the workflow and waits for its answer, or finds out what became of it. */
async function accept(
  options: EngineOptions,
  client: Client,
  input: TaskInput,
  updateId: string,
): Promise<Submission> {
  try {
    const accepted = await options.connection.withDeadline(
      Date.now() + options.acceptTimeoutMs,
      () =>
        client.workflow.executeUpdateWithStart<typeof generateVideo, Accepted, []>(acceptUpdate, {
          startWorkflowOperation: startOperation(options, input),
          args: [],
          updateId,
        }),
    );
    return { outcome: 'accepted', accepted };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) return { outcome: 'refused', refusal };
    options.onError?.('accept', error);
    return whatBecameOf(options, client, input, error);
  }
}

function startOperation(
  { taskQueue }: EngineOptions,
  { accountId, plan, requestHash, traceId, taskId, ...rest }: TaskInput,
): WithStartWorkflowOperation<typeof generateVideo> {
  return new WithStartWorkflowOperation<typeof generateVideo>(workflowNames.generateVideo, {
    workflowId: taskId,
    taskQueue,
    args: [{ accountId, plan, requestHash, traceId, taskId, ...rest }],
    workflowIdConflictPolicy: 'USE_EXISTING',
    // A refused task leaves a failed workflow, and its id may be used again; any other id is used once.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    staticSummary: summaryOf(plan),
    memo: { accountId, requestHash, traceId, model: plan.model },
    typedSearchAttributes: [
      { key: attributes.accountId, value: accountId },
      { key: attributes.model, value: plan.entry },
      { key: attributes.taskStatus, value: 'submitted' },
      { key: attributes.stage, value: 'generation' },
    ],
    // Among tasks that queue for a worker, each account gets its turn.
    priority: { fairnessKey: accountId.slice(0, 64) },
  });
}

/** The line an SRE reads in the list: "studio-2.0 · 720p 16:9 · 5 s · → 4k". */
function summaryOf(plan: TaskInput['plan']): string {
  const length = plan.durationSeconds === -1 ? 'auto' : `${plan.durationSeconds} s`;
  const target = plan.enhancement?.resolution ?? plan.enhancement?.resolutionLimit;
  const parts = [plan.entry, `${plan.resolution} ${plan.ratio}`, length];
  return [...parts, ...(target ? [`→ ${target}`] : [])].join(' · ');
}

function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof WorkflowUpdateFailedError)) return null;
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure) || cause.type !== refusedFailure) return null;
  return cause.details?.[0] as Refusal;
}

/** No answer in time, or none at all: look before saying anything. A task that exists is never answered with a 5xx. */
async function whatBecameOf(
  options: EngineOptions,
  client: Client,
  { taskId }: TaskInput,
  cause: unknown,
): Promise<Submission> {
  try {
    const task = await options.connection.withDeadline(Date.now() + lookMs, () =>
      describeTask(client, taskId),
    );
    if (task === 'unknown') {
      // Only "already started" proves that the call was answered; after anything else it may still be on its way.
      const certain = cause instanceof WorkflowExecutionAlreadyStartedError;
      if (!certain) cancelUntilKnown(client, options, taskId);
      return { outcome: 'unavailable', certain };
    }
    if (task.open) {
      await tellPending(options, client, taskId);
      return { outcome: 'pending', requestHash: task.requestHash };
    }
    return await closedOutcome(options, client, taskId, task.requestHash);
  } catch (error) {
    options.onError?.('look', error);
    cancelUntilKnown(client, options, taskId);
    return { outcome: 'unavailable', certain: false };
  }
}

/** The workflow must know that its id was given away: it then keeps a row even if it has to refuse. */
async function tellPending(options: EngineOptions, client: Client, taskId: string): Promise<void> {
  await options.connection.withDeadline(Date.now() + lookMs, () =>
    client.workflow.getHandle(taskId).signal(toldPendingSignal),
  );
}

/** It closed between the timeout and the look: its own result says how. */
async function closedOutcome(
  options: EngineOptions,
  client: Client,
  taskId: string,
  requestHash: string,
): Promise<Submission> {
  try {
    await options.connection.withDeadline(Date.now() + lookMs, () =>
      client.workflow.getHandle(taskId).result(),
    );
    return { outcome: 'pending', requestHash };
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause;
    if (cause instanceof ApplicationFailure && cause.type === refusedFailure) {
      return { outcome: 'refused', refusal: cause.details?.[0] as Refusal };
    }
    return { outcome: 'pending', requestHash };
  }
}

async function describeTask(client: Client, taskId: string): Promise<EngineTask | 'unknown'> {
  try {
    const { memo, status, startTime } = await client.workflow.getHandle(taskId).describe();
    const text = (name: string) => {
      const value = memo?.[name];
      return typeof value === 'string' ? value : '';
    };
    return {
      accountId: text('accountId'),
      requestHash: text('requestHash'),
      traceId: text('traceId'),
      model: text('model'),
      startedAtMs: startTime.getTime(),
      open: status.name === 'RUNNING',
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

// A start that was sent cannot arrive minutes later: the server drops calls whose deadline has passed.
const cancelForMs = 2 * 60_000;

/**
 * The caller was told that the task may not exist. Until that is known this id is cancelled again and again, so that a
 * start that did arrive is charged nothing.
 */
function cancelUntilKnown(client: Client, options: EngineOptions, taskId: string): void {
  const until = Date.now() + cancelForMs;
  const attempt = async (): Promise<void> => {
    try {
      await options.connection.withDeadline(Date.now() + lookMs, () =>
        client.workflow.getHandle(taskId).cancel(),
      );
      return;
    } catch (error) {
      if (Date.now() > until) {
        options.onError?.('cancel', error);
        return;
      }
    }
    setTimeout(() => void attempt(), 2_000).unref();
  };
  void attempt();
}
