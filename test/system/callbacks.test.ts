// Tests callbacks through the whole service. Every final state is delivered once, after a GET can
// read it. A receiver that is slow or down delays no other receiver and loses no callback.

import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { beginResend } from '../../src/callbacks/callbacks.rows';
import { creditAccount } from '../../src/money/ledger.rows';
import { callbackWorkflowId } from '../../workflows/messages';
import { type CallbackSink, type Received, startCallbackSink } from '../support/callback-sink';
import {
  cancelTask,
  type Service,
  startService,
  type TaskReply,
  textTask,
} from '../support/service';
import { sized } from '../support/sized';
import { connectTemporal } from '../support/temporal';
import { timePasses } from '../support/time-passes';
import { until } from '../support/until';
import { testFailingReceiver } from './failing-receiver';

let service: Service;
let sink: CallbackSink;
let slow: CallbackSink;
/** Another host name than that of the fast receiver, because each host has its own slots. */
let slowUrl: string;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
beforeAll(async () => {
  temporal = await connectTemporal();
  sink = await startCallbackSink();
  slow = await startCallbackSink();
  slowUrl = slow.url.replace('127.0.0.1', 'localhost');
  service = await startService({
    allowHosts: [sink.hostPort, new URL(slowUrl).host],
    reconcileIntervalSeconds: 1,
    callbacksPerHost: 2,
  });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await slow?.close();
  await temporal?.close();
});
beforeEach(() => {
  sink.answer = (_, response) => void response.writeHead(204).end();
});

const get = (id: string) => service.call('GET', `/v1/videos/generations/${id}`);
const logOf = async (id: string) =>
  (await service.call('GET', `/v1/videos/generations/${id}/callbacks`)).json;
const messagesOf = (id: string, { received }: CallbackSink = sink) =>
  received.filter(({ body }) => JSON.parse(body).id === id);

const statusOf = async (workflowId: string) =>
  (await temporal.client.workflow.getHandle(workflowId).describe()).status.name;

async function aTask(studio = {}, url = sink.url, headers = {}): Promise<string> {
  const body = textTask(studio, { metadata: { callback_url: url } });
  const { json } = await service.create(body, headers);
  return json.id as string;
}

async function delivered(id: string): Promise<TaskReply> {
  await until('the callback is recorded', async () => (await logOf(id)).state === 'delivered');
  return JSON.parse(messagesOf(id)[0]?.body ?? '');
}

test.each<[string, object, (id: string) => Promise<unknown>, object]>([
  ['succeeds', { run_s: 1 }, async () => undefined, { status: 'succeeded' }],
  [
    'fails in the generator',
    { end: 'failed' },
    async () => undefined,
    { status: 'failed', error: { code: 'provider_error' } },
  ],
  [
    'is cancelled by its caller',
    { queue_s: 600 },
    (id) => cancelTask(service.call, id),
    { status: 'failed', error: { code: 'task_error' } },
  ],
])(
  'the callback of a task that %s arrives exactly once, and not before a GET shows the same state',
  async (_, studio, then, end) => {
    let readable: unknown;
    sink.answer = async (received, response) => {
      readable = (await get(JSON.parse(received.body).id)).text;
      response.writeHead(204).end();
    };
    const id = await aTask(studio);
    await then(id);
    const bodies = await delivered(id);
    expect(bodies).toMatchObject(end);
    expect(messagesOf(id)).toHaveLength(1);
    const { body, headers } = messagesOf(id)[0] as Received;
    expect(body).toBe(readable);
    expect(headers['webhook-id']).toBe(`${id}:${bodies.status}`);
    new Webhook(service.webhookSecret).verify(body, headers as Record<string, string>);
    expect(await logOf(id)).toMatchObject({ data: [{ attempt: 1, status: 204, error: null }] });
  },
);

test('a pending task that is refused later sends a callback with the status failed, signed with the secret of its account', async () => {
  const poor = await service.anAccount(12_000_000);
  const headers = { authorization: `Bearer ${poor.apiKey}` };
  await service.stopWorker();
  const ids = [await aTask({}, sink.url, headers), await aTask({}, sink.url, headers)];
  // The rest of the balance pays for one of the two.
  await creditAccount(service.db, {
    accountId: poor.accountId,
    amountMicros: -6_000_000,
    kind: 'correction',
    reference: 'taken back',
    reason: 'test',
  });
  await service.startWorker();
  await until('both arrived', () => ids.every((id) => messagesOf(id).length > 0));
  const bodies = ids.map((id) => JSON.parse(messagesOf(id)[0]?.body ?? ''));
  expect(new Set(bodies.map(({ status }) => status))).toEqual(new Set(['failed', 'succeeded']));
  for (const id of ids) {
    const { body, headers: sent } = messagesOf(id)[0] as Received;
    new Webhook(poor.webhookSecret).verify(body, sent as Record<string, string>);
  }
});

