// Faults of a create at a provider that speaks DashScope, beside those of create-faults.test.ts: with
// several channels and several lost jobs. No task may have two jobs. In an account of our own a lost job is found by elimination; otherwise its task is refunded.

import type { RequestedJob } from '../../src/domain/job';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { sentEarlier, startUpstream, type Upstream } from '../support/upstream';

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
      return [shared, { ...shared, id: 'second' }, { ...shared, id: 'mine', ownAccount: true }];
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
      await later(10);
    }
  }
}

/** Moves all creates into the past, so that the list must show their jobs. */
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
  'after %s in a shared account no other channel gets the create, and the task is refunded',
  async (_, fault, jobs) => {
    expect(await placed(fault, ['studio', 'second'])).toMatchObject({ ...unknown, jobs });
    expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
  },
);

test('a lost job is found beside jobs of other tasks', async () => {
  await placed({ status: 429 }, ['second', 'mine']);
  await placed({ status: 429 }, ['second', 'mine']);
  const found = await placed({ lose_reply: true }, ['mine']);
  expect(found).toMatchObject({ outcome: 'open', jobs: 1 });
});

test('two lost jobs of a model are not told apart, and both tasks are refunded', async () => {
  const inputs = [await inputOn(['mine'], { lose_reply: true })];
  inputs.push(await inputOn(['mine'], { lose_reply: true }));
  for (const input of inputs) {
    await expect(upstream.attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  }
  for (const input of inputs) {
    await expect(upstream.attempt(input, {}, 2)).rejects.toMatchObject({
      type: 'SubmissionUnknown',
    });
  }
  await later(601);
  for (const input of inputs) {
    expect(await upstream.attempt(input, {}, 3)).toMatchObject(unknown);
    expect(await upstream.accepted(input.taskId)).toBe(1);
  }
});

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
