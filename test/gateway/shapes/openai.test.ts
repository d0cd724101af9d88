// The shape of OpenAI's videos: creates as JSON and as forms, reads, lists, content and deletes.

import { createHash } from 'node:crypto';
import { forgetTasks } from '../../../src/tasks/forget.rows';
import { startApi, type TestApi } from '../../support/api';
import { countStatements } from '../../support/database';
import { lengthOf } from '../../support/files';
import { deleteDueFiles } from '../../support/owed';
import { call } from '../../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const videos = '/v1/videos';
const video = { model: 'studio-2.0', prompt: 'a lighthouse', seconds: '5', size: '1280x720' };
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function sendForm(
  fields: readonly (readonly [string, string | Blob])[],
  headers: Record<string, string> = {},
  at: Pick<TestApi, 'url' | 'apiKey'> = api,
) {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'picture.png');
  }
  const reply = await fetch(`${at.url}${videos}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.apiKey}`, ...headers },
    body: form,
  });
  return { status: reply.status, json: JSON.parse(await reply.text()), headers: reply.headers };
}

const requestOf = async (id: string) =>
  (await api.db('tasks').where({ id }).first('request')).request;
const fieldsOf = (body: Record<string, string>) => Object.entries(body);
const picture = () => new Blob([new Uint8Array(png)], { type: 'image/png' });

describe('a create', () => {
  test('as JSON answers the video, and a read answers the same', async () => {
    const { status, json, headers } = await api.call('POST', videos, video);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...{ object: 'video', model: 'studio-2.0', status: 'queued', progress: 0 },
      ...{ prompt: 'a lighthouse', seconds: '5', size: '1280x720', error: null },
      ...{ completed_at: null, expires_at: null, remixed_from_video_id: null },
    });
    expect(headers.get('location')).toBe(`${videos}/${json.id}`);
    const read = await api.call('GET', `${videos}/${json.id}`);
    expect(read.json).toEqual(json);
    expect(read.headers.get('openai-poll-after-ms')).toBe('3000');
    const native = await api.call('GET', `/v1/videos/generations/${json.id}`);
    expect(native.json).toMatchObject({ id: json.id, created_at: json.created_at });
  });

  test('as a form reads texts as the types of our fields', async () => {
    const { status, json } = await sendForm([
      ...fieldsOf(video),
      ['metadata[seed]', '7'],
      ['metadata[watermark]', 'true'],
      ['metadata[labels][order]', '4711'],
      ['metadata[camera_fixed]', 'true'],
      ['images[]', 'https://example.com/a.png'],
      ['images[]', 'https://example.com/b.png'],
    ]);
    expect([status, json.error]).toEqual([200, null]);
    expect(await requestOf(json.id)).toMatchObject({
      ...{ duration: 5, size: '1280x720' },
      images: ['https://example.com/a.png', 'https://example.com/b.png'],
      metadata: {
        ...{ seed: 7, watermark: true, labels: { order: '4711' } },
        passThrough: { camera_fixed: true },
      },
    });
  });

  test.each([
    ['a URL in an object', [['input_reference[image_url]', 'https://example.com/a.png']]],
    ['a URL as JSON text', [['image_reference', '{"image_url":"https://example.com/a.png"}']]],
  ] as const)('takes a picture as %s', async (_name, fields) => {
    const { status, json } = await sendForm([...fieldsOf(video), ...fields]);
    expect(status).toBe(200);
    expect((await requestOf(json.id)).images).toEqual(['https://example.com/a.png']);
  });

  test('with a file stores it as an upload, and a repeat makes no second task and no second upload', async () => {
    const fields = [...fieldsOf({ ...video, prompt: 'a file' }), ['input_reference', picture()]];
    const first = await sendForm(fields as [string, string][], { 'x-stainless-retry-count': '0' });
    expect(first.status).toBe(200);
    const [image] = (await requestOf(first.json.id)).images;
    const upload = await api.call('GET', `/v1/files/${image}`);
    expect(upload.json.sha256).toBe(createHash('sha256').update(png).digest('hex'));
    const repeat = await sendForm(fields as [string, string][], { 'x-stainless-retry-count': '1' });
    expect([repeat.status, repeat.json.id]).toEqual([200, first.json.id]);
    expect((await api.call('GET', '/v1/files')).json.data).toHaveLength(1);
  });

  test.each<[string, readonly [string, string][], string]>([
    ['for its plan', fieldsOf({ ...video, seconds: '99' }), 'seconds'],
    ['for its form', [...fieldsOf(video), ['prompt', 'another']], 'prompt'],
  ])('that is refused %s leaves no upload', async (_, faulty, param) => {
    const before = await api.db('files').select('id', 'state');
    const { status, json } = await sendForm([...faulty, ['input_reference', picture()]]);
    expect([status, json.error.param]).toEqual([400, param]);
    expect(await api.db('files').select('id', 'state')).toEqual(before);
  });

  test('that is refused while the storage is away leaves a row by which the bytes are found', async () => {
    const { db, storage } = api;
    const before = await db('files').select('id');
    const spied = jest.spyOn(storage, 'remove').mockRejectedValueOnce(new Error('away'));
    const fields = fieldsOf({ ...video, seconds: '99' }) as [string, string | Blob][];
    expect((await sendForm([...fields, ['input_reference', picture()]])).status).toBe(400);
    spied.mockRestore();
    const left = await db('files').whereNotIn(
      'id',
      before.map(({ id }) => id),
    );
    expect(left).toMatchObject([{ state: 'removed', removed_at: null }]);
    expect(await lengthOf(storage, left[0].key)).toBe(png.length);
    await deleteDueFiles({ db, storage });
    expect(await lengthOf(storage, left[0].key)).toBeNull();
  });

  test.each([
    ['an unknown field', { user: 'me' }, 'user'],
    ['an option outside metadata', { seed: 7 }, 'seed'],
    ['a size that the model does not render', { size: '1024x1792' }, 'size'],
    ['a reference that is no file and no URL', { input_reference: { id: 1 } }, 'input_reference'],
  ])('with %s is refused in the form of OpenAI', async (_name, fields, param) => {
    const { status, json } = await api.call('POST', videos, { ...video, ...fields });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ type: 'invalid_request_error', param });
  });

  test.each(['a[b', '[x]', 'metadata[__proto__][x]'])(
    'with the field name %s in its form is refused',
    async (name) => {
      const { status, json } = await sendForm([...fieldsOf(video), [name, '1']]);
      expect([status, json.error.code]).toEqual([400, 'invalid_value']);
    },
  );
});

