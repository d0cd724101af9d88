// These tests check how the enhancer's client interprets each answer of its provider.

import { createMediakit } from '../../../../activities/providers/mediakit/client';
import type { Provider } from '../../../../activities/providers/provider';
import { aJobInput, anEnhancedPlan } from '../../../support/builders';
import { type Canned, startCanned } from '../../../support/canned';
import { readAll } from '../../../support/readings';

let service: Canned;
let enhancer: Provider;
beforeAll(async () => {
  service = await startCanned();
  enhancer = createMediakit({
    baseUrl: service.url,
    apiKey: 'key',
    timeoutMs: 5_000,
    honoursIdempotencyKey: true,
    hasList: false,
  });
});
afterAll(() => service?.close());

const input = aJobInput({
  kind: 'super_resolution',
  plan: anEnhancedPlan(),
  videoUrl: 'https://v/x',
});

test('a create of an enhancement returns the provider’s task id as the upstream id', async () => {
  for (const id of ['enh-1', 'x'.repeat(256)]) {
    service.say = () => ({ body: { success: true, task_id: id } });
    expect(await enhancer.create(input, 'enhance-video')).toBe(id);
  }
});

test.each([
  ['429', { status: 429, body: { error: { code: 'TooManyRequests' } } }, 'busy'],
  ['401', { status: 401, body: { error: { code: 'Unauthorized' } } }, 'operator'],
  ['403', { status: 403, body: { error: { code: 'AccountOverdue' } } }, 'operator'],
  ['403 without a code', { status: 403, body: {} }, 'operator'],
  ['404', { status: 404, body: { error: { code: 'NotFound' } } }, 'not_found'],
  [
    '503 in the provider’s format',
    { status: 503, body: { error: { code: 'Busy' } } },
    'unavailable',
  ],
  ['503 from a proxy', { status: 503, body: '<html>' }, 'ambiguous'],
  ['500', { status: 500, body: { error: { code: 'InternalError' } } }, 'ambiguous'],
  ['408', { status: 408, body: {} }, 'ambiguous'],
  ['409', { status: 409, body: { error: { code: 'TokenInUse' } } }, 'ambiguous'],
  ['425', { status: 425, body: { error: { code: 'TooEarly' } } }, 'ambiguous'],
  ['400 with a code', { status: 400, body: { error: { code: 'InvalidParameter' } } }, 'caller'],
  ['400 without a code', { status: 400, body: {} }, 'ambiguous'],
  ['a refusal with 200', { body: { success: false, error: { code: 'BadVideo' } } }, 'caller'],
  [
    'a rate limit with 200',
    { body: { success: false, error: { code: 'RateLimitExceeded' } } },
    'busy',
  ],
  [
    'an internal error with 200',
    { body: { success: false, error: { code: 'InternalError' } } },
    'ambiguous',
  ],
  [
    'a fault of our account with 200',
    { body: { success: false, error: { code: 'AccountOverdue' } } },
    'operator',
  ],
  ['success: false without a code', { body: { success: false } }, 'ambiguous'],
  [
    'a rate limit with 400',
    { status: 400, body: { error: { code: 'FlowLimitExceeded' } } },
    'busy',
  ],
  ['a success without an id', { body: { success: true } }, 'ambiguous'],
  [
    'a success with an id of 257 characters',
    { body: { success: true, task_id: 'x'.repeat(257) } },
    'ambiguous',
  ],
] as const)(
  'a create of an enhancement with the answer "%s" fails with the right kind of fault',
  async (_, said, kind) => {
    service.say = () => said;
    await expect(enhancer.create(input, 'enhance-video')).rejects.toMatchObject({ kind });
  },
);

test.each([
  ['the status processing', { success: true, status: 'processing' }, 'running'],
  ['an unknown status', { success: true, status: 'thinking' }, null],
  ['the status failed', { success: true, status: 'failed', error: { code: 'NoSpace' } }, 'failed'],
  ['the status cancelled', { success: true, status: 'cancelled' }, 'cancelled'],
  ['success: false and no status', { success: false, error: { code: 'BadVideo' } }, 'failed'],
] as const)(
  'an enhancement that is answered with %s is read with the right status',
  async (_, body, status) => {
    service.say = () => ({ body });
    expect(await enhancer.read('enh-1')).toMatchObject({ status });
  },
);

test.each([
  ['RateLimitExceeded', 'busy'],
  ['InternalError', 'ambiguous'],
  ['AccountOverdue', 'operator'],
] as const)(
  'if the enhancer answers a read with 200 and the error code %s, the job does not end',
  async (code, kind) => {
    service.say = () => ({ body: { success: false, error: { code } } });
    await expect(enhancer.read('enh-1')).rejects.toMatchObject({ kind });
  },
);

test.each([
  ['in seconds', 1_900_000_000, 1_900_000_000],
  ['with a fraction', 1_900_000_000.5, 1_900_000_000],
  ['in milliseconds, which is ignored', 1_900_000_000_000, null],
  ['that is not a number, which is ignored', '2030-03-17T17:46:40Z', null],
])(
  'a completed enhancement is read with its video and an expiry of the link %s',
  async (_, sent, expiresAt) => {
    const result = { video_url: 'https://v/hd.mp4', duration: 5, resolution: '1080p', fps: 60 };
    service.say = () => ({
      body: { success: true, status: 'completed', expires_at: sent, result },
    });
    expect(await enhancer.read('enh-1')).toMatchObject({
      status: 'succeeded',
      result: { videoUrl: 'https://v/hd.mp4', durationSeconds: 5, expiresAt },
    });
  },
);

test('an answer of the enhancer that does not follow the protocol is a fault, not a status', async () => {
  service.say = () => ({ status: 502, body: '<html>' });
  await expect(enhancer.read('enh-1')).rejects.toMatchObject({ kind: 'ambiguous' });
});

test('a batch of reads leaves out a job with the answer 404, and fails after an answer 429', async () => {
  service.say = ({ path }) =>
    path.endsWith('/gone')
      ? { status: 404, body: { error: { code: 'NotFound' } } }
      : { body: { success: true, status: 'processing' } };
  expect([...(await readAll(enhancer, ['gone', 'there'])).keys()]).toEqual(['there']);
  service.say = () => ({ status: 429, body: {} });
  await expect(readAll(enhancer, ['one', 'two'])).rejects.toMatchObject({ kind: 'busy' });
});

test('after an answer 429 the remaining jobs of a batch are not read', async () => {
  let reads = 0;
  service.say = () => {
    reads += 1;
    return { status: 429, body: {} };
  };
  const ids = Array.from({ length: 200 }, (_, n) => `enh-${n}`);
  await expect(readAll(enhancer, ids)).rejects.toMatchObject({ kind: 'busy' });
  expect(reads).toBeLessThan(ids.length);
});

test('a batch of reads leaves out a job whose read fails, and fails itself if all reads fail', async () => {
  const broken = { status: 500, body: { error: { code: 'InternalError' } } };
  service.say = ({ path }) =>
    path.endsWith('/bad') ? broken : { body: { success: true, status: 'processing' } };
  expect([...(await readAll(enhancer, ['bad', 'good'])).keys()]).toEqual(['good']);
  service.say = () => broken;
  await expect(readAll(enhancer, ['bad', 'worse'])).rejects.toMatchObject({ kind: 'ambiguous' });
});

test('`list` and `cancel` of the enhancer’s client send no request, because the protocol has neither operation', async () => {
  expect(await enhancer.list(input, { sinceMs: 0, nowMs: 0 })).toBeNull();
  await expect(enhancer.cancel('enh-1')).resolves.toBeUndefined();
});
