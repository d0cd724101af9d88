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

test('forty requests cost the same through each shape', async () => {
  expect(requests).toHaveLength(40);
  for (const request of requests) {
    const replies = [
      await api.call('POST', create, request),
      await api.call('POST', '/v1/videos', request),
      await api.call('POST', '/api/v3/contents/generations/tasks', arkBody(request)),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const ids = replies.map(({ json }) => json.id);
    const rows = await api.db('tasks').whereIn('id', ids).select('request_hash', 'hold_micros');
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1);
  }
});
