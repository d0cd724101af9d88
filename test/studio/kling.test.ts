// These tests call the studio's face of Kling with the requests of its documents.

import { createHmac } from 'node:crypto';
import { until } from '../support/until';
import { apiKey, type OpenStudio, openStudio } from './open-studio';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const quick = { studio: { render: 'none' } };
const text = { model_name: 'kling-v3', prompt: 'a calico cat', duration: '5', ...quick };
const image = 'https://example.com/a.png';

function token({ key = apiKey, header = {}, payload = {} } = {}): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    encoded({ alg: 'HS256', typ: 'JWT', ...header }),
    encoded({ iss: 'access', exp: now + 1800, nbf: now - 5, ...payload }),
  ].join('.');
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

const call = (method: string, path: string, body?: object, bearer = token()) =>
  studio.call(method, `/kling/v1/videos/${path}`, body, { authorization: `Bearer ${bearer}` });
const create = (over: object = {}, path = 'text2video') => call('POST', path, { ...text, ...over });
const read = async (id: string, path = 'text2video') => (await call('GET', `${path}/${id}`)).json;
const ended = (id: string, status: string) =>
  until(`the task is ${status}`, async () => (await read(id)).data.task_status === status);

test.each([
  ['text2video', {}],
  ['image2video', { image }],
  ['image2video', { image, image_tail: image }],
  ['image2video', { image: 'AAAAAAAA' }],
  ['multi-image2video', { image_list: [{ image }, { image }] }],
])('a create at %s makes a task of the protocol', async (path, over) => {
  const { status, json } = await create({ ...over, sound: 'on', mode: 'pro' }, path);
  expect([status, json]).toMatchObject([
    200,
    {
      ...{ code: 0, message: 'SUCCEED', request_id: expect.any(String) },
      data: { task_id: expect.stringMatching(/^\d+$/), task_status: 'submitted' },
    },
  ]);
  const { data } = await read(json.data.task_id, path);
  expect(data.task_id).toBe(json.data.task_id);
});

test('a task is read by the id of its caller, and a second task with it is refused', async () => {
  const { json } = await create({ external_task_id: 'task_1' });
  expect(json.data.task_info).toEqual({ external_task_id: 'task_1' });
  expect((await read('task_1')).data.task_id).toBe(json.data.task_id);
  expect(await create({ external_task_id: 'task_1' })).toMatchObject({
    ...{ status: 400, json: { code: 1201 } },
  });
});

test('a finished task has its link, its length as a text and its units', async () => {
  const { json } = await create();
  await ended(json.data.task_id, 'succeed');
  const { data } = await read(json.data.task_id);
  const [video] = data.task_result.videos;
  expect([video.duration, data.final_unit_deduction]).toEqual(['5', '1']);
  expect((await fetch(video.url)).headers.get('content-type')).toBe('video/mp4');
});

test('a failed task has the text of its script', async () => {
  const { json } = await create({ studio: { end: 'failed', message: 'no' } });
  await ended(json.data.task_id, 'failed');
  expect((await read(json.data.task_id)).data).toMatchObject({ task_status_msg: 'no' });
});

test.each([
  ['no prompt', { prompt: undefined }, 'text2video'],
  ['an unknown model', { model_name: 'sora' }, 'text2video'],
  ['a length that is a number', { duration: 5 }, 'text2video'],
  ['a wrong length', { duration: '60' }, 'text2video'],
  ['a wrong ratio', { aspect_ratio: '21:9' }, 'text2video'],
  ['no image', {}, 'image2video'],
  ['an image with `data:`', { image: 'data:image/png;base64,AAAAAAAA' }, 'image2video'],
  ['no images', {}, 'multi-image2video'],
])('a create with %s is refused in the envelope of the protocol', async (_, over, path) => {
  const { status, json } = await create(over, path);
  expect([status, json]).toEqual([
    400,
    { code: 1201, message: expect.any(String), request_id: expect.any(String) },
  ]);
});

test.each([
  ['500', { status: 500 }, 500, 5000],
  ['429', { status: 429 }, 429, 1302],
  ['no money', { status: 429, code: '1102' }, 429, 1102],
  ['a refused content', { code: '1301' }, 400, 1301],
])(
  'a scripted create with %s is refused in the numbers of the protocol',
  async (_, fault, status, code) => {
    const answer = await create({ studio: { create: fault } });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  },
);

test.each([
  ['the key itself', () => apiKey],
  ['another key', () => token({ key: 'wrong' })],
  ['another algorithm', () => token({ header: { alg: 'none' } })],
  ['no access key', () => token({ payload: { iss: '' } })],
  ['a time that is over', () => token({ payload: { exp: 1 } })],
  ['a time to come', () => token({ payload: { nbf: 9_000_000_000 } })],
  ['no JSON', () => 'a.b.c'],
])('a token with %s is refused', async (_, bearer) => {
  const { status, json } = await call('POST', 'text2video', text, bearer());
  expect([status, json.code]).toEqual([401, 1000]);
});

test('a task of another path, or of no path, does not exist', async () => {
  const { json } = await create();
  for (const path of [`image2video/${json.data.task_id}`, 'text2video/none']) {
    expect(await call('GET', path)).toMatchObject({ status: 404, json: { code: 1203 } });
  }
});

test('the list has pages, newest first, and only tasks of its path', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { json } = await create({ image_list: [{ image }] }, 'multi-image2video');
    ids.unshift(json.data.task_id);
  }
  const { json } = await call('GET', 'multi-image2video?pageNum=1&pageSize=3');
  expect(json.data.map(({ task_id }: { task_id: string }) => task_id)).toEqual(ids);
  expect((await call('GET', 'text2video?pageSize=9999')).json.code).toBe(1201);
});
