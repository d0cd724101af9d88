// These tests call the studio's face of OpenAI videos with the requests that the official clients
// send: forms from the clients, JSON from other programs.

import { until } from '../support/until';
import { dayMs, useClock } from './clock';
import { type Answer, apiKey, type OpenStudio, openStudio } from './open-studio';

const clock = useClock();
let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const headers = { authorization: `Bearer ${apiKey}` };
const quick = { render: 'none' };
const text = { model: 'studio-2.0', prompt: 'a calico cat', seconds: '4', size: '1280x720' };

async function post(body: object | FormData) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${studio.url}/v1/videos`, {
    method: 'POST',
    headers: { ...headers, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Answer['json'] };
}

function form(fields: object): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

const read = async (id: string) => (await studio.call('GET', `/v1/videos/${id}`)).json;
const completed = (id: string) =>
  until('the video is completed', async () => (await read(id)).status === 'completed');

const png = new Blob([Buffer.from('89504e470d0a1a0a', 'hex')], { type: 'image/png' });

test.each([
  ['JSON', { ...text, studio: quick }],
  [
    'JSON with an image',
    { ...text, studio: quick, input_reference: { image_url: 'https://a/b.png' } },
  ],
  ['JSON with the image of SGLang', { ...text, studio: quick, reference_url: 'https://a/b.png' }],
  ['a form', form({ ...text, studio: JSON.stringify(quick) })],
  ['a form with a file', form({ ...text, studio: JSON.stringify(quick), input_reference: png })],
  [
    'a form with an address',
    form({
      ...text,
      studio: JSON.stringify(quick),
      'input_reference[image_url]': 'https://a/b.png',
    }),
  ],
  [
    'a form with the image of vLLM-Omni',
    form({
      ...text,
      studio: JSON.stringify(quick),
      image_reference: '{"image_url":"https://a/b.png"}',
    }),
  ],
])('a create as %s makes a video object of the protocol', async (_, body) => {
  const { status, json } = await post(body);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    ...{ object: 'video', model: 'studio-2.0', prompt: 'a calico cat', progress: 0 },
    ...{ seconds: '4', size: '1280x720', error: null, completed_at: null },
    id: expect.stringMatching(/^video_/),
  });
});

test.each([
  ['prompt', 'missing_required_parameter', { prompt: undefined }],
  ['model', 'model_not_found', { model: 'sora-9' }],
  ['size', 'invalid_value', { size: '8x8' }],
  ['seconds', 'invalid_value', { seconds: '99' }],
  ['input_reference', 'invalid_value', { input_reference: 'ftp://a' }],
])(
  'a create with a wrong %s is refused in the envelope of the protocol',
  async (param, code, over) => {
    const { status, json } = await post({ ...text, ...over });
    expect([status, json]).toEqual([
      400,
      { error: { type: 'invalid_request_error', param, code, message: expect.any(String) } },
    ]);
  },
);

test('a completed video has no link, and its bytes are read with the key', async () => {
  const { json } = await post({ ...text, studio: quick });
  await completed(json.id);
  expect(await read(json.id)).toMatchObject({ progress: 100, expires_at: expect.any(Number) });
  const content = (auth: object) =>
    fetch(`${studio.url}/v1/videos/${json.id}/content`, { headers: { ...auth } });
  const bytes = Buffer.from(await (await content(headers)).arrayBuffer());
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
  expect((await content({})).status).toBe(401);
});

test('the bytes of a video that is not completed, and of no video, are a 404', async () => {
  const { json } = await post({ ...text, studio: { ...quick, run_s: 60 } });
  for (const id of [json.id, 'video_none']) {
    const { status, json: said } = await studio.call('GET', `/v1/videos/${id}/content`);
    expect([status, said.error.type]).toEqual([404, 'invalid_request_error']);
  }
});

test('the bytes of a video are gone a day after its end', async () => {
  const { json } = await post({ ...text, studio: quick });
  await completed(json.id);
  clock.advance(dayMs + 1_000);
  const { status, json: said } = await studio.call('GET', `/v1/videos/${json.id}/content`);
  expect([status, said.error.code]).toEqual([404, 'video_expired']);
});

test('a failed video has the code of its script', async () => {
  const { json } = await post({
    ...text,
    studio: { ...quick, end: 'failed', code: 'moderation_blocked' },
  });
  await until('the video failed', async () => (await read(json.id)).status === 'failed');
  expect((await read(json.id)).error).toMatchObject({ code: 'moderation_blocked' });
});

test('a deleted video is gone, also while it runs', async () => {
  const { json } = await post({ ...text, studio: { ...quick, run_s: 60 } });
  const { json: deleted } = await studio.call('DELETE', `/v1/videos/${json.id}`);
  expect(deleted).toEqual({ id: json.id, object: 'video.deleted', deleted: true });
  expect((await studio.call('GET', `/v1/videos/${json.id}`)).status).toBe(404);
});

test('the generator neither lists, reads nor deletes a video of this protocol, nor gives its id', async () => {
  const key = { 'idempotency-key': 'of both' };
  const { json } = await studio.call('POST', '/v1/videos', { ...text, studio: quick }, key);
  expect(await studio.accepted({}, key)).toMatch(/^cgt-/);
  expect((await studio.list(`filter.task_ids=${json.id}`)).json.total).toBe(0);
  expect((await studio.get(json.id)).status).toBe(404);
  expect((await studio.remove(json.id)).status).toBe(404);
});

test('the list has pages in both orders, and only the videos of this protocol', async () => {
  await studio.accepted({});
  const ids: unknown[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await post({ ...text, studio: quick })).json.id);
  const first = (await studio.call('GET', '/v1/videos?limit=2')).json;
  expect(first).toMatchObject({ object: 'list', has_more: true, last_id: ids[1] });
  const next = (await studio.call('GET', `/v1/videos?limit=1&after=${first.last_id}`)).json;
  expect(next.data[0].id).toBe(ids[0]);
  const all = (await studio.call('GET', '/v1/videos?limit=100&order=asc')).json;
  expect(all.data.map(({ id }: { id: string }) => id).slice(-3)).toEqual(ids);
  expect(all.data.every(({ id }: { id: string }) => id.startsWith('video_'))).toBe(true);
});

test('a create that is repeated with its idempotency key makes one video', async () => {
  const create = () =>
    studio.call('POST', '/v1/videos', { ...text, studio: quick }, { 'idempotency-key': 'k-1' });
  expect((await create()).json.id).toBe((await create()).json.id);
});
