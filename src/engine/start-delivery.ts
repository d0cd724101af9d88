// Starts the delivery of a callback outside the workflow of its task, and the test of a webhook.

import type { Client } from '@temporalio/client';
import type { CallbackInput, WebhookTested } from '../../workflows/messages';
import { callbackWorkflowId, queuesOf, workflowNames } from '../../workflows/messages';

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

// Longer than a receiver may take (15 s).
const testTimeout = '20 s';

/**
 * Waits for the receiver's answer. The test is an activity without a workflow: nobody repeats it but
 * its caller. Calls that come while a test of the webhook is running get the answer of that test.
 * Null: the webhook was deleted.
 */
export function runWebhookTest(
  client: Client,
  taskQueue: string,
  webhookId: string,
): Promise<WebhookTested | null> {
  return client.activity.execute('testWebhook', {
    id: `${webhookId}:test`,
    idConflictPolicy: 'USE_EXISTING',
    scheduleToCloseTimeout: testTimeout,
    retry: { maximumAttempts: 1 },
    taskQueue: queuesOf(taskQueue).callbacks,
    args: [{ webhookId }],
    summary: `test of ${webhookId}`,
  });
}
