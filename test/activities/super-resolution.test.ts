// The enhancer's client: what each answer of the service means, word by word.

import type { JobService } from '../../activities/service';
import { createEnhancer } from '../../activities/super-resolution';
import { anEnhancedPlan, anOrder } from '../support/builders';
import { type Canned, startCanned } from '../support/canned';

let service: Canned;
let enhancer: JobService;
beforeAll(async () => {
  service = await startCanned();
  enhancer = createEnhancer({
    baseUrl: service.url,
    apiKey: 'key',
    timeoutMs: 5_000,
    honoursIdempotencyKey: true,
    hasList: false,
  });
});
afterAll(() => service?.close());

const order = anOrder({
  kind: 'super_resolution',
  plan: anEnhancedPlan(),
  videoUrl: 'https://v/x',
});

test('an accepted job is known by its task id', async () => {
  service.say = () => ({ body: { success: true, task_id: 'enh-1' } });
  expect(await enhancer.create(order, 'enhance-video')).toBe('enh-1');
});

test.each([
  ['429', { status: 429, body: { error: { code: 'TooManyRequests' } } }, 'busy'],
  ['401', { status: 401, body: { error: { code: 'Unauthorized' } } }, 'operator'],
  ['403', { status: 403, body: { error: { code: 'AccountOverdue' } } }, 'operator'],
  ['404', { status: 404, body: { error: { code: 'NotFound' } } }, 'not_found'],
  ['503 in its own form', { status: 503, body: { error: { code: 'Busy' } } }, 'unavailable'],
  ['503 of somebody in between', { status: 503, body: '<html>' }, 'ambiguous'],
  ['500', { status: 500, body: { error: { code: 'InternalError' } } }, 'ambiguous'],
  ['408', { status: 408, body: {} }, 'ambiguous'],
  ['400 with a code', { status: 400, body: { error: { code: 'InvalidParameter' } } }, 'caller'],
  ['400 without one', { status: 400, body: {} }, 'ambiguous'],
  ['a refusal with 200', { body: { success: false, error: { code: 'BadVideo' } } }, 'caller'],
  ['a success without an id', { body: { success: true } }, 'ambiguous'],
] as const)('a create answered by %s is a fault of its kind', async (_, said, kind) => {
  service.say = () => said;
  await expect(enhancer.create(order, 'enhance-video')).rejects.toMatchObject({ kind });
});

test.each([
  ['processing', { success: true, status: 'processing' }, 'running'],
  ['a word we do not know', { success: true, status: 'thinking' }, null],
  ['failed', { success: true, status: 'failed', error: { code: 'NoSpace' } }, 'failed'],
  ['cancelled', { success: true, status: 'cancelled' }, 'cancelled'],
  ['success: false alone', { success: false, error: { code: 'BadVideo' } }, 'failed'],
] as const)('a job that is %s is read as such', async (_, body, status) => {
  service.say = () => ({ body });
  expect(await enhancer.read('enh-1')).toMatchObject({ status });
});

test('a completed job brings its video and how long that can be had', async () => {
  const result = { video_url: 'https://v/hd.mp4', duration: 5, resolution: '1080p', fps: 60 };
  service.say = () => ({ body: { success: true, status: 'completed', expires_at: 9, result } });
  expect(await enhancer.read('enh-1')).toMatchObject({
    status: 'succeeded',
    result: { videoUrl: 'https://v/hd.mp4', durationSeconds: 5, expiresAt: 9, framesPerSecond: 60 },
  });
});

test('what is no answer of the protocol is a fault, not a state', async () => {
  service.say = () => ({ status: 502, body: '<html>' });
  await expect(enhancer.read('enh-1')).rejects.toMatchObject({ kind: 'ambiguous' });
});

test('of many, a job the service has forgotten is absent; other trouble spoils the round', async () => {
  service.say = ({ path }) =>
    path.endsWith('/gone')
      ? { status: 404, body: { error: { code: 'NotFound' } } }
      : { body: { success: true, status: 'processing' } };
  expect([...(await enhancer.readMany(['gone', 'there'])).keys()]).toEqual(['there']);
  service.say = () => ({ status: 429, body: {} });
  await expect(enhancer.readMany(['one', 'two'])).rejects.toMatchObject({ kind: 'busy' });
});

test('one job that cannot be read does not hide the others; when none can, it is trouble', async () => {
  const broken = { status: 500, body: { error: { code: 'InternalError' } } };
  service.say = ({ path }) =>
    path.endsWith('/bad') ? broken : { body: { success: true, status: 'processing' } };
  expect([...(await enhancer.readMany(['bad', 'good'])).keys()]).toEqual(['good']);
  service.say = () => broken;
  await expect(enhancer.readMany(['bad', 'worse'])).rejects.toMatchObject({ kind: 'ambiguous' });
});

test('there is nothing to look up or to cancel in this protocol', async () => {
  expect(await enhancer.findLost(order, 'enhance-video', new Date())).toBeNull();
  await expect(enhancer.cancel('enh-1')).resolves.toBeUndefined();
});
