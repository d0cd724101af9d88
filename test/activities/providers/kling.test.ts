// Faults of a create at a provider that speaks Kling, beside those of create-faults.test.ts. A lost job is found by the name that its
// create gave it, so no task has two jobs and none is refunded for a lost answer.

import type { RequestedJob } from '../../../src/jobs/job.rules';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { sentEarlier, startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  upstream = await startUpstream(
    database.db,
    (base) => {
      const baseUrl = base.baseUrl.replace('/api/v3', '/kling/v1/videos');
      const key = { apiKeyEnv: 'KEY_PAIR', honoursIdempotencyKey: false };
      const kling = { ...base, baseUrl, protocol: 'kling', ...key };
      return [kling, { ...kling, id: 'second' }];
    },
    'kling-v3',
  );
});
afterEach(async () => {
  await upstream?.close();
  await database.db.raw('delete from jobs');
});
afterAll(() => database?.drop());

const inputOf = (create: object): Promise<RequestedJob> =>
  upstream.input({ create: { ...create, times: 1 } });

async function later(seconds: number): Promise<void> {
  await sentEarlier(database.db, seconds);
}

/** Runs attempts until the activity returns an outcome. Between two of them minutes pass. */
async function placed(create: object) {
  const input = await inputOf(create);
  for (let number = 1; ; number += 1) {
    try {
      const outcome = await upstream.attempt(input, {}, number);
      return { ...outcome, attempts: number, jobs: await upstream.accepted(input.taskId) };
    } catch (error) {
      if (number === 5) throw error;
      await later(100);
    }
  }
}

test('after a lost answer the job is found at once by its name', async () => {
  const outcome = await placed({ lose_reply: true });
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'studio', jobs: 1, attempts: 2 });
  expect(outcome).toMatchObject({ upstreamId: expect.stringMatching(/^text2video\/\d+$/) });
});

test('two lost jobs are told apart', async () => {
  const inputs = [await inputOf({ lose_reply: true }), await inputOf({ lose_reply: true })];
  const lost = { type: 'SubmissionUnknown' };
  for (const input of inputs) await expect(upstream.attempt(input)).rejects.toMatchObject(lost);
  const found: unknown[] = [];
  for (const input of inputs) {
    const outcome = await upstream.attempt(input, {}, 2);
    expect(outcome).toMatchObject({ outcome: 'open' });
    found.push('upstreamId' in outcome && outcome.upstreamId);
    expect(await upstream.accepted(input.taskId)).toBe(1);
  }
  expect(new Set(found).size).toBe(2);
});

test('a create that made no job is sent again only when minutes have passed', async () => {
  const outcome = await placed({ status: 503 });
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'studio', jobs: 1, attempts: 3 });
});

test.each([
  ['a rate limit', { status: 429, code: '1302' }],
  ['no money', { status: 429, code: '1102' }],
  ['a wrong token', { status: 401 }],
  ['an unknown model', { status: 404 }],
])('after %s the next channel gets the create, and there is one job', async (_, fault) => {
  expect(await placed(fault)).toMatchObject({ outcome: 'open', channel: 'second', jobs: 1 });
});

test('only no money rests the channel as a fault of the account', async () => {
  await placed({ status: 429, code: '1302' });
  expect(upstream.deps.channels.restMs('studio', 'creates')).toBe(0);
  await placed({ status: 429, code: '1102' });
  expect(upstream.deps.channels.restMs('studio', 'creates')).toBeGreaterThan(50_000);
});

test.each([
  ['an invalid value', { status: 400 }, '1201'],
  ['a refused content', { code: '1301' }, '1301'],
])('after %s no other channel gets the create', async (_, fault, code) => {
  const report = { failure: { code } };
  expect(await placed(fault)).toMatchObject({ outcome: 'rejected', report, jobs: 0 });
});
