// Starts the delivery of a callback outside the workflow of its task.

import type { Client } from '@temporalio/client';
import type { CallbackInput } from '../../workflows/messages';
import { callbackWorkflowId, workflowNames } from '../../workflows/messages';

/** If the delivery is running already, nothing happens. */
export async function startDelivery(
  client: Client,
  taskQueue: string,
  input: CallbackInput,
): Promise<void> {
  await client.workflow.start(workflowNames.deliverCallback, {
    workflowId: callbackWorkflowId(input.taskId, input.delivery),
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue,
    args: [input],
    staticSummary: `callback of ${input.taskId}`,
  });
}