describe('the metadata of a form', () => {
  const formed = async (fields: readonly (readonly [string, string])[]) =>
    sendForm([...fieldsOf(video), ...fields.map(([path, text]) => [`metadata${path}`, text])] as [
      string,
      string,
    ][]);

  test.each<[string, readonly (readonly [string, string])[], object]>([
    ['a number in an object', [['[studio][run_s]', '1']], { studio: { run_s: 1 } }],
    ['a flag in a list', [['[flags][]', 'true']], { flags: [true] }],
    [
      'a number deep in an object',
      [['[camera][path][pan][x]', '-0.5']],
      { camera: { path: { pan: { x: -0.5 } } } },
    ],
    ['JSON', [['[camera]', '{"zoom":2}']], { camera: { zoom: 2 } }],
    [
      'digits that no number keeps as a text',
      [['[id]', '12345678901234567890']],
      {
        id: '12345678901234567890',
      },
    ],
    ['a number with a zero at its end as a number', [['[cfg]', '7.0']], { cfg: 7 }],
  ])('is read: %s', async (_, fields, passThrough) => {
    const { status, json } = await formed(fields);
    expect([status, json.error]).toEqual([200, null]);
    expect((await requestOf(json.id)).metadata).toMatchObject({ passThrough });
  });

  test('with a long text that resembles a number is read like any other text', async () => {
    const msOf = async (look: string) => {
      const began = performance.now();
      await formed([
        ['[look]', look],
        ['[other]', `0${look}`],
      ]);
      return performance.now() - began;
    };
    const zeros = `.${'0'.repeat(32_000)}1`;
    const [plain, alike] = [[], []] as [number[], number[]];
    for (let n = 0; n < 5; n += 1) {
      plain.push(await msOf(zeros.replaceAll('0', 'x')));
      alike.push(await msOf(zeros));
    }
    // A pattern that tries each zero again takes hundreds of times as long.
    expect(Math.min(...alike)).toBeLessThan(20 * Math.min(...plain));
  });

  const [a1, a2] = [
    ['[shots][][prompt]', 'a'],
    ['[shots][][prompt]', 'b'],
  ] as const;
  const [b1, b2] = [
    ['[shots][][cut]', '1'],
    ['[shots][][cut]', '2'],
  ] as const;

  test.each<[string, readonly (readonly [string, string])[], readonly object[]]>([
    ['one object', [a1, b1], [{ prompt: 'a', cut: 1 }]],
    ['objects of one field', [a1, a2], [{ prompt: 'a' }, { prompt: 'b' }]],
    [
      'objects one after the other',
      [a1, b1, a2, b2],
      [
        { prompt: 'a', cut: 1 },
        { prompt: 'b', cut: 2 },
      ],
    ],
    [
      'objects field by field',
      [a1, a2, b1, b2],
      [
        { prompt: 'a', cut: 1 },
        { prompt: 'b', cut: 2 },
      ],
    ],
    ['an object with an object', [['[shots][][at][x]', '1']], [{ at: { x: 1 } }]],
  ])('may have a list of %s', async (_, fields, shots) => {
    const { status, json } = await formed(fields);
    expect([status, json.error]).toEqual([200, null]);
    expect((await requestOf(json.id)).metadata.passThrough).toEqual({ shots });
  });

  test.each<[string, readonly (readonly [string, string])[]]>([
    [
      'a list of one',
      [
        ['[tools][][type]', 'web_search'],
        ['[tools][][limit]', '3'],
      ],
    ],
    [
      'an object',
      [
        ['[tools][type]', 'web_search'],
        ['[tools][limit]', '3'],
      ],
    ],
  ])('names a tool as %s, with options that have types', async (_, fields) => {
    const { status, json } = await formed(fields);
    expect([status, json.error]).toEqual([200, null]);
    expect((await requestOf(json.id)).metadata.tools).toEqual([{ type: 'web_search', limit: 3 }]);
  });

  test('keeps texts of our own fields that look like numbers', async () => {
    const { json } = await formed([
      ['[labels][order]', '4711'],
      ['[labels][team]', 'true'],
      ['[safety_identifier]', '12345678901234567890'],
      ['[super_resolution_config][resolution]', '1080p'],
      ['[super_resolution_config][fps]', '30'],
    ]);
    expect((await requestOf(json.id)).metadata).toMatchObject({
      labels: { order: '4711', team: 'true' },
      safety_identifier: '12345678901234567890',
      super_resolution_config: { resolution: '1080p', fps: 30 },
    });
  });

  test.each<[string, readonly (readonly [string, string])[], string]>([
    ['more than six levels', [['[a][b][c][d][e][f]', '1']], 'one JSON text'],
    ['a list of lists', [['[a][][]', '1']], 'one JSON text'],
    ['a list in an object of a list', [['[a][][b][]', '1']], 'one JSON text'],
    ['objects of a list with different fields', [a1, b1, a2], 'one JSON text'],
    ['values and objects in one list', [['[shots][]', '1'], a1], 'values and of objects'],
    ['objects and values in one list', [a1, ['[shots][]', '1']], 'values and of objects'],
    ['a list and a value', [['[shots]', '1'], a1], 'a list and a value'],
  ])('with %s is refused', async (_, fields, reason) => {
    const { status, json } = await formed(fields);
    expect([status, json.error.code]).toEqual([400, 'invalid_value']);
    expect(json.error.message).toContain(reason);
  });
});

