// These tests check how the client interprets each answer of a provider that speaks Kling.

import { createHmac } from 'node:crypto';
import { createKling } from '../../../../activities/providers/kling/client';
import { tokenOf } from '../../../../activities/providers/kling/token';
import type { Provider } from '../../../../activities/providers/provider';
import { aJobInput, aPlan } from '../../../support/builders';
import { type Canned, startCanned } from '../../../support/canned';
import { readAll } from '../../../support/readings';

let service: Canned;
let generator: Provider;
beforeAll(async () => {
  service = await startCanned();
  generator = createKling({
    baseUrl: `${service.url}/v1/videos`,
    apiKey: 'access:secret',
    timeoutMs: 5_000,
    honoursIdempotencyKey: false,
    hasList: true,
  });
});
afterAll(() => service?.close());

const input = aJobInput();
const error = (code: unknown) => ({ code, message: 'raw text', request_id: 'r' });
const task = (data: object) => ({ body: { code: 0, message: 'SUCCEED', data } });

test('a create that is answered with an id is accepted, and its path belongs to the id', async () => {
  service.say = () => task({ task_id: '81', task_status: 'submitted' });
  expect(await generator.create(input, 'kling-v3')).toBe('text2video/81');
});

test.each([
  ['a wrong token', { status: 401, body: error(1000) }, 'operator'],
  ['a token of tomorrow', { status: 401, body: error(1003) }, 'operator'],
  ['no account', { status: 429, body: error(1100) }, 'operator'],
  ['an overdue account', { status: 429, body: error(1101) }, 'operator'],
  ['no money', { status: 429, body: error(1102) }, 'operator'],
  ['no access', { status: 403, body: error(1103) }, 'operator'],
  ['an invalid parameter', { status: 400, body: error(1200) }, 'caller'],
  ['an invalid value', { status: 400, body: error(1201) }, 'caller'],
  ['an unknown model', { status: 404, body: error(1203) }, 'operator'],
  ['a refused content', { status: 400, body: error(1301) }, 'caller'],
  ['a refusal with 200', { status: 200, body: error(1201) }, 'caller'],
  ['a rate limit', { status: 429, body: error(1302) }, 'busy'],
  ['too many jobs', { status: 429, body: error(1303) }, 'busy'],
  ['an address that is not allowed', { status: 429, body: error(1304) }, 'operator'],
  ['429 without a body', { status: 429, body: '' }, 'busy'],
  ['401 without a body', { status: 401, body: '' }, 'operator'],
  ['404 of another server', { status: 404, body: '<html>' }, 'not_found'],
  ['409', { status: 409, body: error(1201) }, 'ambiguous'],
  ['500', { status: 500, body: error(5000) }, 'ambiguous'],
  ['a timeout', { status: 504, body: error(5002) }, 'ambiguous'],
  ['an unknown number', { status: 400, body: error(9999) }, 'ambiguous'],
  ['a page with 502', { status: 502, body: '<html>' }, 'ambiguous'],
  ['a page with 400', { status: 400, body: '<html>' }, 'ambiguous'],
  ['a page with 200', { status: 200, body: '<html>' }, 'ambiguous'],
  ['a success without an id', { status: 200, body: { code: 0, data: {} } }, 'ambiguous'],
  ['JSON that is cut', { status: 200, body: '{"code":0,"da' }, 'ambiguous'],
] as const)(
  'a create that is answered with %s is a fault of the kind %s',
  async (_, said, kind) => {
    service.say = () => said;
    await expect(generator.create(input, 'kling-v3')).rejects.toMatchObject({ kind });
  },
);

test.each([
  ['with a time', { 'retry-after': '7' }, 7_000],
  ['without a time', {}, null],
])('after a rate limit %s the channel rests as asked', async (_, headers, retryAfterMs) => {
  service.say = () => ({ status: 429, headers, body: error(1302) });
  const created = generator.create(input, 'kling-v3');
  await expect(created).rejects.toMatchObject({ kind: 'busy', retryAfterMs });
});