test('the test of a webhook arrives once, signed, and its caller sees the answer', async () => {
  sink.answer = (_, response) => void response.writeHead(418).end();
  const { json: webhook } = await service.call('POST', '/v1/webhooks', { url: sink.url });
  const { status, json } = await service.call('POST', `/v1/webhooks/${webhook.id}/test`);
  expect([status, json]).toEqual([
    200,
    { at: expect.any(Number), status: 418, latency_ms: expect.any(Number), error: 'HTTP 418' },
  ]);
  const messages = messagesOf(webhook.id);
  expect(messages).toHaveLength(1);
  const [{ body, headers }] = messages as [Received];
  new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
  await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
});

test('the test of a webhook waits for a receiver that answers after eleven seconds', async () => {
  sink.answer = (_, response) => {
    setTimeout(() => response.writeHead(204).end(), 11_000);
  };
  const { json: webhook } = await service.call('POST', '/v1/webhooks', { url: sink.url });
  const { status, json } = await service.call('POST', `/v1/webhooks/${webhook.id}/test`);
  expect([status, json.status, json.error]).toEqual([200, 204, null]);
  await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
});

testFailingReceiver(
  () => ({ service, sink }),
  sized({ each: { tasks: 2, minutes: 2 }, long: { tasks: 500, minutes: 10 } }),
);

test('a callback that an operator sends again has the same id and the same body', async () => {
  const id = await aTask();
  await delivered(id);
  await beginResend(service.db, id);
  await until('it arrived again', () => messagesOf(id).length === 2);
  const [first, second] = messagesOf(id);
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
});

/** Terminates the delivery that follows the first attempt. */
async function terminateDelivery(id: string): Promise<void> {
  await until('it was refused once', async () => (await logOf(id)).data[0]?.status === 503);
  const delivery = temporal.client.workflow.getHandle(callbackWorkflowId(id));
  await until('a delivery goes on', () =>
    delivery.terminate('by hand').then(
      () => true,
      () => false,
    ),
  );
}

test('if the workflow of a callback was terminated, the reconciler starts it again and the callback is delivered', async () => {
  sink.answer = (_, response) => void response.writeHead(503).end();
  const id = await aTask();
  await terminateDelivery(id);
  sink.answer = (_, response) => void response.writeHead(204).end();
  await service.db.raw(`update callbacks set due_at = now() where task_id = ?`, [id]);
  await delivered(id);
  expect((await logOf(id)).data.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2]);
});

test('a callback that is delivered 70 hours late has a video link that still works', async () => {
  sink.answer = (_, response) => void response.writeHead(503).end();
  const id = await aTask({ link_life_s: 5 });
  await terminateDelivery(id);
  const { source_url: source } = await service.db('files').where({ task_id: id }).first();
  await until('the provider’s link is dead', async () => !(await fetch(source)).ok);
  sink.answer = (_, response) => void response.writeHead(204).end();
  await timePasses(service.db, id, 70);
  await until('it is delivered', async () => (await logOf(id)).state === 'delivered');
  const { video_url: link } = JSON.parse(messagesOf(id).at(-1)?.body ?? '');
  const video = await fetch(link);
  expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  expect((await video.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
});

test('a callback receiver that does not answer delays only its own deliveries', async () => {
  let running = 0;
  let most = 0;
  const waiting: ServerResponse[] = [];
  slow.answer = (_, response) => {
    running += 1;
    most = Math.max(most, running);
    response.once('close', () => {
      running -= 1;
    });
    waiting.push(response);
  };
  const held = await Promise.all(Array.from({ length: 5 }, () => aTask({}, slowUrl)));
  await until('its share is taken', () => running === 2);
  // The task has ended, although its workflow waits for the receiver.
  const taskId = JSON.parse(slow.received[0]?.body ?? '').id;
  const { json } = await service.call('GET', `/v1/videos/generations/${taskId}`);
  expect(json.status).toBe('succeeded');
  expect(await statusOf(taskId)).toBe('RUNNING');
  const other = await aTask();
  expect((await service.finished(other)).status).toBe('succeeded');
  await delivered(other);
  expect(running).toBeGreaterThan(0);
  slow.answer = (_, response) => void response.writeHead(204).end();
  for (const response of waiting) response.writeHead(204).end();
  await until('all arrived', async () =>
    (await Promise.all(held.map(logOf))).every(({ state }) => state === 'delivered'),
  );
  expect(most).toBe(2);
  // A delivery that waits for a slot does not count as an attempt.
  for (const id of held) {
    expect((await logOf(id)).data).toHaveLength(messagesOf(id, slow).length);
  }
});

test('a worker that is stopped during a callback stops in time, and the next worker delivers the callback', async () => {
  slow.answer = () => undefined;
  const id = await aTask({}, slowUrl);
  await until('it is on its way', () => messagesOf(id, slow).length === 1);
  await service.stopWorker();
  slow.answer = (_, response) => void response.writeHead(204).end();
  await service.startWorker();
  await until('it is delivered', async () => (await logOf(id)).state === 'delivered');
  const ids = messagesOf(id, slow).map(({ headers }) => headers['webhook-id']);
  expect(ids.length).toBeGreaterThan(1);
  expect(new Set(ids)).toEqual(new Set([`${id}:succeeded`]));
});