const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;
const many = `[${'1,'.repeat(17_350)}1]`;

test.each([
  ['a NUL in a text', [['prompt', 'a\0b']]],
  ['a NUL in JSON', [['metadata[mood]', '{"a":"\\u0000"}']]],
  ['half of a surrogate pair', [['metadata[mood]', '{"a":"\\ud800"}']]],
  ['a NUL in a reference', [['input_reference', '{"file_id":"a\\u0000"}']]],
  ['a forbidden name', [['metadata[mood]', '{"__proto__":{"a":1}}']]],
  ['a number of too many digits in JSON', [['metadata[mood]', '{"a":829836802793406551}']]],
  ['a number of too many digits in metadata', [['metadata', '{"a":829836802793406551}']]],
  ['a field that is nested too deeply', [['images', deep]]],
  ['a list that is too long', [['images', many]]],
] as const)('a form with %s is refused, as a body is', async (_name, fields) => {
  const named = fields.map(([name]) => name as string);
  const others = fieldsOf(video).filter(([name]) => !named.includes(name));
  const { status, json } = await sendForm([...others, ...fields]);
  expect([status, json.error.code]).toEqual([400, 'invalid_value']);
});

const manyFields = (count: number): [string, string][] =>
  Array.from({ length: count }, (_, n) => [`metadata[n${n}]`, '1']);

