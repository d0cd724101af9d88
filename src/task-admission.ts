// How a task is handed to the engine: one update-with-start, and when its answer does not come,
// finding out what became of it before anything is said. A task that exists is never answered with
// a 5xx, one that may exist is never charged. Why: docs/decisions.md, 1 and 2.

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import {
  ApplicationFailure,
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
import { toldAtStart } from '../workflows/search-attributes';
import type { Refusal } from './contract/error';
import type { EngineOptions, EngineTask, Submission } from './temporal';

interface AdmissionParts {
  readonly options: EngineOptions;
  readonly client: Client;
}

/** Starts the task's workflow and waits for its answer, at most the accept timeout. */
export async function submitTask(parts: AdmissionParts, input: TaskInput): Promise<Submission> {
  const first = await accept(parts, input, acceptUpdate);
  // A closed, refused workflow repeats its old refusal; a fresh update id starts it anew or hears
  // the same again.
  if (first.outcome !== 'refused') return first;
  return accept(parts, input, `${acceptUpdate}:${randomUUID()}`);
}

/**
 * One round trip that starts the workflow and waits for its answer, or finds out what became of it.
 */
async function accept(
  parts: AdmissionParts,
  input: TaskInput,
  updateId: string,
): Promise<Submission> {
  const { options, client } = parts;
  const nonce = randomUUID();
  try {
    const accepted = await inTime(
      options.acceptTimeoutMs,
      client.workflow.executeUpdateWithStart<typeof generateVideo, Accepted, []>(acceptUpdate, {
        startWorkflowOperation: startOperation(options, input, nonce),
        args: [],
        updateId,
      }),
    );
    return { outcome: 'accepted', accepted };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) return { outcome: 'refused', refusal };
    options.onError?.('accept', error);
    return whatBecameOf(parts, input, nonce, error);
  }
}

/** Several calls may make up one update; together they have this long. */
async function inTime<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function startOperation(
  { taskQueue }: EngineOptions,
  { accountId, plan, requestHash, traceId, taskId, ...rest }: TaskInput,
  nonce: string,
): WithStartWorkflowOperation<typeof generateVideo> {
  return new WithStartWorkflowOperation<typeof generateVideo>(workflowNames.generateVideo, {
    workflowId: taskId,
    taskQueue,
    args: [{ accountId, plan, requestHash, traceId, taskId, ...rest }],
    workflowIdConflictPolicy: 'USE_EXISTING',
    // A refused task leaves a failed workflow, and its id may be used again; any other id is used
    // once.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    staticSummary: summaryOf(plan),
    memo: { accountId, requestHash, traceId, nonce, model: plan.model },
    typedSearchAttributes: toldAtStart({ accountId, plan }),
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

/**
 * No answer in time, or none at all: look before saying anything. A task that exists is never
 * answered with a 5xx.
 */
async function whatBecameOf(
  { options, client }: AdmissionParts,
  { taskId }: TaskInput,
  nonce: string,
  cause: unknown,
): Promise<Submission> {
  try {
    const task = await describeTask(client, taskId);
    if (task === 'unknown') {
      // Only "already started" proves that the call was answered; after anything else it may still
      // be on its way.
      const certain = cause instanceof WorkflowExecutionAlreadyStartedError;
      return certain
        ? { outcome: 'unavailable', certain }
        : { outcome: 'unavailable', certain, nonce };
    }
    if (task.open) {
      // The workflow must know that its id was given away: it then keeps a row even if it has to
      // refuse.
      await client.workflow.getHandle(taskId).signal(toldPendingSignal);
      return { outcome: 'pending', requestHash: task.requestHash };
    }
    return await closedOutcome(client, taskId, task.requestHash);
  } catch (error) {
    options.onError?.('look', error);
    return { outcome: 'unavailable', certain: false, nonce };
  }
}

/** It closed between the timeout and the look: its own result says how. */
async function closedOutcome(
  client: Client,
  taskId: string,
  requestHash: string,
): Promise<Submission> {
  try {
    await client.workflow.getHandle(taskId).result();
    return { outcome: 'pending', requestHash };
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause;
    if (cause instanceof ApplicationFailure && cause.type === refusedFailure) {
      return { outcome: 'refused', refusal: cause.details?.[0] as Refusal };
    }
    return { outcome: 'pending', requestHash };
  }
}

export async function describeTask(
  client: Client,
  taskId: string,
): Promise<EngineTask | 'unknown'> {
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
      nonce: text('nonce'),
      model: text('model'),
      startedAtMs: startTime.getTime(),
      open: status.name === 'RUNNING',
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}
