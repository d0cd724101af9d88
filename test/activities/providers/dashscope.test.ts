// Faults of a create at a provider that speaks DashScope, beside those of create-faults.test.ts: with
// several channels. No task may have two jobs, and the task of a lost job is refunded.

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
      const baseUrl = base.baseUrl.replace('/api/v3', '/dashscope/api/v1');
      const shared = { ...base, baseUrl, protocol: 'dashscope', honoursIdempotencyKey: false };
      return [shared, { ...shared, id: 'second' }];
    },
    'wan3.0-video',
  );
});
afterEach(async () => {
  await upstream?.close();
  // The jobs of another test must not belong to this account.
  await database.db.raw('delete from jobs');
});
afterAll(() => database?.drop());

async function inputOn(channels: readonly string[], create: object): Promise<RequestedJob> {
  const input = await upstream.input({ create: { ...create, times: 1 } });
  const choices = channels.map((channel) => ({ channel, upstreamModel: 'wan3.0-video' }));
  return { ...input, plan: { ...input.plan, channels: choices } };
}

/** Runs attempts until the activity returns an outcome. */
async function placed(create: object, channels: readonly string[]) {
  const input = await inputOn(channels, create);
  for (let number = 1; ; number += 1) {
    try {
      const outcome = await upstream.attempt(input, {}, number);
      return { ...outcome, jobs: await upstream.accepted(input.taskId) };
    } catch (error) {
      if (number === 5) throw error;
      await later(60);
    }
  }
}

/** Moves all creates into the past, so that no answer can arrive any more. */
async function later(seconds: number): Promise<void> {
  await sentEarlier(database.db, seconds);
}

const unknown = {
  outcome: 'rejected',
  report: { failure: { code: 'submission_unknown', ours: true } },
};
const faults: readonly (readonly [string, object, jobs: number])[] = [
  ['a lost answer', { lose_reply: true }, 1],
  ['503', { status: 503 }, 0],
];

test.each(faults)(
  'after %s no other channel gets the create, and the task is refunded',
  async (_, fault, jobs) => {
    expect(await placed(fault, ['studio', 'second'])).toMatchObject({ ...unknown, jobs });
    expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
  },
);

test.each([
  ['429', { status: 429 }],
  ['an overdue bill', { status: 429, code: 'PostpaidBillOverdue' }],
  ['401', { status: 401 }],
  ['an unknown model', { status: 404 }],
  ['no money', { status: 400, code: 'Arrearage' }],
])('after %s the next channel gets the create, and there is one job', async (_, fault) => {
  const outcome = await placed(fault, ['studio', 'second']);
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'second', jobs: 1 });
});

test.each([
  ['an invalid value', { status: 400 }, 'InvalidParameter'],
  ['a refused content', { code: 'DataInspectionFailed' }, 'DataInspectionFailed'],
])('after %s no other channel gets the create', async (_, fault, code) => {
  const outcome = await placed(fault, ['studio', 'second']);
  const report = { failure: { code } };
  expect(outcome).toMatchObject({ outcome: 'rejected', report, jobs: 0 });
});
