// These tests call the studio's face of DashScope with the requests of its documents.

import { until } from '../support/until';
import { type OpenStudio, openStudio } from './open-studio';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const api = '/dashscope/api/v1';
const createPath = `${api}/services/aigc/video-generation/video-synthesis`;
const quick = { render: 'none' };
const asynchronous = { 'x-dashscope-async': 'enable' };
const image = 'https://example.com/a.png';

const create = (over: object = {}, headers: Record<string, string> = asynchronous) =>
  studio.call(
    'POST',
    createPath,
    {
      model: 'wan3.0-video',
      input: { prompt: 'a calico cat' },
      parameters: { resolution: '720P', ratio: '16:9', duration: 4, studio: quick },
      ...over,
    },
    headers,
  );
const read = async (id: string) => (await studio.call('GET', `${api}/tasks/${id}`)).json;
const ended = (id: string, status: string) =>
  until(`the task is ${status}`, async () => (await read(id)).output.task_status === status);

test('a create makes a task of the protocol', async () => {
  const { status, json } = await create();
  expect([status, json]).toEqual([
    200,
    {
      request_id: expect.any(String),
      output: { task_status: 'PENDING', task_id: expect.stringMatching(/^[\da-f-]{36}$/) },
    },
  ]);
});

test.each([
  ['no header', {}, {}, 403, 'AccessDenied'],
  ['an unknown model', { model: 'wan9' }, asynchronous, 404, 'ModelNotFound'],
  ['no prompt', { input: {} }, asynchronous, 400, 'InvalidParameter'],
  ['a wrong length', { parameters: { duration: 31 } }, asynchronous, 400, 'InvalidParameter'],
  ['a wrong tier', { parameters: { resolution: '8K' } }, asynchronous, 400, 'InvalidParameter'],
  [
    'frames beside references',
    {
      input: {
        prompt: 'p',
        media: ['first_frame', 'reference_image'].map((type) => ({ type, url: image })),
      },
    },
    asynchronous,
    400,
    'InvalidParameter',
  ],
  [
    'media of another model',
    { input: { prompt: 'p', media: [{ type: 'refer', url: image }] } },
    asynchronous,
    400,
    'InvalidParameter',
  ],
])(
  'a create with %s is refused in the envelope of the protocol',
  async (_, over, headers, status, code) => {
    const answer = await create(over, headers);
    expect([answer.status, answer.json]).toEqual([
      status,
      { code, message: expect.any(String), request_id: expect.any(String) },
    ]);
  },
);

test('a model of key frames has a path of its own', async () => {
  const body = {
    model: 'wan2.2-kf2v-flash',
    input: { prompt: 'p', first_frame_url: image, last_frame_url: image },
    parameters: { resolution: '480P', studio: quick },
  };
  expect((await create(body)).status).toBe(400);
  const path = `${api}/services/aigc/image2video/video-synthesis`;
  expect((await studio.call('POST', path, body, asynchronous)).status).toBe(200);
});

test('a finished task has its link, its usage and its times', async () => {
  const media = [{ type: 'reference_video', url: 'https://example.com/a.mp4' }];
  const { json } = await create({ input: { prompt: 'p', media } });
  await ended(json.output.task_id, 'SUCCEEDED');
  const { output, usage } = await read(json.output.task_id);
  expect(output).toMatchObject({
    orig_prompt: 'p',
    end_time: expect.stringMatching(/^\d{4}-.+\.\d{3}$/),
  });
  expect(usage).toEqual({
    ...{ duration: 8, input_video_duration: 4, output_video_duration: 4, video_count: 1 },
    ...{ SR: 720, fps: 24, size: '1280*720', ratio: '16:9' },
  });
  expect((await fetch(output.video_url)).headers.get('content-type')).toBe('video/mp4');
});

test('a task that does not exist is unknown with 200', async () => {
  const { status, json } = await studio.call('GET', `${api}/tasks/no-such-task`);
  expect([status, json.output]).toEqual([200, { task_id: 'no-such-task', task_status: 'UNKNOWN' }]);
});

test('a failed task has the code of its script with 200', async () => {
  const script = { ...quick, end: 'failed', code: 'DataInspectionFailed' };
  const { json } = await create({ parameters: { studio: script } });
  await ended(json.output.task_id, 'FAILED');
  expect((await read(json.output.task_id)).output).toMatchObject({ code: 'DataInspectionFailed' });
});

test('only a task that waits can be cancelled', async () => {
  const waiting = await create({ parameters: { studio: { ...quick, queue_s: 60 } } });
  const running = await create({ parameters: { studio: { ...quick, run_s: 60 } } });
  const cancel = ({ json }: typeof waiting) =>
    studio.call('POST', `${api}/tasks/${json.output.task_id}/cancel`);
  expect(await cancel(waiting)).toMatchObject({ status: 200 });
  expect((await read(waiting.json.output.task_id)).output.task_status).toBe('CANCELED');
  await ended(running.json.output.task_id, 'RUNNING');
  expect(await cancel(running)).toMatchObject({
    ...{ status: 400, json: { code: 'UnsupportedOperation' } },
  });
});

test.each([
  ['500', { status: 500 }, 500, 'InternalError'],
  ['429', { status: 429 }, 429, 'Throttling.RateQuota'],
  ['a code', { status: 400, code: 'Arrearage' }, 400, 'Arrearage'],
])(
  'a scripted create with %s is refused in the words of the protocol',
  async (_, fault, status, code) => {
    const answer = await create({ parameters: { studio: { create: fault } } });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  },
);

test('a wrong key is refused in the words of the protocol', async () => {
  const answer = await create({}, { ...asynchronous, authorization: 'Bearer wrong' });
  expect([answer.status, answer.json.code]).toEqual([401, 'InvalidApiKey']);
});

test('the list has pages and filters, newest first, and only tasks of this protocol', async () => {
  await studio.accepted({});
  const ids: string[] = [];
  const model = 'wan3.0-video-prime';
  for (let n = 0; n < 3; n += 1) ids.unshift((await create({ model })).json.output.task_id);
  const list = async (query: object) =>
    (await studio.call('GET', `${api}/tasks/?${new URLSearchParams({ ...query }).toString()}`))
      .json;
  const page = await list({ model_name: model, page_no: '2', page_size: '2' });
  expect(page).toMatchObject({ total: 3, total_page: 2, page_no: 2, page_size: 2 });
  expect(page.data).toMatchObject([{ task_id: ids[2], model_name: model }]);
  const stamp = (ms: number) =>
    new Date(ms + 8 * 3_600_000).toISOString().replace(/\D/g, '').slice(0, 14);
  const between = (from: number, to: number) =>
    list({
      start_time: stamp(Date.now() + from),
      end_time: stamp(Date.now() + to),
      model_name: model,
    });
  expect((await between(-60_000, 60_000)).total).toBe(3);
  expect((await between(60_000, 120_000)).total).toBe(0);
  expect((await between(-90_000_000, 0)).code).toBe('InvalidParameter');
  const every = await list({ page_size: '100' });
  expect(
    every.data.every(({ task_id }: { task_id: string }) => /^[\da-f-]{36}$/.test(task_id)),
  ).toBe(true);
});
