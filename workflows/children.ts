// Starts the workflow that delivers the callback of an ended task. The delivery may take days, so
// the task does not wait for it.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { callbackWorkflowId, workflowNames } from './messages';
import type { TaskState } from './task-state';

/** Starts the delivery of the callback, if the task has a callback. */
export async function announce({ id: taskId, hasCallback }: TaskState): Promise<void> {
  if (!hasCallback) return;
  try {
    await startChild(workflowNames.deliverCallback, {
      workflowId: callbackWorkflowId(taskId),
      args: [{ taskId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: 'callback',
    });
  } catch (error) {
    // Untested: the reconciler has just started the same workflow. The reconciler itself is tested.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