test.each([
  ['200 KB in one field', [['prompt', 'x'.repeat(200_000)]], 413, /131072 bytes/],
  ['140 KB in two fields', ['a', 'b'].map((at) => [at, 'x'.repeat(70_000)]), 413, /131072 bytes/],
  ['140 KB of 47,000 characters', [['prompt', '猫'.repeat(47_000)]], 413, /131072 bytes/],
  ['too many fields', manyFields(201), 400, /at most 200 fields/],
  [
    'a file and too many fields',
    [['input_reference', picture()], ...manyFields(201)],
    400,
    /200 f/,
  ],
] as [string, [string, string | Blob][], number, RegExp][])(
  'a form with %s is refused with its limit',
  async (_name, fields, expected, message) => {
    const { status, json } = await sendForm(fields);
    const code = expected === 413 ? 'request_too_large' : 'invalid_value';
    expect([status, json.error.code]).toEqual([expected, code]);
    expect(json.error.message).toMatch(message);
  },
);

test('a form may have 200 fields and a file', async () => {
  const others = manyFields(200 - fieldsOf(video).length);
  const file: [string, Blob] = ['input_reference', picture()];
  const { status, json } = await sendForm([...fieldsOf(video), file, ...others]);
  expect([status, json.error?.message]).toEqual([200, undefined]);
});

test('a prompt of a form may be a list with many digits', async () => {
  const { status } = await sendForm(fieldsOf({ ...video, prompt: '[829836802793406551]' }));
  expect(status).toBe(200);
});

test('a body whose reference is JSON with a NUL is refused', async () => {
  const hidden = { ...video, input_reference: '{"file_id":"a\\u0000"}' };
  const { status, json } = await api.call('POST', videos, hidden);
  expect([status, json.error.code]).toEqual([400, 'invalid_value']);
});

describe('errors', () => {
  test('of the key, of unknown videos and of unknown paths have the form of OpenAI', async () => {
    const replies = [
      await call(api.url, 'sk-wrong', 'GET', `${videos}/video_1`),
      await api.call('GET', `${videos}/video_1`),
      await api.call('POST', `${videos}/video_1/remix`, { prompt: 'x' }),
      await api.call('PUT', videos, video),
      await api.call('POST', `${videos}/video_1`, video),
    ];
    expect(replies.map(({ status, json }) => [status, json.error.code])).toEqual([
      [401, 'invalid_api_key'],
      [404, 'task_not_found'],
      [404, 'route_not_found'],
      [405, 'method_not_allowed'],
      [405, 'method_not_allowed'],
    ]);
    expect(replies[3]?.headers.get('allow')).toBe('HEAD, GET, POST');
    expect(replies.map(({ json }) => json.error.param)).toContain(null);
  });
});

test.each([
  ['GET', '/v1/videos/'],
  ['GET', '/v1/videos/a/b'],
  ['POST', '/v1/videos/a/b/c'],
  ['GET', '/v1/videos/a/'],
  ['GET', '/v1/videos/a/content/'],
  ['POST', '/v1/videos/a/remix'],
  ['GET', '/v1/videos/generations'],
  ['GET', '/v1/videos/generations/'],
  ['PUT', '/v1/videos/generations'],
  ['GET', '/v1/videos/generations/task_1'],
  ['GET', '/v1/videos/generations/task_1/content'],
  ['POST', '/v1/videos/generations/task_1/x'],
  ['GET', '/v1/video/generations/'],
  ['DELETE', '/v1/video/generations'],
  ['GET', '/v1/video/x'],
  ['GET', '/v1/videos/quotes'],
  ['GET', '/v1/videos/quotes/content'],
])('%s %s, which is no route of OpenAI, is refused in our own form', async (method, path) => {
  const { status, json } = await api.call(method, path, method === 'POST' ? {} : undefined);
  expect([400, 404, 405]).toContain(status);
  expect(Object.values(json.error).map((value) => typeof value)).toEqual(Array(4).fill('string'));
  expect(Object.keys(json.error)).toEqual(['message', 'type', 'param', 'code']);
  const hasNoId = /generations\/?$/.test(path) && method !== 'PUT';
  if (hasNoId) expect([status, json.error.code]).toEqual([400, 'task_id_required']);
});

