// Sends one test message to a webhook. The API waits for the result, because only a worker can read
// the secret of a webhook.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { createCallbackActivities } from '../activities';
import type { WebhookTest, WebhookTested } from './messages';
import { webhookTestPolicy } from './policies';
import { movesWithDeploys } from './versioning';

movesWithDeploys(testWebhook);
export async function testWebhook(test: WebhookTest): Promise<WebhookTested | null> {
  const taskQueue = `${workflowInfo().taskQueue}-callbacks`;
  const activities = proxyActivities<ReturnType<typeof createCallbackActivities>>({
    ...webhookTestPolicy,
    taskQueue,
  });
  return activities.testWebhook(test);
}
