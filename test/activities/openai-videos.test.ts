// Each fault of a create at a provider that speaks OpenAI videos. No task may have two jobs, and a
// task whose job cannot be found must end with a fault of the service, so that it is refunded.

import { createTestDatabase, type TestDatabase } from '../support/database';
import { startUpstream, type Upstream } from '../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db, (base) => {
    const baseUrl = base.baseUrl.replace('/api/v3', '/v1');
    const videos = { ...base, baseUrl, protocol: 'openai-videos', profile: 'gateway' };
    const keyless = { ...videos, honoursIdempotencyKey: false, hasList: false };
    return [keyless, { ...keyless, id: 'second' }, { ...videos, id: 'keyed', hasList: false }];
  });
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
});

const choice = (channel: string) => ({ channel, upstreamModel: 'studio-2.0' });

/** Runs attempts until the activity returns an outcome. */
async function placed(create: object, channels = ['studio', 'second']) {
  const first = await upstream.input({ create });
  const input = { ...first, plan: { ...first.plan, channels: channels.map(choice) } };
  for (let number = 1; ; number += 1) {
    try {
      const outcome = await upstream.attempt(input, {}, number);
      return { ...outcome, jobs: await upstream.accepted(input.taskId) };
    } catch (error) {
      if (number === 5) throw error;
    }
  }
}

const unknown = {
  outcome: 'rejected',
  report: { failure: { code: 'submission_unknown', ours: true } },
};

test.each([
  ['a lost answer', { lose_reply: true }, 1],
  ['a reset connection', { reset: true }, 0],
  ['500', { status: 500 }, 0],
  ['503', { status: 503 }, 0],
  ['a page with 502', { html: true }, 0],
  ['a page with 200', { html: true, status: 200 }, 0],
  ['409', { status: 409 }, 0],
])('after %s the create is never sent again, and the task is refunded', async (_, fault, jobs) => {
  expect(await placed({ ...fault, times: 1 })).toMatchObject({ ...unknown, jobs });
  expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
});

test.each([
  ['a lost answer', { lose_reply: true }],
  ['a reset connection', { reset: true }],
  ['500', { status: 500 }],
  ['a page with 502', { html: true }],
])('after %s a provider with keys gets the create again, and has one job', async (_, fault) => {
  const outcome = await placed({ ...fault, times: 1 }, ['keyed']);
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'keyed', jobs: 1 });
});

test.each([
  ['429', { status: 429 }],
  ['401', { status: 401 }],
  ['an unknown model', { status: 404, code: 'model_not_found' }],
  ['no credit', { status: 400, code: 'billing_hard_limit_reached' }],
])('after %s the next channel gets the create, and there is one job', async (_, fault) => {
  upstream.deps.channels.succeeded('studio');
  const outcome = await placed({ ...fault, times: 1 });
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'second', jobs: 1 });
  upstream.deps.channels.succeeded('studio');
});

test.each([
  ['an invalid value', { status: 400, code: 'invalid_value' }],
  ['a refused content', { status: 400, code: 'moderation_blocked' }],
])('after %s no other channel gets the create', async (_, fault) => {
  const outcome = await placed({ ...fault, times: 1 });
  expect(outcome).toMatchObject({
    outcome: 'rejected',
    report: { failure: { code: fault.code } },
    jobs: 0,
  });
});
