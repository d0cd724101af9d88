// Runs the TypeScript client against the service, with a proxy between them that loses and delays
// answers. `npm run test:clients` repeats these behaviours for every package.

import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { Webhook } from 'standardwebhooks';
import type { Task, VideoRequest } from '../../clients/typescript/src';
import { VideoClient, VideoError, verifyCallback } from '../../clients/typescript/src';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';

let service: Service;
let proxy: FaultProxy;
let sink: CallbackSink;
let client: VideoClient;
beforeAll(async () => {
  sink = await startCallbackSink();
  service = await startService({ allowHosts: [sink.hostPort] });
  proxy = await startFaultProxy(service.url);
  client = new VideoClient({ baseUrl: proxy.url, apiKey: service.apiKey });
});
beforeEach(() => proxy.reset());
afterAll(async () => {
  await proxy?.close();
  await service?.close();
  await sink?.close();
});

const posts = /^POST \/v1\/videos\/generations/;
const aRequest = (...args: Parameters<typeof textTask>) => textTask(...args) as VideoRequest;
const taskCount = async () => Number((await service.db('tasks').count())[0]?.count);
const rejection = async (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error as VideoError,
  );

test('`createAndWait` returns the finished task, and `download` its bytes although the connection breaks', async () => {
  const before = await taskCount();
  proxy.reset(posts, [{ kind: 'lose' }]);
  const created: string[] = [];
  const task = await client.createAndWait(aRequest(), {
    onCreated: ({ id }) => created.push(id),
  });
  expect(task).toMatchObject({ id: created[0], status: 'succeeded' });
  expect(await taskCount()).toBe(before + 1);
  const url = task.video_url ?? '';
  const wanted = new Uint8Array(await (await fetch(url)).arrayBuffer());
  proxy.reset(/^GET/, [{ kind: 'cut', afterBytes: 1_000 }]);
  const chunks: Uint8Array[] = [];
  const throughProxy = url.replace(service.url, proxy.url);
  for await (const chunk of client.download(throughProxy)) chunks.push(chunk);
  const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  expect(sha(Buffer.concat(chunks))).toBe(sha(wanted));
  expect(wanted.length).toBeGreaterThan(1_000);
  expect(proxy.seen.at(-1)).toMatchObject({ headers: { range: 'bytes=1000-' } });
});

test.each([
  ['a lost answer', { kind: 'lose' }],
  ['an answer that stops midway', { kind: 'cut', afterBytes: 20 }],
  ['no connection', { kind: 'refuse' }],
  ['a 429', { kind: 'answer', status: 429, retryAfter: 1 }],
  ['a 503', { kind: 'answer', status: 503, retryAfter: 1 }],
] as const)(
  'a create after %s is repeated with the same key and makes one task',
  async (_, fault) => {
    const before = await taskCount();
    proxy.reset(posts, [fault]);
    const beganAt = Date.now();
    const { id } = await client.create(aRequest());
    expect(id).toMatch(/^task_/);
    expect(await taskCount()).toBe(before + 1);
    const keys = proxy.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    if ('retryAfter' in fault) expect(Date.now() - beganAt).toBeGreaterThanOrEqual(1_000);
  },
);

test('a refusal is thrown at once, with code, param, status and request id', async () => {
  const error = await rejection(client.create({ model: 'studio-2.0', prompt: '' }));
  expect(error).toBeInstanceOf(VideoError);
  expect(error).toMatchObject({ status: 400, code: 'invalid_value', param: 'prompt' });
  expect(error?.requestId).not.toBe('');
  expect(proxy.seen).toHaveLength(1);
});

test('a service that stays away is reported as `no_answer`, and a limit that lasts as the 429', async () => {
  const impatient = new VideoClient({
    ...{ baseUrl: proxy.url, apiKey: service.apiKey, repeatForMs: 1_000 },
  });
  proxy.reset(posts, Array(10).fill({ kind: 'refuse' }));
  expect(await rejection(impatient.create(aRequest()))).toMatchObject({
    ...{ status: 0, code: 'no_answer' },
  });
  proxy.reset(posts, [{ kind: 'answer', status: 429, retryAfter: 60 }]);
  expect(await rejection(impatient.create(aRequest()))).toMatchObject({
    ...{ status: 429, retryAfterSeconds: 60 },
  });
});

