// These tests check how the client interprets each answer of a provider that speaks MiniMax's
// protocol.

import { createMinimax } from '../../../../activities/providers/minimax/client';
import { aJobInput } from '../../../support/builders';
import { type Canned, startCanned } from '../../../support/canned';
import { readAll } from '../../../support/readings';

let service: Canned;
beforeAll(async () => {
  service = await startCanned();
});
afterAll(() => service?.close());

const provider = (hasList = true) =>
  createMinimax({
    ...{ baseUrl: service.url, apiKey: 'key', timeoutMs: 5_000, hasList },
    honoursIdempotencyKey: true,
  });
const input = aJobInput();
const error = (type: string, message = 'no') => ({ type: 'error', error: { type, message } });

test.each(['generation', 'super_resolution'] as const)(
  'a create of a %s is sent once',
  async (kind) => {
    const paths: string[] = [];
    service.say = ({ path }) => {
      paths.push(path);
      return { body: { task_id: '424' } };
    };
    expect(await provider().create({ ...input, kind, videoUrl: 'https://a/b' }, 'm')).toBe('424');
    const path = kind === 'generation' ? '/v2/video_generation' : '/v2/video_regeneration';
    expect([paths, provider().repeatsAreSafe]).toEqual([[path], false]);
  },
);

test.each([
  ['a wrong parameter', { status: 400, body: error('bad_request_error', 'x (2013)') }, 'caller'],
  [
    'a refused content',
    { status: 422, body: error('unprocessable_entity_error', '(1026)') },
    'caller',
  ],
  ['a wrong key', { status: 401, body: error('authorized_error') }, 'operator'],
  ['no credit', { status: 402, body: error('insufficient_balance_error') }, 'operator'],
  [
    'no credit as a code',
    { status: 400, body: error('bad_request_error', 'x (1008)') },
    'operator',
  ],
  ['a used-up quota', { status: 429, body: error('rate_limit_error', 'x (2056)') }, 'operator'],
  ['a rate limit', { status: 429, body: error('rate_limit_error') }, 'busy'],
  ['403 of a proxy', { status: 403, body: '<html>' }, 'operator'],
  ['404', { status: 404, body: '<html>' }, 'not_found'],
  ['408', { status: 408, body: error('timeout') }, 'ambiguous'],
  ['500', { status: 500, body: error('server_error') }, 'ambiguous'],
  [
    '500 that knows no record',
    { status: 500, body: error('server_error', 'record not found') },
    'ambiguous',
  ],
  ['529', { status: 529, body: error('overloaded_error') }, 'ambiguous'],
  ['a page with 502', { status: 502, body: '<html>' }, 'ambiguous'],
  ['a page with 400', { status: 400, body: '<html>' }, 'ambiguous'],
  ['a page with 200', { status: 200, body: '<html>' }, 'ambiguous'],
  ['a success without an id', { status: 200, body: { task_id: '' } }, 'ambiguous'],
  ['a success with a number as its id', { status: 200, body: { task_id: 424 } }, 'ambiguous'],
] as const)(
  'a create that is answered with %s is a fault of the kind %s',
  async (_, said, kind) => {
    service.say = () => said;
    await expect(provider().create(input, 'm')).rejects.toMatchObject({ kind });
  },
);

test.each([
  [
    'unknown with 500',
    { status: 500, body: error('server_error', 'Record not found.') },
    'not_found',
  ],
  ['unknown with 404', { status: 404, body: {} }, 'not_found'],
  ['answered with 500', { status: 500, body: error('server_error') }, 'ambiguous'],
  ['answered with a page', { status: 200, body: '<html>' }, 'ambiguous'],
  ['answered without a task', { status: 200, body: { id: '424' } }, 'ambiguous'],
  ['answered with 429', { status: 429, body: error('rate_limit_error') }, 'busy'],
] as const)('a read of a job that is %s does not end the job', async (_, said, kind) => {
  service.say = () => said;
  await expect(provider().read('424')).rejects.toMatchObject({ kind });
});

