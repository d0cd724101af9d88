// The studio's face of MiniMax's videos, as a client of the protocol sees it.

import { until } from '../support/until';
import { type Answer, audio, image, type OpenStudio, openStudio, text, video } from './open-studio';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const creates = '/v2/video_generation';
const queries = '/v2/query/video_generation';
const quick = { render: 'none' };
const cat = {
  ...{ model: 'MiniMax-H3', content: [text('a calico cat')], resolution: '768P' },
  ...{ duration: 5, ratio: '16:9', studio: quick },
};
const a = 'https://example.com/a';

const post = (over: object = {}, path = creates) => studio.call('POST', path, { ...cat, ...over });
const made = async (over: object = {}): Promise<string> => (await post(over)).json.task_id;
const read = async (id: string) => (await studio.call('GET', `${queries}/${id}`)).json;
const reaching = async (id: string, status: string) => {
  await until(`${id} is ${status}`, async () => (await read(id)).task.status === status);
  return (await read(id)).task;
};
const listed = async (query: string) => (await studio.call('GET', `${queries}?${query}`)).json;
const idsOf = ({ items }: Answer['json']) => items.map(({ id }: { id: string }) => id);

const fault = (type: string, status: number, code?: string) => ({
  type: 'error',
  error: {
    type,
    message: code ? expect.stringMatching(new RegExp(`\\(${code}\\)$`)) : expect.any(String),
    http_code: String(status),
  },
  request_id: expect.any(String),
});

test.each<[string, object, object]>([
  ['a text', {}, { resolution: '768P', ratio: '16:9' }],
  ['a text without a ratio', { ratio: undefined }, { ratio: '16:9' }],
  ['a text at 2K', { resolution: '2K' }, { resolution: '2K' }],
  ['a first frame', { content: [text('c'), image(a, 'first_frame')] }, { ratio: 'adaptive' }],
  [
    'two frames',
    { content: [text('c'), image(a, 'first_frame'), image(a, 'last_frame')], ratio: undefined },
    { ratio: 'adaptive' },
  ],
  [
    'references',
    { content: [text('c'), image(a, 'reference_image'), video(a), audio(a)], ratio: '9:16' },
    { ratio: '9:16' },
  ],
  ['the other model', { model: 'MiniMax-H3-Max', resolution: '480P' }, { resolution: '480P' }],
  [
    'the option of the other model',
    { model: 'MiniMax-H3-Max', extra: { prompt_expansion_mode: 'quality' } },
    { model: 'MiniMax-H3-Max' },
  ],
])('a create from %s is a task that waits or runs', async (_, over, task) => {
  const { status, json } = await post({ ...over, studio: { ...quick, run_s: 60 } });
  expect([status, json]).toEqual([200, { task_id: expect.stringMatching(/^\d{15}$/) }]);
  expect((await read(json.task_id)).task).toMatchObject({
    ...{ id: json.task_id, duration: 5, task_type: 'generation', modality: 'video', usage: {} },
    ...{ created_at: expect.any(Number), updated_at: expect.any(Number) },
    ...task,
  });
});

test.each<[string, object]>([
  ['an unknown model', { model: 'MiniMax-H9' }],
  ['no text', { content: [image(a, 'first_frame')] }],
  ['two texts', { content: [text('a'), text('b')] }],
  ['a long text', { content: [text('a'.repeat(7_001))] }],
  ['a role that is not of the medium', { content: [text('a'), image(a, 'reference_video')] }],
  ['a last frame alone', { content: [text('a'), image(a, 'last_frame')] }],
  [
    'frames and references',
    { content: [text('a'), image(a, 'first_frame'), image(a, 'reference_image')] },
  ],
  ['audio alone', { content: [text('a'), audio(a)] }],
  [
    'references for the other model',
    { ...{ model: 'MiniMax-H3-Max' }, content: [text('a'), video(a)] },
  ],
  [
    'an uploaded file that is not there',
    { content: [text('a'), image('mm_file://1', 'first_frame')] },
  ],
  ['a tier of the other model', { resolution: '480P' }],
  ['a short length', { model: 'MiniMax-H3-Max', duration: 4 }],
  ['a length as text', { duration: '5' }],
  ['an adaptive ratio for a text', { ratio: 'adaptive' }],
  ['an option of the other model', { extra: { prompt_expansion_mode: 'quality' } }],
])('a create with %s is refused in the envelope of the protocol', async (_, over) => {
  const { status, json } = await post(over);
  expect([status, json]).toEqual([400, fault('bad_request_error', 400, '2013')]);
});

test.each<[number, string, object, string | undefined]>([
  [402, 'insufficient_balance_error', { code: '1008' }, '1008'],
  [422, 'unprocessable_entity_error', { code: '1026' }, '1026'],
  [429, 'rate_limit_error', {}, '1002'],
  [500, 'server_error', {}, '1000'],
  [529, 'overloaded_error', {}, undefined],
])('a script answers a create with %i as %s', async (status, type, more, code) => {
  const { status: got, json } = await post({ studio: { create: { status, ...more } } });
  expect([got, json]).toEqual([status, fault(type, status, code)]);
});

