// These tests read jobs whose values do not have the documented form. Such a value must never reach
// a task unchanged.

import { createArk } from '../../../../activities/providers/ark/client';
import { type PlayedArk, type PlayedJob, startPlayedArk } from '../../../support/played-ark';

let ark: PlayedArk;
beforeEach(async () => {
  ark = await startPlayedArk();
});
afterEach(() => ark?.close());

async function readingOf(over: Partial<PlayedJob>) {
  const content = { video_url: 'https://videos.example.com/1.mp4' };
  const job = ark.add({ status: 'succeeded', content, updated_at: 1_763_848_000, ...over });
  const access = { apiKey: 'key', timeoutMs: 5_000, honoursIdempotencyKey: true, hasList: true };
  return createArk({ baseUrl: ark.url, ...access }).read(job.id);
}

test.each<[string, Partial<PlayedJob>, object]>([
  ['a time with a fraction', { updated_at: 1_763_848_000.75 }, { expiresAt: 1_763_934_400 }],
  ['a time in milliseconds', { updated_at: 1_763_848_000_750 }, { expiresAt: null }],
  ['a negative time', { updated_at: -5 }, { expiresAt: null }],
  ['a seed with a fraction', { seed: 1.5 }, { seed: null }],
  ['a seed as text', { seed: '42' }, { seed: null }],
  ['tokens with a fraction', { usage: { completion_tokens: 1.5 } }, { completionTokens: null }],
  ['tokens below zero', { usage: { completion_tokens: -1 } }, { completionTokens: null }],
])('%s in a provider’s answer is rounded down or ignored', async (_, over, result) => {
  expect(await readingOf(over)).toMatchObject({ status: 'succeeded', result });
});
