// Tests the message that tests a webhook: its signature, its checks, and what the caller learns.

import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { createWebhook } from '../../../src/callbacks/webhooks.rows';
import type { Received } from '../../support/callback-sink';
import { callbackWorld, testAccount } from '../../support/callbacks';
import { startCanaries } from '../../support/canaries';
import { until } from '../../support/until';

const world = callbackWorld();

async function aWebhook(url: string = world.sink.url) {
  const wanted = { accountId: testAccount, url, events: ['failed'], max: 100 } as const;
  const webhook = await createWebhook(world.database.db, { ...wanted, nowMs: Date.now() });
  return webhook!;
}

const testOf = (webhookId: string, over = {}) => world.activities(over).testWebhook({ webhookId });

test('the test message is signed with the secret of the webhook, and is no task', async () => {
  const { id, secret } = await aWebhook();
  expect(await testOf(id)).toEqual({
    at: expect.any(Number),
    status: 204,
    latency_ms: expect.any(Number),
    error: null,
  });
  const [{ headers, body }] = world.sink.received as [Received];
  const sent = new Webhook(secret).verify(body, headers as Record<string, string>);
  expect(sent).toEqual({ id, object: 'webhook.test', created_at: expect.any(Number) });
  expect(headers['webhook-id']).toMatch(new RegExp(`^${id}:test:\\d+$`));
});

test('the test shows the status of a receiver that refuses, and is not repeated', async () => {
  world.sink.answer = (_, response) => void response.writeHead(302, { location: '/' }).end();
  const { id } = await aWebhook();
  expect(await testOf(id)).toMatchObject({ status: 302, error: 'HTTP 302' });
  expect(world.sink.received).toHaveLength(1);
});

test('the test says why there was no answer', async () => {
  world.sink.answer = () => undefined;
  const { id } = await aWebhook();
  const tested = await testOf(id, { limits: { timeoutMs: 200 } });
  expect(tested).toMatchObject({ status: null, error: expect.any(String) });
  expect(tested?.latency_ms).toBeGreaterThan(100);
});

test('a test reaches no address inside the network', async () => {
  const canaries = await startCanaries();
  try {
    const { id } = await aWebhook(`https://127.0.0.1:${canaries.port}/hook`);
    expect(await testOf(id, { allowHosts: [] })).toMatchObject({ status: null });
    expect(canaries.connections()).toBe(0);
  } finally {
    await canaries.close();
  }
});

test('a deleted webhook has no test', async () => {
  expect(await testOf('hook_01k9m3c5x8v2q4w6e8r0t2y4na')).toBeNull();
});

test('a test does not wait for a receiver that is busy', async () => {
  const { id } = await aWebhook();
  const waiting: ServerResponse[] = [];
  world.sink.answer = (_, response) => void waiting.push(response);
  const { testWebhook } = world.activities({ perHostMax: 1 });
  const first = testWebhook({ webhookId: id });
  await until('the receiver has a message', () => waiting.length === 1);
  const second = await testWebhook({ webhookId: id });
  expect(second).toMatchObject({ status: null, latency_ms: null, error: expect.any(String) });
  waiting[0]?.writeHead(204).end();
  expect(await first).toMatchObject({ status: 204, error: null });
  expect(world.sink.received).toHaveLength(1);
});
