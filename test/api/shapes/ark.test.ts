// The shape of Ark's generation tasks: creates, reads, deletes and refusals.

import { startApi, type TestApi } from '../../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const tasks = '/api/v3/contents/generations/tasks';
const text = { type: 'text', text: 'a lighthouse' };
/** The client of Ark sends null for each option that its caller did not set. */
const body = {
  ...{ model: 'studio-2.0', content: [text], resolution: '480p', ratio: '16:9', duration: 5 },
  ...{ safety_identifier: null, callback_url: null, service_tier: null, priority: null },
  ...{ generate_audio: null, draft: null, frames: null, tools: null, seed: 7 },
};
const image = (name: string, role?: string) => ({
  type: 'image_url',
  image_url: { url: `https://example.com/${name}.png` },
  ...(role ? { role } : {}),
});
const requestOf = async (id: string) =>
  (await api.db('tasks').where({ id }).first('request')).request;

test('a create answers the id, and null options count as absent', async () => {
  const { status, json } = await api.call('POST', tasks, body);
  expect([status, Object.keys(json)]).toEqual([200, ['id']]);
  expect(await requestOf(json.id)).toMatchObject({
    ...{ prompt: 'a lighthouse', resolution: '480p', ratio: '16:9', duration: 5 },
    metadata: { seed: 7, passThrough: {} },
  });
});

test('a read always has error, content and usage', async () => {
  const { id } = (await api.call('POST', tasks, body)).json;
  expect((await api.call('GET', `${tasks}/${id}`)).json).toMatchObject({
    ...{ id, model: 'studio-2.0', status: 'queued', error: null, content: null, usage: null },
  });
  await api.finish(id, 'The task was cancelled by the caller.');
  expect((await api.call('GET', `${tasks}/${id}`)).json).toMatchObject({
    ...{ id, status: 'cancelled', error: { code: 'task_error' } },
  });
});

test.each([
  ['reference_image', [image('a', 'reference_image')], 'reference', ['a']],
  ['no role', [image('a')], undefined, ['a']],
  ['frames', [image('z', 'last_frame'), image('a', 'first_frame')], 'first_last_frame', ['a', 'z']],
])('a create with %s names the pictures in our order', async (_name, media, inputType, names) => {
  const { status, json } = await api.call('POST', tasks, { ...body, content: [text, ...media] });
  expect([status, json.error]).toEqual([200, undefined]);
  const request = await requestOf(json.id);
  expect(request.input_type).toBe(inputType);
  expect(request.images).toEqual(names.map((name) => `https://example.com/${name}.png`));
});

test('a delete with a body answers {} and cancels the task', async () => {
  const { id } = (await api.call('POST', tasks, body)).json;
  const { status, json } = await api.call('DELETE', `${tasks}/${id}`, {});
  expect([status, json]).toEqual([200, {}]);
  expect(api.temporal.cancelled).toContain(id);
});

test('the list that this form does not have is refused with the list of ours', async () => {
  const { status, json } = await api.call('GET', `${tasks}?page_num=1`);
  expect([status, json.error.code]).toEqual([404, 'ResourceNotFound']);
  expect(json.error.message).toContain('/v1/tasks');
});

test.each([
  ['an option that the service prices', { priority: 1 }, 'metadata.priority', 'InvalidParameter'],
  ['no content', { content: null }, 'prompt', 'MissingParameter'],
  ['an unknown model', { model: 'other' }, 'model', 'InvalidEndpointOrModel.NotFound'],
  ['an unknown role', { content: [text, image('a', 'x')] }, 'content[1].role', 'InvalidParameter'],
  [
    'an unknown option of an item',
    { content: [{ ...text, language: 'en' }] },
    'content[0].language',
    'InvalidParameter',
  ],
  [
    'an unknown option of a picture',
    { content: [text, { type: 'image_url', image_url: { url: 'https://a.b/c', detail: 'low' } }] },
    'content[1].image_url.detail',
    'InvalidParameter',
  ],
  [
    'a role of a text',
    { content: [{ ...text, role: 'reference_image' }] },
    'content[0].role',
    'InvalidParameter',
  ],
  [
    'the role of another medium',
    { content: [text, image('a', 'reference_video')] },
    'content[1].role',
    'InvalidParameter',
  ],
  [
    'two first frames',
    { content: [text, image('a', 'first_frame'), image('b', 'first_frame')] },
    'content',
    'InvalidParameter',
  ],
  ['options in metadata', { metadata: { seed: 7 } }, 'metadata', 'InvalidParameter'],
  ['an unknown item', { content: [{ type: 'draft_task' }] }, 'content[0].type', 'InvalidParameter'],
  [
    'a first frame alone',
    { content: [text, image('a', 'first_frame')] },
    'images',
    'InvalidParameter',
  ],
])('a create with %s is refused in the form of Ark', async (_name, fields, param, code) => {
  const { status, json } = await api.call('POST', tasks, { ...body, ...fields });
  expect(status).toBe(400);
  expect(json.error).toMatchObject({ code, param });
});
