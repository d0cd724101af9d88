// These tests check how the client interprets each answer of a provider that speaks OpenAI videos.

import { createOpenaiVideos } from '../../../../activities/providers/openai-videos/client';
import type { Provider } from '../../../../activities/providers/provider';
import { aJobInput, aPlan } from '../../../support/builders';
import { type Canned, startCanned } from '../../../support/canned';
import { readAll } from '../../../support/readings';

let service: Canned;
let generator: Provider;
const speaking = (profile: string) =>
  createOpenaiVideos({
    baseUrl: service.url,
    apiKey: 'key',
    timeoutMs: 5_000,
    honoursIdempotencyKey: false,
    hasList: true,
    profile,
  });
beforeAll(async () => {
  service = await startCanned();
  generator = speaking('openai');
});
afterAll(() => service?.close());

const input = aJobInput({ plan: aPlan({ width: 1280, height: 720 }) });
const error = (code: unknown, type = 'invalid_request_error') => ({ error: { code, type } });

test.each([200, 201, 202])(
  'a create that is answered with %i and an id is accepted',
  async (status) => {
    service.say = () => ({ status, body: { id: 'video_1', status: 'queued' } });
    expect(await generator.create(input, 'm')).toBe('video_1');
  },
);

test.each([
  ['400 with a code', { status: 400, body: error('invalid_value') }, 'caller'],
  ['400 with a type only', { status: 400, body: error(null) }, 'caller'],
  ['422 with a number as its code', { status: 422, body: error(422) }, 'caller'],
  ['422 with a detail', { status: 422, body: { detail: [{ loc: ['size'] }] } }, 'caller'],
  ['a refusal of the content', { status: 400, body: error('moderation_blocked') }, 'caller'],
  ['no credit', { status: 400, body: error('billing_hard_limit_reached') }, 'operator'],
  ['no quota', { status: 429, body: error('insufficient_quota') }, 'operator'],
  ['an unknown model', { status: 404, body: error('model_not_found') }, 'operator'],
  ['an unknown model with 400', { status: 400, body: error('model_not_found') }, 'operator'],
  ['a wrong key', { status: 401, body: error('invalid_api_key') }, 'operator'],
  ['402', { status: 402, body: {} }, 'operator'],
  ['403', { status: 403, body: '<html>' }, 'operator'],
  ['a rate limit', { status: 429, body: error('rate_limit_exceeded') }, 'busy'],
  ['429 without a body', { status: 429, body: '' }, 'busy'],
  ['404 of another server', { status: 404, body: '<html>' }, 'not_found'],
  ['408', { status: 408, body: error('timeout') }, 'ambiguous'],
  ['409', { status: 409, body: error('conflict') }, 'ambiguous'],
  ['500', { status: 500, body: error('server_error') }, 'ambiguous'],
  ['503 of a gateway', { status: 503, body: error('overloaded') }, 'ambiguous'],
  ['a page with 502', { status: 502, body: '<html>' }, 'ambiguous'],
  ['a page with 400', { status: 400, body: '<html>' }, 'ambiguous'],
  ['a page with 200', { status: 200, body: '<html>' }, 'ambiguous'],
  ['a success without an id', { status: 200, body: { status: 'queued' } }, 'ambiguous'],
  ['a redirect', { status: 307, headers: { location: '/elsewhere' }, body: {} }, 'ambiguous'],
] as const)(
  'a create that is answered with %s is a fault of the kind %s',
  async (_, said, kind) => {
    service.say = () => said;
    await expect(generator.create(input, 'm')).rejects.toMatchObject({ kind });
  },
);

test.each([
  ['with a time', { 'retry-after': '7' }, 7_000],
  ['without a time', {}, null],
])('after a rate limit %s the channel rests as asked', async (_, headers, retryAfterMs) => {
  service.say = () => ({ status: 429, headers, body: error('rate_limit_exceeded') });
  await expect(generator.create(input, 'm')).rejects.toMatchObject({ kind: 'busy', retryAfterMs });
});

