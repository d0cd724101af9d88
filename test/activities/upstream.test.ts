// When to come back, as services say it: seconds, a date, or nonsense.

import { exchange } from '../../activities/upstream';
import { type Canned, startCanned } from '../support/canned';

let service: Canned;
beforeAll(async () => {
  service = await startCanned();
});
afterAll(() => service?.close());

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

test.each([
  ['seconds', () => '7', 7_000, 7_000],
  ['a date', () => inSeconds(60), 1_000, 60_000],
  ['a date that has passed', () => inSeconds(-60), 0, 0],
  ['more than an hour', () => '86400', 3_600_000, 3_600_000],
])('%s are understood', async (_, header, least, most) => {
  service.say = () => ({ status: 429, headers: { 'retry-after': header() } });
  const answer = await ask();
  expect(answer.retryAfterMs).toBeGreaterThanOrEqual(least);
  expect(answer.retryAfterMs).toBeLessThanOrEqual(most);
});

test('nonsense is no wish', async () => {
  service.say = () => ({ status: 429, headers: { 'retry-after': 'soon' } });
  expect((await ask()).retryAfterMs).toBeNull();
});

test('a process that is about to stop asks nobody any more, and cannot know what arrived', async () => {
  await expect(ask(AbortSignal.abort())).rejects.toMatchObject({ code: 'STOPPING' });
});

function ask(hurry?: AbortSignal) {
  return exchange({ method: 'GET', url: service.url, apiKey: 'key', timeoutMs: 5_000, hurry });
}