test('a read and a page of a list are one statement each, as in our own form', async () => {
  const { id } = (await api.call('POST', videos, video)).json;
  await api.finish(id);
  // The first list of tasks of clients that repeat their creates writes that the caller has their ids.
  await api.call('GET', '/v1/tasks?limit=100');
  for (const path of [`/v1/videos/generations/${id}`, `${videos}/${id}`, '/v1/tasks', videos]) {
    const counted = countStatements(api.apiDb);
    expect((await api.call('GET', path)).status).toBe(200);
    expect([path, counted.stop()]).toEqual([path, 1]);
  }
});

test('the video of an account whose content is gone has no prompt', async () => {
  const { id } = (await api.call('POST', videos, video)).json;
  await api.finish(id);
  await api
    .db('tasks')
    .where({ id })
    .update({ request: { ...(await requestOf(id)), prompt: '' } });
  const { json } = await api.call('GET', `${videos}/${id}`);
  expect([json.prompt, json.seconds, json.size]).toEqual([null, '5', '1280x720']);
});

test('the video of a task that was forgotten long after its end has no length and no size', async () => {
  const { id } = (await api.call('POST', videos, video)).json;
  await api.finish(id, 'The task was cancelled by the caller.');
  const { object } = await api.db('tasks').where({ id }).first('object');
  await api.db.raw(`update tasks set finished_at = now() - interval '36 days' where id = ?`, [id]);
  await forgetTasks(api.db, [{ id, object }]);
  const { status, json } = await api.call('GET', `${videos}/${id}`);
  expect([status, json.prompt, json.seconds, json.size]).toEqual([200, null, null, null]);
});

test('a list has cursors in both directions and covers every task once', async () => {
  const { apiKey } = await api.anAccount();
  const list = async (query: string) =>
    (await call(api.url, apiKey, 'GET', `${videos}?${query}`)).json;
  expect(await list('')).toEqual({
    ...{ object: 'list', data: [], first_id: null, last_id: null, has_more: false },
  });
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    ids.push((await call(api.url, apiKey, 'POST', videos, video)).json.id);
  }
  for (const [order, expected] of [
    ['asc', ids],
    ['desc', ids.toReversed()],
  ] as const) {
    const seen: string[] = [];
    let page = await list(`limit=2&order=${order}`);
    for (;;) {
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      expect([page.first_id, page.last_id]).toEqual([page.data[0].id, page.data.at(-1).id]);
      expect(page.data[0].prompt).toBe(video.prompt);
      if (!page.has_more) break;
      page = await list(`limit=2&order=${order}&after=${page.last_id}`);
    }
    expect(seen).toEqual(expected);
  }
});

test('a page of a list ends before it has a megabyte of prompts, and the next page begins there', async () => {
  const { apiKey, accountId } = await api.anAccount();
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    ids.push((await call(api.url, apiKey, 'POST', videos, video)).json.id);
  }
  const prompt = `${'\u0001'.repeat(50_000)}${' '.repeat(50_000)}`;
  await api
    .db('tasks')
    .where({ account_id: accountId })
    .update({ request: { ...(await requestOf(ids[0]!)), prompt, metadata: { labels: {} } } });
  for (const query of ['order=asc&limit=100', 'order=desc&limit=10', 'limit=1']) {
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const { text, json } = await call(api.url, apiKey, 'GET', `${videos}?${query}${after}`);
      expect(text.length).toBeLessThan(1_500_000);
      expect(json.data.length).toBeGreaterThan(0);
      for (const one of json.data) expect(one.prompt).toBe(prompt);
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      if (!json.has_more) break;
      after = `&after=${json.last_id}`;
    }
    expect(seen).toEqual(query.includes('asc') ? ids : ids.toReversed());
  }
});