test.each([
  ['queued', 'queued'],
  ['pending', 'queued'],
  ['in_progress', 'running'],
  ['processing', 'running'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['deleted', 'cancelled'],
  ['thinking', null],
  ['constructor', null],
  [7, null],
  [undefined, null],
])('a video with the status %s is read as %s', async (word, status) => {
  service.say = () => ({ body: { id: 'video_1', status: word } });
  expect(await generator.read('video_1')).toMatchObject({ status });
});

test.each([
  ['4', 4],
  [8, 8],
  ['4.5', 4.5],
  ['four', null],
  [undefined, null],
])(
  'a completed video has the length of %s and the address of its bytes',
  async (seconds, length) => {
    service.say = () => ({ body: { status: 'completed', seconds, expires_at: 1_900_000_000 } });
    expect(await generator.read('video/1')).toMatchObject({
      status: 'succeeded',
      result: {
        videoUrl: `${service.url}/videos/video%2F1/content`,
        durationSeconds: length,
        expiresAt: 1_900_000_000,
        completionTokens: null,
      },
    });
  },
);

test.each([
  ['openai', undefined],
  ['gateway', true],
])(
  'a completed video in the dialect %s tells whether its seed was sent',
  async (profile, isSent) => {
    service.say = () => ({ body: { status: 'completed' } });
    const { result } = await speaking(profile).read('video_1');
    expect(result?.seedIsSent).toBe(isSent);
  },
);

test.each([
  ['moderation_blocked', /withheld by the content check/],
  ['server_error', /could not finish/],
])('a video that failed with %s has a sentence of the service', async (code, sentence) => {
  service.say = () => ({ body: { status: 'failed', error: { code, message: 'raw text' } } });
  const { failure } = await generator.read('video_1');
  expect(failure).toEqual({ code, sentence: expect.stringMatching(sentence) });
});

test.each([
  ['404', { status: 404, body: error('video_not_found') }, 'not_found'],
  ['a page with 200', { status: 200, body: '<html>' }, 'ambiguous'],
  ['500', { status: 500, body: {} }, 'ambiguous'],
  ['429', { status: 429, body: {} }, 'busy'],
] as const)('a read that is answered with %s does not end the job', async (_, said, kind) => {
  service.say = () => said;
  await expect(generator.read('video_1')).rejects.toMatchObject({ kind });
});

test('many videos are read one by one, and those that are gone are left out', async () => {
  service.say = ({ path }) =>
    path.endsWith('gone') ? { status: 404, body: error(null) } : { body: { status: 'queued' } };
  expect(new Set((await readAll(generator, ['a', 'gone', 'b'])).keys())).toEqual(
    new Set(['a', 'b']),
  );
});

test('the key is given for addresses of the provider only', () => {
  const headers = (url: string) => generator.resultHeaders?.(url);
  expect(headers(`${service.url}/videos/video_1/content`)).toEqual({ authorization: 'Bearer key' });
  expect(headers(`${service.url}.example.com/videos/video_1/content`)).toBeNull();
  expect(headers('https://cdn.example.com/videos/video_1/content')).toBeNull();
});

test.each([
  [200, true],
  [404, true],
  [409, true],
  [500, false],
  [429, false],
])('a cancel that is answered with %i counts as heard: %s', async (status, isHeard) => {
  service.say = ({ method }) => ({ status: method === 'DELETE' ? status : 500 });
  const heard = generator.cancel('video_1').then(
    () => true,
    () => false,
  );
  expect(await heard).toBe(isHeard);
});

test('a lost create is looked up nowhere, because no list proves anything', async () => {
  let asked = 0;
  service.say = () => {
    asked += 1;
    return { body: { data: [], has_more: false } };
  };
  expect(await generator.list(input, { sinceMs: 0, nowMs: 1 })).toBeNull();
  expect(asked).toBe(0);
});
