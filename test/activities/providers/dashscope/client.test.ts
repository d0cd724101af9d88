// These tests check how the client interprets each answer of a provider that speaks DashScope.

import { createDashscope } from '../../../../activities/providers/dashscope/client';
import type { Provider } from '../../../../activities/providers/provider';
import { aJobInput, aPlan } from '../../../support/builders';
import { type Canned, startCanned } from '../../../support/canned';
import { readAll } from '../../../support/readings';

let service: Canned;
let generator: Provider;
beforeAll(async () => {
  service = await startCanned();
  generator = createDashscope({
    baseUrl: service.url,
    apiKey: 'key',
    timeoutMs: 5_000,
    honoursIdempotencyKey: false,
    hasList: true,
  });
});
afterAll(() => service?.close());

const input = aJobInput({ plan: aPlan({ width: 1280, height: 720 }) });
const error = (code: unknown) => ({ code, message: 'raw text', request_id: 'r' });
const task = (output: object, usage?: object) => ({ body: { output, usage } });

test('a create that is answered with an id of a task is accepted', async () => {
  service.say = () => task({ task_status: 'PENDING', task_id: 't-1' });
  expect(await generator.create(input, 'wan3.0-video')).toBe('t-1');
});

test.each([
  ['an invalid parameter', { status: 400, body: error('InvalidParameter') }, 'caller'],
  ['an invalid value', { status: 400, body: error('InvalidParameter.DataInspection') }, 'caller'],
  ['a refused content', { status: 400, body: error('DataInspectionFailed') }, 'caller'],
  ['a refusal with 200', { status: 200, body: error('InvalidParameter') }, 'caller'],
  ['no money', { status: 400, body: error('Arrearage') }, 'operator'],
  ['no money with 200', { status: 200, body: error('Arrearage') }, 'operator'],
  ['an overdue bill', { status: 429, body: error('PostpaidBillOverdue') }, 'operator'],
  ['an overdue bill before', { status: 429, body: error('PrepaidBillOverdue') }, 'operator'],
  ['a wrong key', { status: 401, body: error('InvalidApiKey') }, 'operator'],
  ['no access', { status: 403, body: error('AccessDenied') }, 'operator'],
  ['no access to a model', { status: 403, body: error('Model.AccessDenied') }, 'operator'],
  ['no free quota', { status: 403, body: error('AllocationQuota.FreeTierOnly') }, 'operator'],
  ['an unknown model', { status: 404, body: error('ModelNotFound') }, 'operator'],
  ['a rate limit', { status: 429, body: error('Throttling.RateQuota') }, 'busy'],
  ['a used quota', { status: 429, body: error('Throttling.AllocationQuota') }, 'busy'],
  ['a rate limit with 200', { status: 200, body: error('Throttling') }, 'busy'],
  ['429 without a body', { status: 429, body: '' }, 'busy'],
  ['404 of another server', { status: 404, body: '<html>' }, 'not_found'],
  ['409', { status: 409, body: error('Conflict') }, 'ambiguous'],
  ['500', { status: 500, body: error('InternalError') }, 'ambiguous'],
  ['a timeout with 400', { status: 400, body: error('InternalError.Timeout') }, 'ambiguous'],
  ['503', { status: 503, body: error('Throttling') }, 'ambiguous'],
  ['a page with 502', { status: 502, body: '<html>' }, 'ambiguous'],
  ['a page with 400', { status: 400, body: '<html>' }, 'ambiguous'],
  ['a page with 200', { status: 200, body: '<html>' }, 'ambiguous'],
  ['a success without an id', { status: 200, body: { output: {} } }, 'ambiguous'],
  ['JSON that is cut', { status: 200, body: '{"output":{"task_i' }, 'ambiguous'],
  ['a redirect', { status: 307, headers: { location: '/elsewhere' }, body: {} }, 'ambiguous'],
] as const)(
  'a create that is answered with %s is a fault of the kind %s',
  async (_, said, kind) => {
    service.say = () => said;
    await expect(generator.create(input, 'wan3.0-video')).rejects.toMatchObject({ kind });
  },
);

test.each([
  ['with a time', { 'retry-after': '7' }, 7_000],
  ['without a time', {}, null],
])('after a rate limit %s the channel rests as asked', async (_, headers, retryAfterMs) => {
  service.say = () => ({ status: 429, headers, body: error('Throttling.RateQuota') });
  const created = generator.create(input, 'wan3.0-video');
  await expect(created).rejects.toMatchObject({ kind: 'busy', retryAfterMs });
});