test.each([
  ['queued', 'queued'],
  ['running', 'running'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['expired', 'expired'],
  ['thinking', null],
  ['constructor', null],
  [7, null],
  [undefined, null],
])('a task with the status %s is read as %s', async (word, status) => {
  service.say = () => ({ body: { task: { id: '424', status: word } } });
  expect(await provider().read('424')).toMatchObject({ status });
});

const done = {
  ...{ id: '424', status: 'succeeded', content: { url: 'https://v/1.mp4' }, duration: 5 },
  ...{ resolution: '768P', ratio: '16:9', usage: { output_seconds: 6, input_seconds: 3 } },
};

test.each<[string, object, object]>([
  ['its usage', {}, { durationSeconds: 6, inputSeconds: 3, resolution: null, ratio: '16:9' }],
  ['no usage', { usage: {} }, { durationSeconds: 5, inputSeconds: null }],
  ['wrong seconds', { usage: { output_seconds: '6' } }, { durationSeconds: 5 }],
  ['an unknown tier', { resolution: '8K' }, { resolution: null }],
  ['a larger tier', { resolution: '2K' }, { resolution: '2k' }],
  ['no address', { content: {} }, { videoUrl: null }],
])('a success with %s is read with its seconds, and without tokens', async (_, over, result) => {
  service.say = () => ({ body: { task: { ...done, ...over } } });
  expect(await provider().read('424')).toMatchObject({
    status: 'succeeded',
    result: { completionTokens: null, seed: null, ...result },
  });
});

test.each([
  [{ code: '1027', message: 'raw text' }, '1027', /withheld by the content check/],
  [{ code: 1027 }, '1027', /withheld by the content check/],
  [{ message: 'raw text (1026)' }, '1026', /withheld by the content check/],
  [{ code: '1000', message: 'raw text' }, '1000', /could not finish/],
  [undefined, 'failed', /could not finish/],
])('a failure with %j has a code and a sentence of the service', async (said, code, sentence) => {
  service.say = () => ({ body: { task: { status: 'failed', error: said } } });
  const { failure } = await provider().read('424');
  expect(failure).toEqual({ code, sentence: expect.stringMatching(sentence) });
});

test('many jobs are read with one request, and unknown ones are left out', async () => {
  const paths: string[] = [];
  service.say = ({ path }) => {
    paths.push(path);
    return { body: { items: [{ id: '1', status: 'queued' }], total: 1 } };
  };
  expect([...(await readAll(provider(), ['1', '2'])).keys()]).toEqual(['1']);
  expect(paths).toEqual([
    '/v2/query/video_generation?page_num=1&page_size=2&filter.task_ids=1&filter.task_ids=2',
  ]);
});

test('without a list, jobs are read one by one, and unknown ones are left out', async () => {
  service.say = ({ path }) =>
    path.endsWith('/gone')
      ? { status: 500, body: error('server_error', 'record not found') }
      : { body: { task: { id: 'a', status: 'queued' } } };
  expect([...(await readAll(provider(false), ['a', 'gone'])).keys()]).toEqual(['a']);
});

test.each([
  ['200', 200, '', true],
  ['400, because it runs', 400, 'running', true],
  ['500, because it is unknown', 500, 'record not found', true],
  ['500', 500, 'no', false],
  ['429', 429, 'no', false],
])(
  'a cancel that is answered with %s counts as heard, or is repeated',
  async (_, status, message, isHeard) => {
    service.say = () => ({ status, body: error('error', message) });
    const heard = await provider()
      .cancel('424')
      .then(
        () => true,
        () => false,
      );
    expect(heard).toBe(isHeard);
  },
);

describe('the list of jobs that may be ours', () => {
  const window = { sinceMs: 1_900_000_000_000, nowMs: 1_900_000_300_000 };

  test.each([
    ['generation', 'generation'],
    ['super_resolution', 'regeneration'],
  ] as const)('of a %s has only tasks of this type, and recognises none', async (kind, type) => {
    const paths: string[] = [];
    service.say = ({ path }) => {
      paths.push(path);
      return { body: { items: [{ id: '1', created_at: 1_900_000_100 }], total: 1 } };
    };
    expect(await provider().list({ ...input, kind }, window)).toMatchObject({
      isComplete: true,
      jobs: [{ upstreamId: '1', seed: null, createdAtMs: 1_900_000_100_000 }],
    });
    expect(paths).toEqual([
      `/v2/query/video_generation?page_num=1&page_size=100&filter.task_type=${type}`,
    ]);
  });

  test('is absent if the channel has none', async () => {
    expect(await provider(false).list(input, window)).toBeNull();
  });
});
