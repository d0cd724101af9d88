// The shape of Ark's generation tasks: creates, reads, deletes and refusals.

import { startApi, type TestApi } from '../../support/api';
import { call } from '../../support/service';

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

test('a create takes the only service tier, and sends no generator its name', async () => {
  const { status, json } = await api.call('POST', tasks, {
    ...body,
    service_tier: 'default',
    images: [],
  });
  expect([status, json.error]).toEqual([200, undefined]);
  expect((await requestOf(json.id)).metadata.passThrough).toEqual({});
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

test('reads and lists echo the options that were sent, before the video exists and after', async () => {
  const options = {
    ...{ generate_audio: false, execution_expires_after: 7200, safety_identifier: 'user-1' },
    ...{ resolution: '480p', ratio: '16:9', duration: 5, seed: 7 },
  };
  const { id } = (await api.call('POST', tasks, { ...body, ...options })).json;
  const read = async () => (await api.call('GET', `${tasks}/${id}`)).json;
  const list = await api.call('GET', `${tasks}?filter.task_ids=${id}`);
  expect([await read(), list.json.items]).toMatchObject([options, [options]]);
  // What Ark's tasks do not have is not added.
  expect(await read()).not.toHaveProperty('prompt');
  expect(await read()).not.toHaveProperty('watermark');
  await api.finish(id);
  expect(await read()).toMatchObject(options);
});

test('a list echoes short tools, and does not read what is long in a create', async () => {
  const [short, long] = ['x', 'x'.repeat(2_000)].map((type) => [{ type, limit: null }]);
  const made: string[] = [];
  for (const tools of [short, long, undefined]) {
    const { id } = (await api.call('POST', tasks, body)).json;
    const { metadata, ...sent } = await requestOf(id);
    const request = { ...sent, metadata: { ...metadata, tools, passThrough: { long } } };
    await api.db('tasks').where({ id }).update({ request });
    made.push(id);
  }
  const forgotten = (await api.call('POST', tasks, body)).json.id;
  await api.db('tasks').where({ id: forgotten }).update({ request: {} });
  const answers: string[] = [];
  const onAnswer = (answer: { rows?: unknown }) =>
    answers.push(JSON.stringify(answer.rows ?? answer));
  api.apiDb.on('query-response', onAnswer);
  const { json } = await api.call('GET', `${tasks}?page_size=4`);
  api.apiDb.off('query-response', onAnswer);
  expect(answers.filter((rows) => rows.includes(made[0]!))).toHaveLength(2);
  expect(answers.some((rows) => /a lighthouse|xx/.test(rows))).toBe(false);
  const items = json.items.map(({ id, seed, tools }: Record<string, unknown>) => [id, seed, tools]);
  expect(items).toEqual([
    [forgotten, undefined, undefined],
    [made[2], 7, undefined],
    [made[1], 7, undefined],
    [made[0], 7, short],
  ]);
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

describe('the list', () => {
  const listed = async (query: string, key = api.apiKey) => {
    const { status, json } = await call(api.url, key, 'GET', `${tasks}${query}`);
    expect([status, json.error]).toEqual([200, undefined]);
    return { ids: json.items.map(({ id }: { id: string }) => id), ...json };
  };
  let apiKey: string;
  let ids: readonly string[];
  beforeAll(async () => {
    ({ apiKey } = await api.anAccount());
    const made: string[] = [];
    for (const model of ['studio-2.0', 'studio-2.0', 'studio-1.0', 'studio-2.0']) {
      made.push((await call(api.url, apiKey, 'POST', tasks, { ...body, model })).json.id);
    }
    ids = made.toReversed();
    await api.finish(ids[1]!);
    const { object } = await api.db('tasks').where({ id: ids[1] }).first('object');
    await api
      .db('tasks')
      .where({ id: ids[1] })
      .update({ object: { ...object, status: 'succeeded' } });
    await api.finish(ids[2]!, 'The task was cancelled by the caller.');
    await api.finish(ids[3]!, 'The generator could not make it.');
  });

  test('has the tasks of the account as its items, the newest first, and their number', async () => {
    const all = await listed('', apiKey);
    expect([all.ids, all.total]).toEqual([ids, 4]);
    for (const item of all.items) {
      const read = await call(api.url, apiKey, 'GET', `${tasks}/${item.id}`);
      expect(item).toEqual(read.json);
    }
  });

  test('is read in numbered pages, and the total counts all of them', async () => {
    const page = async (number: number) => {
      const { ids: shown, total } = await listed(`?page_num=${number}&page_size=3`, apiKey);
      return [shown, total];
    };
    expect(await page(1)).toEqual([ids.slice(0, 3), 4]);
    expect(await page(2)).toEqual([ids.slice(3), 4]);
    expect(await page(3)).toEqual([[], 4]);
  });

  test.each([
    ['filter.status=queued', [0]],
    ['filter.status=running', []],
    ['filter.status=succeeded', [1]],
    ['filter.status=cancelled', [2]],
    ['filter.status=failed', [3]],
    ['filter.model=studio-1.0', [1]],
    ['filter.model=studio-2.0&filter.status=failed', [3]],
    ['filter.status=&filter.model=&filter.service_tier=default', [0, 1, 2, 3]],
  ])('shows and counts with %s only the tasks that fit', async (filter, places) => {
    const { ids: shown, total } = await listed(`?${filter}`, apiKey);
    expect([shown, total]).toEqual([places.map((place) => ids[place]), places.length]);
  });

  test('shows of the named tasks only those of the account', async () => {
    const query = ids
      .slice(1, 3)
      .map((id) => `filter.task_ids=${id}`)
      .join('&');
    expect(await listed(`?${query}&filter.task_ids=other`, apiKey)).toMatchObject({
      ...{ ids: ids.slice(1, 3), total: 2 },
    });
    expect(await listed(`?${query}`)).toMatchObject({ ids: [], total: 0 });
    expect(await listed('?filter.task_ids=other', apiKey)).toMatchObject({ ids: [], total: 0 });
  });

  test.each([
    ['page_num=0', 'page_num'],
    ['page_size=501', 'page_size'],
    ['page_num=21&page_size=500', 'page_num'],
    ['page_num=1&page_num=2', 'page_num'],
    ['filter.status=done', 'filter.status'],
    ['filter.model=%00', 'filter.model'],
    ['filter.service_tier=flex', 'filter.service_tier'],
    ['filter.state=queued', 'filter.state'],
  ])('is refused with %s', async (query, param) => {
    const { status, json } = await call(api.url, apiKey, 'GET', `${tasks}?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'InvalidParameter', param]);
  });
});

test.each([
  ['an option that the service prices', { priority: 1 }, 'metadata.priority', 'InvalidParameter'],
  ['another service tier', { service_tier: 'flex' }, 'metadata.service_tier', 'InvalidParameter'],
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

test.each([
  ...['prompt', 'mode', 'input_type', 'image', 'images', 'videos', 'audios', 'size', 'seconds'],
  'Prompt',
])('a create has no field %s in the form of Ark', async (name) => {
  const { status, json } = await api.call('POST', tasks, { ...body, [name]: '5' });
  expect([status, json.error.message]).toEqual([400, `${name}: there is no such field.`]);
});
