// These tests check the link to the base video that an enhancement sends. The stored link may have
// expired, or the enhancer may refuse the link. The generator is then asked for a new link.

import type { JobInput } from '../../../src/jobs/job.rules';
import { forgetSending } from '../../../src/jobs/steps.rows';
import { takeOver } from '../../../src/jobs/take-over.rows';
import { anEnhancedPlan } from '../../support/builders';
import { type Canned, startCanned } from '../../support/canned';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { type PlayedArk, startPlayedArk } from '../../support/played-ark';
import { sentEarlier, startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
let ark: PlayedArk;
let enhancer: Canned;
const sent: unknown[] = [];
let refused = new Set<string>();

beforeEach(async () => {
  database = await createTestDatabase();
  ark = await startPlayedArk();
  enhancer = await startCanned();
  sent.length = 0;
  refused = new Set();
  let accepted = 0;
  enhancer.say = ({ body }) => {
    const { video_url: url } = body as { video_url: string };
    sent.push(url);
    if (refused.has(url)) {
      return { status: 400, body: { success: false, error: { code: 'InvalidParameter' } } };
    }
    accepted += 1;
    return { body: { success: true, task_id: `enh-${accepted}` } };
  };
  upstream = await startUpstream(database.db, (base) => [
    { ...base, baseUrl: ark.url },
    { ...base, id: 'enhancer', protocol: 'mediakit', baseUrl: enhancer.url },
  ]);
});
afterEach(async () => {
  await upstream?.close();
  await ark?.close();
  await enhancer?.close();
  await database?.drop();
});

const [oldLink, newLink] = ['https://media.example/old.mp4', 'https://media.example/new.mp4'];

/**
 * An enhancement whose stored link to the base video expires after this time; null if the generator
 * did not say when. A read of the generator's job gives a new link.
 */
async function enhancementOf(expiresInSeconds: number | null): Promise<JobInput> {
  const { enhancement } = anEnhancedPlan();
  const base = await upstream.input();
  await upstream.attempt(base);
  const job = ark.jobs.at(-1);
  if (job) Object.assign(job, { status: 'succeeded', content: { video_url: newLink } });
  const expiresAt =
    expiresInSeconds === null ? null : Math.floor(Date.now() / 1000) + expiresInSeconds;
  const report = { status: 'succeeded', result: { videoUrl: oldLink, expiresAt } };
  await database
    .db('jobs')
    .where({ task_id: base.taskId })
    .update({ state: 'reported', report: JSON.stringify(report) });
  await database.db('jobs').insert({
    task_id: base.taskId,
    kind: 'super_resolution',
    account_id: 'acct_test',
  });
  const plan = {
    ...base.plan,
    enhancement: enhancement && { ...enhancement, channels: ['enhancer'] },
  };
  return { ...base, kind: 'super_resolution', plan };
}

test('an enhancement uses the stored link of its base video if the link is valid long enough', async () => {
  const input = await enhancementOf(86_400);
  expect(await upstream.attempt(input)).toMatchObject({ outcome: 'open' });
  expect(sent).toEqual([oldLink]);
});

test('a stored link of a base video that expires soon is replaced before the enhancement is placed', async () => {
  const input = await enhancementOf(60);
  expect(await upstream.attempt(input)).toMatchObject({ outcome: 'open' });
  expect(sent).toEqual([newLink]);
});

test.each([
  ['young', 'used', 0, oldLink],
  ['an hour old', 'replaced', 3_700, newLink],
])(
  'the stored link of a generation that is %s is %s if its life is not known',
  async (_, __, ageSeconds, link) => {
    const input = await enhancementOf(null);
    await sentEarlier(database.db, ageSeconds, input.taskId);
    expect(await upstream.attempt(input)).toMatchObject({ outcome: 'open' });
    expect(sent).toEqual([link]);
  },
);

test('a refused enhancement is retried once with a new link of its base video', async () => {
  const input = await enhancementOf(86_400);
  refused = new Set([oldLink]);
  expect(await upstream.attempt(input)).toMatchObject({ outcome: 'open' });
  expect(sent).toEqual([oldLink, newLink]);
});

/** The enhancer gets the create of a first attempt, and says nothing certain. */
async function lose(input: JobInput): Promise<void> {
  const { say } = enhancer;
  enhancer.say = () => ({ status: 500 });
  await expect(upstream.attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  enhancer.say = say;
}

test.each([
  ['old one', false],
  ['old one, in the repetition of a lost create', true],
])('a new link is sent even if the enhancer took long to refuse the %s', async (_, isLost) => {
  const input = await enhancementOf(86_400);
  if (isLost) await lose(input);
  refused = new Set([oldLink]);
  const { say } = enhancer;
  const { now } = performance;
  const clock = jest.spyOn(performance, 'now');
  enhancer.say = (call) => {
    // An enhancer may try to fetch a dead link for a while.
    if ((call.body as { video_url: string }).video_url === oldLink) {
      clock.mockImplementation(() => now.call(performance) + 10_000);
    }
    return say(call);
  };
  await upstream.attempt(input).finally(() => clock.mockRestore());
  expect(sent).toEqual([oldLink, newLink]);
});

test('a worker whose job was taken over while it asked for a new link sends nothing', async () => {
  const input = await enhancementOf(86_400);
  refused = new Set([oldLink]);
  const { say } = enhancer;
  enhancer.say = async (call) => {
    await takeOver(database.db, input, 'another attempt');
    return say(call);
  };
  await expect(upstream.attempt(input)).rejects.toMatchObject({ type: 'Superseded' });
  expect(sent).toEqual([oldLink]);
});

test('a lost create is not repeated with a new link after another attempt has found that it never arrived', async () => {
  const input = await enhancementOf(86_400);
  await lose(input);
  refused = new Set([oldLink]);
  const { say } = enhancer;
  enhancer.say = async (call) => {
    await takeOver(database.db, input, 'another attempt');
    await forgetSending(database.db, input, 'another attempt');
    return say(call);
  };
  await expect(upstream.attempt(input)).rejects.toMatchObject({ type: 'JobMoved' });
  expect(sent).toEqual([oldLink]);
});

test('an enhancement fails if the provider refuses the old and the new link', async () => {
  const input = await enhancementOf(86_400);
  refused = new Set([oldLink, newLink]);
  expect(await upstream.attempt(input)).toMatchObject({ outcome: 'rejected' });
  expect(sent).toEqual([oldLink, newLink]);
});