test('a task of an unknown id is a 500, and a wrong key a 401', async () => {
  for (const method of ['GET', 'DELETE']) {
    const path = method === 'GET' ? queries : creates;
    const { status, json } = await studio.call(method, `${path}/424010985738629`);
    expect([status, json]).toEqual([500, fault('server_error', 500)]);
    expect(json.error.message).toMatch(/record not found/);
  }
  const { status, json } = await studio.call('GET', queries, undefined, { authorization: 'no' });
  expect([status, json]).toEqual([401, fault('authorized_error', 401, '1004')]);
});

test('a finished task has a link to a real video and its seconds', async () => {
  const id = await made({ duration: 4, studio: {} });
  const task = await reaching(id, 'succeeded');
  expect(task).toMatchObject({
    ...{ resolution: '768P', duration: 4, ratio: '16:9' },
    usage: { total_seconds: 4, input_seconds: 0, output_seconds: 4, input_image_count: 0 },
  });
  const bytes = Buffer.from(await (await fetch(task.content.url)).arrayBuffer());
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
});

test('a reference video is counted in the seconds of the input', async () => {
  const id = await made({ content: [text('a'), video(a)] });
  const { usage } = await reaching(id, 'succeeded');
  expect(usage).toMatchObject({ total_seconds: 9, input_seconds: 4, output_seconds: 5 });
});

test.each([
  ['1027', '1027'],
  ['InternalServiceError', '1000'],
])('a task that fails with %s has the code %s and no usage', async (code, shown) => {
  const task = await reaching(await made({ studio: { ...quick, end: 'failed', code } }), 'failed');
  expect(task).toMatchObject({ error: { code: shown, message: expect.any(String) }, usage: {} });
});

test.each([
  ['a finished task', quick, 'succeeded', 'deleted'],
  ['a queued task', { ...quick, queue_s: 60 }, 'queued', 'cancelled'],
])('the delete of %s removes or cancels it', async (_, script, status, action) => {
  const id = await made({ studio: script });
  await reaching(id, status);
  const { json } = await studio.call('DELETE', `${creates}/${id}`);
  expect(json).toEqual({ task_id: id, action, status: action });
});

test('a running task cannot be cancelled', async () => {
  const id = await made({ studio: { ...quick, run_s: 60 } });
  await reaching(id, 'running');
  const { status, json } = await studio.call('DELETE', `${creates}/${id}`);
  expect([status, json]).toEqual([400, fault('bad_request_error', 400, '2013')]);
});

test('the list has filters and pages, the newest task first, and only tasks of this protocol', async () => {
  const other = await studio.accepted({});
  const ids = [await made(), await made(), await made({ model: 'MiniMax-H3-Max' })];
  const first = await listed('page_num=1&page_size=2');
  expect(idsOf(first)).toEqual([ids[2], ids[1]]);
  expect(idsOf(await listed('page_num=2&page_size=2'))[0]).toBe(ids[0]);
  const all = await listed('page_size=100');
  expect([idsOf(all).includes(other), all.total >= 3]).toEqual([false, true]);
  expect(idsOf(await listed('filter.model=MiniMax-H3-Max'))).toContain(ids[2]);
  expect(idsOf(await listed(`filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`))).toEqual([
    ids[2],
    ids[0],
  ]);
  expect(idsOf(await listed('filter.task_type=regeneration'))).toEqual([]);
  expect((await studio.call('GET', `${queries}?filter.status=done`)).status).toBe(400);
});

describe('a regeneration', () => {
  const regenerate = (over: object) =>
    studio.call('POST', '/v2/video_regeneration', {
      ...{ model: 'MiniMax-H3', resolution: '2K', studio: quick },
      ...over,
    });
  const base = { type: 'video_url', video_url: { url: `${a}.mp4` }, role: 'base_video' };

  test('enlarges the video of a finished task, or of an address, to 2K', async () => {
    const source_task_id = await made({});
    await reaching(source_task_id, 'succeeded');
    for (const from of [{ source_task_id }, { content: [base] }]) {
      const { status, json } = await regenerate(from);
      expect(status).toBe(200);
      expect(await reaching(json.task_id, 'succeeded')).toMatchObject({
        ...{ model: 'MiniMax-H3', resolution: '2K', duration: 5, task_type: 'regeneration' },
        content: { url: expect.stringMatching(/^http/) },
        usage: { output_seconds: 5 },
      });
    }
  });

  test('of a video of 2K, of another tier, and of nothing is refused', async () => {
    const source_task_id = await made({ resolution: '2K' });
    await reaching(source_task_id, 'succeeded');
    for (const wrong of [
      { source_task_id },
      { content: [base], resolution: '768P' },
      { content: [base], model: 'MiniMax-H3-Max' },
      {},
    ]) {
      expect((await regenerate(wrong)).status).toBe(400);
    }
    expect((await regenerate({ source_task_id: '4'.repeat(15) })).status).toBe(500);
  });
});