test.each([
  ['PENDING', 'queued'],
  ['SUSPENDED', 'queued'],
  ['RUNNING', 'running'],
  ['FAILED', 'failed'],
  ['CANCELED', 'cancelled'],
  ['THINKING', null],
  ['constructor', null],
  [7, null],
  [undefined, null],
])('a task with the status %s is read as %s', async (word, status) => {
  service.say = () => task({ task_id: 't-1', task_status: word });
  expect(await generator.read('t-1')).toMatchObject({ status });
});

test.each([
  [
    'a newer model',
    { duration: 9, output_video_duration: 5, input_video_duration: 4, SR: 720, ratio: '16:9' },
    { durationSeconds: 5, inputSeconds: 4, resolution: '720p', ratio: '16:9' },
  ],
  [
    'an older model',
    { video_duration: 5, video_ratio: 'standard', video_count: 1 },
    { durationSeconds: 5, inputSeconds: null, resolution: null, ratio: null },
  ],
  ['a model with one length', { duration: 5 }, { durationSeconds: 5, inputSeconds: null }],
  ['no usage', undefined, { durationSeconds: null, inputSeconds: null }],
  ['a usage of texts', { duration: '5' }, { durationSeconds: null }],
])('a success of %s has its link and its lengths', async (_, usage, facts) => {
  const url = 'https://results.example.com/a.mp4?Expires=1900000000&Signature=s';
  service.say = () => task({ task_status: 'SUCCEEDED', video_url: url }, usage);
  expect(await generator.read('t-1')).toMatchObject({
    status: 'succeeded',
    result: {
      ...{ videoUrl: url, expiresAt: 1_900_000_000, completionTokens: null },
      ...{ seed: null, seedIsSent: true },
      ...facts,
    },
  });
});

test('of two videos the task gets the one with the watermark', async () => {
  const urls = { video_url: 'https://a/plain.mp4', watermark_video_url: 'https://a/marked.mp4' };
  service.say = () => task({ task_status: 'SUCCEEDED', ...urls });
  const { result } = await generator.read('t-1');
  expect(result).toMatchObject({ videoUrl: 'https://a/marked.mp4' });
});

test('a success without a link has no address', async () => {
  service.say = () => task({ task_status: 'SUCCEEDED' });
  expect(await generator.read('t-1')).toMatchObject({ result: { videoUrl: null } });
});

test.each([
  ['DataInspectionFailed', /withheld by the content check/],
  ['InternalError', /could not finish/],
])('a task that failed with %s has a sentence of the service', async (code, sentence) => {
  service.say = () => task({ task_status: 'FAILED', code, message: 'raw text' });
  const { failure } = await generator.read('t-1');
  expect(failure).toEqual({ code, sentence: expect.stringMatching(sentence) });
});

test.each([
  ['an unknown task', task({ task_status: 'UNKNOWN' }), 'not_found'],
  ['a refusal with 200', { body: error('InvalidApiKey') }, 'operator'],
  ['a page with 200', { body: '<html>' }, 'ambiguous'],
  ['500', { status: 500, body: {} }, 'ambiguous'],
  ['429', { status: 429, body: {} }, 'busy'],
] as const)('a read that is answered with %s does not end the job', async (_, said, kind) => {
  service.say = () => said;
  await expect(generator.read('t-1')).rejects.toMatchObject({ kind });
});

test('many tasks are read one by one, and unknown ones are left out', async () => {
  service.say = ({ path }) =>
    task({ task_status: path.endsWith('gone') ? 'UNKNOWN' : 'PENDING', task_id: 't' });
  expect(new Set((await readAll(generator, ['a', 'gone', 'b'])).keys())).toEqual(
    new Set(['a', 'b']),
  );
});

test('many tasks are read no faster than the provider allows', async () => {
  service.say = () => task({ task_status: 'PENDING' });
  const started = performance.now();
  await readAll(
    generator,
    Array.from({ length: 31 }, (_, n) => `t-${n}`),
  );
  expect(performance.now() - started).toBeGreaterThan(1_900);
});

test('a lost create is looked up nowhere, because the list shows nothing of ours', async () => {
  let asked = 0;
  service.say = () => {
    asked += 1;
    return { body: { total: 0, data: [] } };
  };
  expect(await generator.list(input, { sinceMs: 0, nowMs: 1 })).toBeNull();
  expect(asked).toBe(0);
});

test('a read that is answered with a list does not end the job', async () => {
  service.say = () => ({ body: { total: 0, data: [] } });
  await expect(generator.read('t-1')).rejects.toMatchObject({ kind: 'ambiguous' });
});

test.each([
  [200, true],
  [400, true],
  [404, true],
  [500, false],
  [429, false],
])('a cancel that is answered with %i counts as heard: %s', async (status, isHeard) => {
  service.say = ({ path }) => ({ status: path.endsWith('/t-1/cancel') ? status : 500 });
  const heard = generator.cancel('t-1').then(
    () => true,
    () => false,
  );
  expect(await heard).toBe(isHeard);
});
