// The same request through each shape makes the same task: equal requests, plans and holds.

import { create, startApi, type TestApi } from '../../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const image = (n: number) => `https://example.com/${n}.png`;
const media = [
  {},
  { images: [image(1)] },
  { images: [image(1), image(2)], input_type: 'reference' },
  { videos: ['https://example.com/1.mp4'] },
];
const frames = [
  { resolution: '480p', ratio: '16:9' },
  { resolution: '720p', ratio: '9:16' },
];
/** Forty requests in our form. */
const requests = [4, 5, 7, 9, 10].flatMap((duration) =>
  frames.flatMap((frame) =>
    media.map((inputs, n) => ({
      ...{
        model: 'studio-2.0',
        prompt: `the same ${duration} ${n}`,
        duration,
        ...frame,
        ...inputs,
      },
      metadata: { seed: duration, watermark: true, return_last_frame: n % 2 === 0 },
    })),
  ),
);

type Request = (typeof requests)[number] & { images?: string[]; videos?: string[] };

function arkBody({ prompt, metadata, images = [], videos = [], ...rest }: Request) {
  const role = 'input_type' in rest ? { role: 'reference_image' } : {};
  const { model, duration, resolution, ratio } = rest;
  return {
    ...{ model, duration, resolution, ratio, ...metadata, draft: null },
    content: [
      { type: 'text', text: prompt },
      ...images.map((url) => ({ type: 'image_url', image_url: { url }, ...role })),
      ...videos.map((url) => ({ type: 'video_url', video_url: { url } })),
    ],
  };
}

const mcpHeaders = { accept: 'application/json, text/event-stream' };
const mcpBody = (given: Request) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'submit', arguments: given },
});

/** The id of the task in an answer of an older revision of the protocol, which is an event. */
function mcpId(text: string): string {
  const event = JSON.parse(text.slice(text.indexOf('data: ') + 6));
  return event.result.structuredContent.id;
}

test('forty requests cost the same through each shape', async () => {
  expect(requests).toHaveLength(40);
  for (const request of requests) {
    const replies = [
      await api.call('POST', create, request),
      await api.call('POST', '/v1/videos', request),
      await api.call('POST', '/api/v3/contents/generations/tasks', arkBody(request)),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { text } = await api.call('POST', '/mcp', mcpBody(request), mcpHeaders);
    const ids = [...replies.map(({ json }) => json.id), mcpId(text)];
    const rows = await api.db('tasks').whereIn('id', ids).select('request_hash', 'hold_micros');
    expect(rows).toHaveLength(4);
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1);
  }
});

const shapes = ['openai', 'ark', 'mcp'] as const;
const probes = {
  openai: ['/v1/videos', { model: 'studio-2.0', prompt: 'a lighthouse' }],
  ark: [
    '/api/v3/contents/generations/tasks',
    { model: 'studio-2.0', content: [{ type: 'text', text: 'a lighthouse' }] },
  ],
  mcp: ['/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
} as const;

test.each(shapes)(
  'without the shape %s the others work, and the document leaves it out',
  async (off) => {
    const left = shapes.filter((name) => name !== off);
    const without = await startApi({ shapes: left }, undefined, api.database);
    try {
      const { paths } = (await without.call('GET', '/openapi.json')).json;
      for (const name of shapes) {
        const [path, body] = probes[name];
        const { status } = await without.call('POST', path, body, mcpHeaders);
        // The path /v1/videos has no other method, and the others do not exist.
        expect([name, status, path in paths]).toEqual([
          name,
          name === off ? 404 : 200,
          name !== off,
        ]);
      }
      expect((await without.create()).status).toBe(200);
    } finally {
      await without.close();
    }
  },
);

test('the document lists every path of the shapes', async () => {
  const { paths } = (await api.call('GET', '/openapi.json')).json;
  const { json } = await api.create();
  const asked = Object.entries<Record<string, { tags: string[] }>>(paths).flatMap(
    ([path, operations]) =>
      Object.entries(operations)
        .filter(([, { tags }]) => tags?.includes('Other forms'))
        .map(([method]) => ({ method: method.toUpperCase(), path })),
  );
  expect(asked).toHaveLength(10);
  for (const { method, path } of asked) {
    const at = path.replace(/\{[^}]+\}/, json.id);
    const { status } = await api.call(method, at, method === 'POST' ? {} : undefined);
    // Each is served: it does not answer that there is nothing at this path.
    expect([method, path, status]).not.toEqual([method, path, 404]);
    expect([method, path, status]).not.toEqual([method, path, 405]);
  }
});