describe('the content', () => {
  test('of a finished task is a redirect to its link, without a body', async () => {
    const { id } = (await api.call('POST', videos, video)).json;
    await api.finish(id);
    const link = 'http://localhost/files/link.mp4';
    const row = await api.db('tasks').where({ id }).first('object');
    const object = { ...row.object, status: 'succeeded', data: [{ url: link }] };
    await api.db('tasks').where({ id }).update({ object });
    const reply = await fetch(`${api.url}${videos}/${id}/content`, {
      headers: { authorization: `Bearer ${api.apiKey}` },
      redirect: 'manual',
    });
    const { status, headers } = reply;
    expect([status, headers.get('location'), headers.get('content-length')]).toEqual([
      ...[302, link, '0'],
    ]);
    expect(await reply.text()).toBe('');
  });

  test('answers HEAD like GET, and so do the video and the list', async () => {
    const { id } = (await api.call('POST', videos, video)).json;
    for (const path of [
      videos,
      `${videos}/${id}`,
      `${videos}/${id}/content`,
      `${videos}/video_1`,
    ]) {
      const got = await api.call('GET', path);
      const { status, headers, text } = await api.call('HEAD', path);
      expect([path, status, text]).toEqual([path, got.status, '']);
      expect(headers.get('content-length')).toBe(got.headers.get('content-length'));
    }
  });

  test('of an unfinished task is a 409 that is not worth a repeat', async () => {
    const { id } = (await api.call('POST', videos, video)).json;
    const { status, json, headers } = await api.call('GET', `${videos}/${id}/content`);
    expect([status, json.error.code]).toEqual([409, 'task_not_finished']);
    expect(headers.get('x-should-retry')).toBe('false');
  });

  test('of a failed task is a 404, and the task shows its error', async () => {
    const { id } = (await api.call('POST', videos, video)).json;
    await api.finish(id, 'The task was cancelled by the caller.');
    expect((await api.call('GET', `${videos}/${id}`)).json).toMatchObject({
      ...{ status: 'failed', error: { code: 'cancelled' } },
    });
    expect((await api.call('GET', `${videos}/${id}/content`)).status).toBe(404);
  });

  test('of an unknown variant is refused', async () => {
    const { id } = (await api.call('POST', videos, video)).json;
    const { status, json } = await api.call('GET', `${videos}/${id}/content?variant=spritesheet`);
    expect([status, json.error.param]).toEqual([400, 'variant']);
  });
});

test('a delete cancels an unfinished task and deletes the content of a finished one', async () => {
  const { id } = (await api.call('POST', videos, video)).json;
  const deleted = { id, object: 'video.deleted', deleted: true };
  const first = await api.call('DELETE', `${videos}/${id}`);
  expect([first.status, first.json]).toEqual([200, deleted]);
  expect(api.temporal.cancelled).toContain(id);
  await api.finish(id);
  const second = await api.call('DELETE', `${videos}/${id}`);
  expect([second.status, second.json]).toEqual([200, deleted]);
});

test('a delete of a video that is being stored is refused', async () => {
  const { id } = (await api.call('POST', videos, video)).json;
  await api.db('jobs').where({ task_id: id }).update({ status: 'succeeded' });
  const { status, json } = await api.call('DELETE', `${videos}/${id}`);
  expect([status, json.error.code]).toEqual([409, 'task_not_finished']);
});

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['a key', { 'idempotency-key': 'k' }, { 'idempotency-key': 'k' }],
  ['a count', { 'x-stainless-retry-count': '0' }, { 'x-stainless-retry-count': '1' }],
])(
  'a repeat with %s gets the task of the first call, although its file does not fit any more',
  async (_, firstHeaders, repeatHeaders) => {
    const full = await startApi({ uploadsMax: 1 });
    try {
      const fields = [...fieldsOf(video), ['input_reference', picture()]] as [string, string][];
      const first = await sendForm(fields, firstHeaders, full);
      const repeat = await sendForm(fields, repeatHeaders, full);
      expect([first.status, repeat.status, repeat.json.id]).toEqual([200, 200, first.json.id]);
      const other = await sendForm(fields, { 'x-stainless-retry-count': '0' }, full);
      expect([other.status, other.json.error.code]).toEqual([409, 'upload_limit_reached']);
    } finally {
      await full.close();
    }
  },
);

test('a create with a file counts as an upload too, and one without a file does not', async () => {
  const limited = await startApi({ uploads: { perSecond: 1, burst: 5 } }, undefined, api.database);
  try {
    const { apiKey } = await api.anAccount();
    const at = { url: limited.url, apiKey };
    const withFile = [...fieldsOf(video), ['input_reference', picture()]] as [string, string][];
    const replies = [];
    for (let nth = 0; nth < 6; nth += 1) replies.push(await sendForm(withFile, {}, at));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(replies[0]?.headers.get('ratelimit-limit')).toBe('5');
    expect(replies[5]?.json.error).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('upload files'),
    });
    expect((await sendForm(fieldsOf(video), {}, at)).status).toBe(200);
  } finally {
    await limited.close();
  }
});

test('without the shape its paths do not exist', async () => {
  const plain = await startApi({ shapes: [] }, undefined, api.database);
  try {
    const replies = [
      await plain.call('POST', videos, video),
      await plain.call('GET', `${videos}/video_1`),
      await plain.call('POST', '/api/v3/contents/generations/tasks', {}),
    ];
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
  } finally {
    await plain.close();
  }
});
