// Sends one test message to a webhook, with the signature and the checks of a callback. Nothing is
// stored: the result goes to the caller who waits for it.

import { findSigningWebhook } from '../../src/callbacks/webhooks.rows';
import type { WebhookTest, WebhookTested } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import type { HostShare } from './per-host-limit';
import type { Receiver } from './receiver-slot';
import type { Post } from './signed-post';

/** Returns null if the webhook was deleted. */
export async function testWebhook(
  deps: Pick<WorkerDeps, 'db' | 'now'>,
  post: Post,
  enter: (receiver: Receiver) => ReturnType<HostShare['enter']>,
  { webhookId }: WebhookTest,
): Promise<WebhookTested | null> {
  const webhook = await findSigningWebhook(deps.db, webhookId);
  if (!webhook) return null;
  const { url, accountId, secret } = webhook;
  const atMs = deps.now();
  const at = Math.floor(atMs / 1000);
  const slot = enter({ url, accountId });
  // Unlike a callback, a test does not wait for its turn.
  if (slot.comeBackInMs !== undefined) {
    const error = 'The receiver has reached its limit of concurrent deliveries.';
    return { at, status: null, latency_ms: null, error };
  }
  const started = performance.now();
  const took = () => Math.round(performance.now() - started);
  let receiverMs: number | null = null;
  try {
    const body = JSON.stringify({ id: webhookId, object: 'webhook.test', created_at: at });
    const id = `${webhookId}:test:${atMs}`;
    const { status, error } = await post({ id, url, body, secrets: [secret] });
    receiverMs = took();
    return { at, status, latency_ms: receiverMs, error };
  } finally {
    slot.leave(receiverMs);
  }
}