test.each([
  ['submitted', 'queued'],
  ['processing', 'running'],
  ['failed', 'failed'],
  ['succeeded', null],
  ['constructor', null],
  [7, null],
  [undefined, null],
])('a task with the status %s is read as %s at its own path', async (word, status) => {
  let path = '';
  service.say = (asked) => {
    path = asked.path;
    return task({ task_status: word });
  };
  expect(await generator.read('image2video/81')).toMatchObject({ status });
  expect(path).toBe('/v1/videos/image2video/81');
});

test.each([
  ['a whole length', [{ url: 'https://a/b.mp4', duration: '5' }], 'https://a/b.mp4', 5],
  ['a length', [{ url: 'https://a/b.mp4', duration: '5.1' }], 'https://a/b.mp4', 5.1],
  ['no length', [{ url: 'https://a/b.mp4' }], 'https://a/b.mp4', null],
  ['no video', [], null, null],
  ['no list', 'none', null, null],
])(
  'a success with %s has its link and its length',
  async (_, videos, videoUrl, durationSeconds) => {
    service.say = () => task({ task_status: 'succeed', task_result: { videos } });
    expect(await generator.read('text2video/81')).toMatchObject({
      status: 'succeeded',
      result: { videoUrl, durationSeconds, completionTokens: null },
    });
  },
);

test.each([
  ['the video with the mark, if a mark was asked for', true, 'https://a/marked.mp4'],
  ['the video without a mark, if none was asked for', false, 'https://a/plain.mp4'],
])('of two videos the task gets %s', async (_, enabled, videoUrl) => {
  const videos = [{ url: 'https://a/plain.mp4', watermark_url: 'https://a/marked.mp4' }];
  const ended = { task_status: 'succeed', task_result: { videos }, watermark_info: { enabled } };
  service.say = () => task(ended);
  expect(await generator.read('text2video/81')).toMatchObject({ result: { videoUrl } });
});

test('a task that failed has a sentence of the service, and not the text of the provider', async () => {
  service.say = () => task({ task_status: 'failed', task_status_msg: 'raw text' });
  const { failure } = await generator.read('text2video/81');
  expect(failure).toEqual({ code: 'failed', sentence: expect.stringMatching(/could not finish/) });
});

test.each([
  ['an unknown task', { status: 404, body: error(1203) }, 'not_found'],
  ['a refused id', { status: 400, body: error(1201) }, 'not_found'],
  ['404 of another server', { status: 404, body: '<html>' }, 'ambiguous'],
  ['no money', { status: 429, body: error(1102) }, 'operator'],
  ['a page with 200', { body: '<html>' }, 'ambiguous'],
  ['500', { status: 500, body: {} }, 'ambiguous'],
  ['429', { status: 429, body: {} }, 'busy'],
] as const)('a read that is answered with %s does not end the job', async (_, said, kind) => {
  service.say = () => said;
  await expect(generator.read('text2video/81')).rejects.toMatchObject({ kind });
});

test('many tasks are read one by one, and unknown ones are left out', async () => {
  service.say = ({ path }) =>
    path.endsWith('gone') ? { status: 404, body: error(1203) } : task({ task_status: 'submitted' });
  const ids = ['text2video/a', 'text2video/gone', 'image2video/b'];
  const read = [...(await readAll(generator, ids)).keys()];
  expect(read.sort()).toEqual(['image2video/b', 'text2video/a']);
});

test('jobs that the account may not read hide no other job', async () => {
  const refused = ({ path }: { path: string }) => path.includes('image2video');
  service.say = (asked) =>
    refused(asked) ? { status: 403, body: error(1103) } : task({ task_status: 'submitted' });
  const others = Array.from({ length: 100 }, (_, n) => `text2video/${n}`);
  const ids = ['image2video/a', 'image2video/b', ...others];
  expect([...(await readAll(generator, ids)).keys()]).toHaveLength(100);
});

