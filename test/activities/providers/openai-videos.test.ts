// Faults of a create at a provider that speaks OpenAI videos, beside those of create-faults.test.ts.
// No task may have two jobs, and a task whose job cannot be found must end with a fault of the
// service, so that it is refunded.

import { randomUUID } from 'node:crypto';
import { createFollowActivities } from '../../../activities/jobs/read-and-cancel-job';
import { aRequest } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { sentEarlier, startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db, (base) => {
    const baseUrl = base.baseUrl.replace('/api/v3', '/v1');
    const videos = { ...base, baseUrl, protocol: 'openai-videos', profile: 'gateway' };
    const keyless = { ...videos, honoursIdempotencyKey: false, hasList: false };
    return [keyless, { ...keyless, id: 'second' }, { ...keyless, id: 'listed', hasList: true }];
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

test.each([
  ['a lost answer', { lose_reply: true }, 1],
  ['503', { status: 503 }, 0],
  ['409', { status: 409 }, 0],
])(
  'after %s no other channel gets the create, and the task is refunded',
  async (_, fault, jobs) => {
    expect(await placed({ ...fault, times: 1 })).toMatchObject({ ...unknown, jobs });
    expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
  },
);

test.each([
  ['429', { status: 429 }],
  ['401', { status: 401 }],
  ['an unknown model', { status: 404, code: 'model_not_found' }],
  ['no credit', { status: 400, code: 'billing_hard_limit_reached' }],
])('after %s the next channel gets the create, and there is one job', async (_, fault) => {
  upstream.deps.channels.succeeded('studio', 'creates');
  const outcome = await placed({ ...fault, times: 1 });
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'second', jobs: 1 });
  upstream.deps.channels.succeeded('studio', 'creates');
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

describe('a listed video with the prompt of a lost create', () => {
  /** A task at a channel whose provider has a list. */
  async function begun(create: object, prompt: string) {
    const studio = { render: 'none', run_s: 60, create };
    const request = aRequest({ prompt, metadata: { passThrough: { studio } } });
    const first = await upstream.input({}, { request });
    const input = { ...first, plan: { ...first.plan, channels: [choice('listed')] } };
    await upstream.attempt(input).catch(() => undefined);
    return input;
  }

  test.each([
    ['is its own', { lose_reply: true }, 1],
    ['belongs to another task', { status: 500 }, 0],
  ])('is not adopted if it %s, and the task is refunded', async (_, fault, jobs) => {
    const prompt = `prompt ${randomUUID()}`;
    const known = jobs === 0 ? await begun({}, prompt) : null;
    const input = await begun({ ...fault, times: 1 }, prompt);
    await sentEarlier(database.db, 140, input.taskId);
    expect(await upstream.attempt(input, {}, 2)).toMatchObject(unknown);
    expect(await upstream.accepted(input.taskId)).toBe(jobs);
    if (!known) return;
    await database.db.raw(
      `update tasks set object = '{}', finished_at = now() - interval '1 minute' where id = ?`,
      [input.taskId],
    );
    const { readJob, cancelJob } = createFollowActivities(upstream.deps);
    await expect(cancelJob(input)).rejects.toMatchObject({ type: 'CancelNotTaken' });
    expect(await readJob(known)).toMatchObject({ status: 'running' });
  });
});