test('the reason for no answer names the fault of the connection', async () => {
  const nobody = new VideoClient({
    baseUrl: 'http://127.0.0.1:65533',
    apiKey: 'k',
    repeatForMs: 0,
  });
  const error = await rejection(nobody.get('task_1'));
  expect(error?.message).toBe(
    'The service did not answer: fetch failed: connect ECONNREFUSED 127.0.0.1:65533.',
  );
});

test('a second `createAndWait` with the same key continues with the first task', async () => {
  const idempotencyKey = `resumed-${Date.now()}`;
  const { id } = await client.create(aRequest(), { idempotencyKey });
  const task = await client.createAndWait(aRequest(), { idempotencyKey });
  expect(task).toMatchObject({ id, status: 'succeeded' });
});

test('an abort during the wait cancels the task', async () => {
  const stop = new AbortController();
  let id = '';
  const waiting = client.createAndWait(aRequest({ run_s: 60 }), {
    signal: stop.signal,
    holdSeconds: 1,
    onCreated: (created) => (id = created.id),
    onUpdate: () => stop.abort(),
  });
  expect(await rejection(waiting)).toMatchObject({ name: 'AbortError' });
  expect(await client.wait(id)).toMatchObject({ status: 'failed', error: { code: 'task_error' } });
});

test('`cancel` succeeds although its answer was lost and the task has ended since', async () => {
  const { id } = await client.create(aRequest({ run_s: 60 }));
  proxy.reset(/^DELETE/, [{ kind: 'lose' }, { kind: 'answer', status: 503, retryAfter: 2 }]);
  expect(await client.cancel(id)).toMatchObject({ id });
  await client.wait(id);
  expect(await rejection(client.cancel(id))).toMatchObject({ code: 'task_already_finished' });
});

test('`list` yields the tasks of all pages', async () => {
  const labels = { series: `list-${Date.now()}` };
  const ids = [];
  for (let n = 0; n < 5; n += 1)
    ids.push((await client.create(aRequest({}, { metadata: { labels } }))).id);
  proxy.reset();
  const listed = [];
  for await (const task of client.list({ labels, pageSize: 2 })) listed.push(task.id);
  expect(listed).toEqual(ids.reverse());
  expect(proxy.seen).toHaveLength(3);
});

test('`quote` states the price, and `upload` stores a file that a create accepts', async () => {
  expect(await client.quote(aRequest())).toMatchObject({
    hold: expect.stringMatching(/^\d+\.\d{6}$/),
  });
  const picture = { width: 640, height: 360, channels: 3, background: '#369' } as const;
  const bytes = await sharp({ create: picture }).png().toBuffer();
  const file = await client.upload(bytes, { name: 'a picture.png' });
  expect(await client.upload(bytes, { reuse: true })).toMatchObject({ id: file.id });
  expect(file).toMatchObject({ kind: 'image', bytes: bytes.length, name: 'a picture.png' });
  expect(await client.create(aRequest({}, { images: [file.id] }))).toMatchObject({
    object: 'video.generation.task',
  });
});

describe('`verifyCallback`', () => {
  test('returns the task of a real callback', async () => {
    const metadata = { callback_url: sink.url };
    const { id } = await client.create(aRequest({}, { metadata }));
    await until('it arrived', () => sink.received.some(({ body }) => body.includes(id)));
    const { body, headers } = sink.received.find((message) => message.body.includes(id))!;
    const task: Task = await verifyCallback(body, headers, service.webhookSecret);
    expect(task).toMatchObject({ id, status: 'succeeded' });
  });

  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
  const signed = (at = new Date(), body = '{"id":"ü"}') => ({
    body,
    headers: {
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': `v1,AAAA ${new Webhook(secret).sign('x', at, body)}`,
    },
  });

  test('accepts one of several signatures and one of several secrets', async () => {
    const { body, headers } = signed();
    const bytes = new TextEncoder().encode(body);
    expect(await verifyCallback(bytes, new Headers(headers), [other, secret])).toEqual({ id: 'ü' });
  });

  test.each([
    ['with another secret', signed(), other],
    ['that is six minutes old', signed(new Date(Date.now() - 360_000)), secret],
    ['with another body', { ...signed(), body: '{}' }, secret],
    ['without headers', { body: '{}', headers: {} }, secret],
  ])('refuses a message %s', async (_, { body, headers }, wrong) => {
    expect(await rejection(verifyCallback(body, headers, wrong))).toMatchObject({
      code: 'invalid_callback',
    });
  });
});
