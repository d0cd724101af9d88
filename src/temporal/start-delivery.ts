// Starts the delivery of a callback outside the workflow of its task, and the test of a webhook.

import type { Client } from '@temporalio/client';
import type { CallbackInput, WebhookTested } from '../../workflows/messages';
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

// Longer than the activity of the test may take.
const testTimeout = '25 s';

/**
 * Waits for the receiver's answer. Calls that come while a test of the webhook is running get the
 * answer of that test. Null: the webhook was deleted.
 */
export function runWebhookTest(
  client: Client,
  taskQueue: string,
  webhookId: string,
): Promise<WebhookTested | null> {
  return client.workflow.execute(workflowNames.testWebhook, {
    workflowId: `${webhookId}:test`,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowExecutionTimeout: testTimeout,
    taskQueue,
    args: [{ webhookId }],
    staticSummary: `test of ${webhookId}`,
  }) as Promise<WebhookTested | null>;
}