test('after a refusal of the account no more jobs are read, and the channel is told', async () => {
  let asked = 0;
  service.say = () => {
    asked += 1;
    return { status: 401, body: error(1000) };
  };
  const ids = Array.from({ length: 200 }, (_, n) => `text2video/${n}`);
  await expect(readAll(generator, ids)).rejects.toMatchObject({ kind: 'operator' });
  expect(asked).toBeLessThan(100);
});

describe('the search for a lost create', () => {
  const nowMs = 1_700_000_000_000;
  const recent = { sinceMs: nowMs - 360_000, nowMs };
  const settled = { sinceMs: nowMs - 600_000, nowMs };
  const named = (name: string) =>
    task({ task_id: '81', created_at: nowMs, task_info: { external_task_id: name } });

  test('finds the job by the id of the task', async () => {
    service.say = ({ path }) =>
      path === `/v1/videos/text2video/${input.taskId}`
        ? named(input.taskId)
        : { status: 500, body: {} };
    expect(await generator.list(input, recent)).toMatchObject({
      jobs: [{ upstreamId: 'text2video/81', isOurs: true, createdAtMs: nowMs }],
    });
  });

  test('does not take a job with another name', async () => {
    service.say = () => named('another');
    expect(await generator.list(input, recent)).toMatchObject({ jobs: [{ isOurs: false }] });
  });

  test('does not know whose a job without a name is', async () => {
    service.say = () => task({ task_id: '81', created_at: nowMs });
    const { jobs } = (await generator.list(input, recent)) ?? { jobs: [] };
    expect([jobs.length, jobs[0]?.isOurs]).toEqual([1, undefined]);
  });

  test('looks at each path at which references can have been sent', async () => {
    const reference = aJobInput({ plan: aPlan({ inputType: 'reference' }) });
    service.say = ({ path }) =>
      path.includes('/multi-image2video/')
        ? named(reference.taskId)
        : { status: 404, body: error(1203) };
    expect(await generator.list(reference, recent)).toMatchObject({
      jobs: [{ upstreamId: 'multi-image2video/81', isOurs: true }],
    });
  });

  test('is not answered by a proxy that finds no server', async () => {
    service.say = () => ({ status: 404, body: '<html>' });
    await expect(generator.list(input, settled)).rejects.toMatchObject({ kind: 'ambiguous' });
  });

  test.each([
    ['soon after the create', recent, false],
    ['minutes later', settled, true],
  ])('that finds nothing %s proves that there is no job: %s', async (_, window, isComplete) => {
    service.say = () => ({ status: 404, body: error(1203) });
    expect(await generator.list(input, window)).toMatchObject({ jobs: [], isComplete });
  });

  test('that is not answered is a fault', async () => {
    service.say = () => ({ status: 500, body: error(5000) });
    await expect(generator.list(input, settled)).rejects.toMatchObject({ kind: 'ambiguous' });
  });
});

test('a cancel sends no request, because the protocol has none', async () => {
  await expect(generator.cancel('text2video/81')).resolves.toBeUndefined();
});

describe('the token of a request', () => {
  test('is signed with the secret key, names the access key and is valid for half an hour', () => {
    const [header = '', payload = '', signature] = tokenOf('access:secret', 1_000_000).split('.');
    const parsed = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(parsed(header)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(parsed(payload)).toEqual({ iss: 'access', exp: 2_800, nbf: 995 });
    const right = createHmac('sha256', 'secret').update(`${header}.${payload}`);
    expect(signature).toBe(right.digest('base64url'));
  });

  test('is signed with all of the secret key, also after a second colon', () => {
    const [header, payload, signature] = tokenOf('access:sec:ret', 1_000_000).split('.');
    const right = createHmac('sha256', 'sec:ret').update(`${header}.${payload}`);
    expect(signature).toBe(right.digest('base64url'));
  });

  test('is the key itself if the key has one part', () => {
    expect(tokenOf('key', 0)).toBe('key');
  });
});
