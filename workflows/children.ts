// Starts the workflows that follow the end of a task. These workflows may take days, so the task
// does not wait for them.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { TaskObject } from '../src/contract/task';
import { callbackWorkflowId, storeLaterWorkflowId, workflowNames } from './messages';
import type { TaskState } from './task-state';

/** Starts the delivery of the callback, if the task has a callback. */
export async function announce(task: TaskState): Promise<void> {
  if (!task.hasCallback) return;
  await start(workflowNames.deliverCallback, callbackWorkflowId(task.id), task, 'callback');
}

/**
 * Starts the workflow that finishes the copies and makes the upload. Does nothing if the task did
 * not succeed, or if nothing is left to copy or upload.
 */
export async function storeTheRest(task: TaskState, final: TaskObject): Promise<void> {
  const { stored } = task;
  if (!stored || (stored.stored && !stored.uploads) || final.status !== 'succeeded') return;
  await start(workflowNames.storeLater, storeLaterWorkflowId(task.id), task, 'storage');
}

async function start(
  type: string,
  workflowId: string,
  { id: taskId }: TaskState,
  staticSummary: string,
): Promise<void> {
  try {
    await startChild(type, {
      workflowId,
      args: [{ taskId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary,
    });
  } catch (error) {
    // Untested: the reconciler has just started the same workflow. The reconciler itself is tested.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
