// Follows tasks through the whole service: the HTTP call, the jobs in the studio, the callback and
// the ledger.

import { AsyncCompletionClient } from '@temporalio/client';
import { audit } from '../../src/money/audit.rows';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { cancelTask, type Service, startService, textTask } from '../support/service';
import { connectTemporal } from '../support/temporal';
import { until } from '../support/until';

let service: Service;
let sink: CallbackSink;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
beforeAll(async () => {
  temporal = await connectTemporal();
  sink = await startCallbackSink();
  service = await startService({ allowHosts: [sink.hostPort] });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await temporal?.close();
});
afterEach(async () => {
  expect(service.failures).toEqual([]);
  expect((await audit(service.db)).differences).toEqual([]);
});

const labels = { order: '4711' };

test('a create is answered with five fields; its task succeeds, is settled and sends one callback', async () => {
  const created = await service.create(
    textTask({ run_s: 1 }, { duration: 5, metadata: { callback_url: sink.url, labels } }),
  );
  expect(created.status).toBe(200);
  expect(Object.keys(created.json)).toEqual(['id', 'task_id', 'object', 'status', 'message']);
  expect(created.json.status).toBe('submitted');
  const task = await service.finished(created.json.id);
  expect(task).toMatchObject({
    status: 'succeeded',
    video_url: expect.stringMatching(/^http/),
    duration: 5,
    labels,
    usage: { completion_tokens: 108_900, total_tokens: 108_900, seconds: expect.any(Number) },
    billing: { held: '5.009400', charged: '5.009400', refunded: '0.000000' },
  });
  // The length of the stored file, which is as long as the studio reports.
  expect(task.usage.seconds).toBe(5);
  await until('the callback arrived', () => sink.received.length === 1);
  const { json } = await service.call('GET', `/v1/videos/generations/${created.json.id}`);
  expect(JSON.parse(sink.received[0]?.body ?? '')).toEqual(json);
});

test('super-resolution runs under the same task id and is a separate item of the bill', async () => {
  const { json } = await service.create(
    textTask({}, { metadata: { super_resolution_config: { resolution: '1080p' } } }),
  );
  const task = await service.finished(json.id);
  expect(task.status).toBe('succeeded');
  expect(task.billing.items.map((item: { kind: string }) => item.kind)).toEqual([
    'generation',
    'super_resolution',
  ]);
  expect(task.billing.items[1].amount).toBe('0.126050');
});

test('a failed generation costs nothing', async () => {
  const { json } = await service.create(
    textTask({ end: 'failed', code: 'InputTextSensitiveContentDetected' }),
  );
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    error: { code: 'provider_error', message: expect.stringContaining('prompt') },
    billing: { charged: '0.000000' },
  });
});

test('a task that its caller cancels costs nothing, and a second DELETE is answered 409', async () => {
  const { json } = await service.create(textTask({ queue_s: 600 }));
  const answer = await cancelTask(service.call, json.id);
  expect(answer.status).toBe(200);
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    error: { code: 'task_error', message: expect.stringContaining('cancelled by the caller') },
    billing: { charged: '0.000000' },
  });
  const again = await service.call('DELETE', `/v1/videos/generations/${json.id}`);
  expect([again.status, again.json.error.code]).toEqual([409, 'task_already_finished']);
});

test('a task that shows `storing` succeeds although its workflow is cancelled before it learns of the video', async () => {
  const held = jest
    .spyOn(AsyncCompletionClient.prototype, 'complete')
    .mockRejectedValue(new Error('Temporal does not answer.'));
  try {
    const { json } = await service.create(textTask({ run_s: 0 }));
    await until('it shows `storing`', async () => {
      const task = await service.call('GET', `/v1/videos/generations/${json.id}`);
      return task.json.stage === 'storing';
    });
    await temporal.client.workflow.getHandle(json.id).cancel();
    expect(await service.finished(json.id)).toMatchObject({
      status: 'succeeded',
      billing: { charged: '5.009400' },
    });
  } finally {
    held.mockRestore();
  }
});

test('a create that costs more than the balance is refused with 402, and the message names the balance', async () => {
  const poor = await service.anAccount(1);
  const headers = { authorization: `Bearer ${poor.apiKey}`, 'idempotency-key': 'poor' };
  const refused = await service.create(textTask(), headers);
  expect([refused.status, refused.json.error.code]).toEqual([402, 'insufficient_balance']);
  expect(refused.json.error.message).toContain('0.000001');
});

test('a GET of another account’s task is answered with the same 404 as a GET of an unknown task', async () => {
  const { json } = await service.create(textTask());
  const other = await service.anAccount();
  const headers = { authorization: `Bearer ${other.apiKey}` };
  const foreign = await service.call(
    'GET',
    `/v1/videos/generations/${json.id}`,
    undefined,
    headers,
  );
  const unknown = await service.call(
    'GET',
    '/v1/videos/generations/task_nothing',
    undefined,
    headers,
  );
  expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  await service.finished(json.id);
});
