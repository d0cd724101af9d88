// Starts the workflow of a stored task. The call may fail although the workflow was started. So after
// every outcome, the row of the task in PostgreSQL is decisive (docs/decisions.md, 1).

import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { generateVideo } from '../../workflows/generate-video';
import { workflowNames } from '../../workflows/messages';
import { attributesAtStart } from '../../workflows/search-attributes';
import type { TaskInput } from '../tasks/task-transactions.rules';

export type Submission =
  /** The task's workflow runs now, or was already running. */
  | { readonly outcome: 'started' }
  /**
   * The workflow has completed although the task is pending: it was terminated, or one of the two
   * databases was restored from a backup.
   */
  | { readonly outcome: 'ended' }
  /** Temporal did not answer in time, or the call failed. The workflow may have been started. */
  | { readonly outcome: 'unanswered'; readonly error: unknown };

/** Like `startTask`, for a caller that tries again later. */
export async function submitTask(
  client: Client,
  taskQueue: string,
  input: TaskInput,
): Promise<Submission> {
  try {
    return { outcome: (await startTask(client, taskQueue, input)) ? 'started' : 'ended' };
  } catch (error) {
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

/** The summary in the Temporal UI, for example "studio-2.0 · 720p 16:9 · 5 s · → 4k". */
function summaryOf(plan: TaskInput['plan']): string {
  const length = plan.durationSeconds === -1 ? 'auto' : `${plan.durationSeconds} s`;
  const target = plan.enhancement?.resolution ?? plan.enhancement?.resolutionLimit;
  const parts = [plan.entry, `${plan.resolution} ${plan.ratio}`, length];
  return [...parts, ...(target ? [`→ ${target}`] : [])].join(' · ');
}
