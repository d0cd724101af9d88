// Submits a task to Temporal: starts the workflow and waits for its first answer. The call may fail
// although the workflow was started. So after every outcome, the row of the task in PostgreSQL is
// decisive (docs/decisions.md, 1 and 2).

import type { Client } from '@temporalio/client';
import {
  ApplicationFailure,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { generateVideo } from '../../workflows/generate-video';
import type { Accepted } from '../../workflows/messages';
import { acceptUpdate, refusedFailure, workflowNames } from '../../workflows/messages';
import { attributesAtStart } from '../../workflows/search-attributes';
import type { Refusal } from '../contract/error';
import type { CreatedTask } from '../contract/task';
import type { TaskInput } from '../tasks/task-transactions.rules';

export type Submission =
  | { readonly outcome: 'accepted'; readonly task: CreatedTask }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  /**
   * Temporal did not answer within the accept timeout, or the call failed. The workflow may have
   * been started.
   */
  | { readonly outcome: 'unanswered'; readonly error: unknown }
  /**
   * The workflow has completed although the task is pending: it was terminated, or one of the two
   * databases was restored from a backup.
   */
  | { readonly outcome: 'ended' };

interface SubmitOptions {
  readonly taskQueue: string;
  readonly acceptTimeoutMs: number;
}

/** Starts the task's workflow and waits, in one round trip, until the task is opened or refused. */
export async function submitTask(
  client: Client,
  { taskQueue, acceptTimeoutMs }: SubmitOptions,
  input: TaskInput,
): Promise<Submission> {
  try {
    const { task } = await inTime(
      acceptTimeoutMs,
      client.workflow.executeUpdateWithStart<typeof generateVideo, Accepted, []>(acceptUpdate, {
        startWorkflowOperation: new WithStartWorkflowOperation<typeof generateVideo>(
          workflowNames.generateVideo,
          startOptions(taskQueue, input),
        ),
        args: [],
        // Every start of a task sends the same update, so all of them get the same answer.
        updateId: acceptUpdate,
      }),
    );
    return { outcome: 'accepted', task };
  } catch (error) {
    const failure = failureOf(error);
    if (failure?.type === refusedFailure) {
      return { outcome: 'refused', refusal: failure.details?.[0] as Refusal };
    }
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { outcome: 'ended' };
    return { outcome: 'unanswered', error };
  }
}

/** True: the task's workflow runs now, or was already running. False: it has completed. */
export async function startTask(
  client: Client,
  taskQueue: string,
  input: TaskInput,
): Promise<boolean> {
  try {
    const { generateVideo: name } = workflowNames;
    await client.workflow.start<typeof generateVideo>(name, startOptions(taskQueue, input));
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

function startOptions(taskQueue: string, input: TaskInput) {
  const { taskId, accountId, plan, traceId } = input;
  return {
    workflowId: taskId,
    taskQueue,
    args: [input] as [TaskInput],
    // Several processes may start the same pending task.
    workflowIdConflictPolicy: 'USE_EXISTING',
    // A task has one workflow, however it ended.
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: summaryOf(plan),
    memo: { accountId, traceId, model: plan.model },
    typedSearchAttributes: attributesAtStart({ accountId, plan }),
    // Temporal gives queued tasks of different accounts to the workers alternately.
    priority: { fairnessKey: accountId.slice(0, 64) },
  } as const;
}

/**
 * Rejects if the work takes longer than the limit. All calls of an update-with-start share this
 * limit.
 */
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

/** The summary in the Temporal UI, for example "studio-2.0 · 720p 16:9 · 5 s · → 4k". */
function summaryOf(plan: TaskInput['plan']): string {
  const length = plan.durationSeconds === -1 ? 'auto' : `${plan.durationSeconds} s`;
  const target = plan.enhancement?.resolution ?? plan.enhancement?.resolutionLimit;
  const parts = [plan.entry, `${plan.resolution} ${plan.ratio}`, length];
  return [...parts, ...(target ? [`→ ${target}`] : [])].join(' · ');
}

function failureOf(error: unknown): ApplicationFailure | null {
  if (!(error instanceof WorkflowUpdateFailedError)) return null;
  return error.cause instanceof ApplicationFailure ? error.cause : null;
}
