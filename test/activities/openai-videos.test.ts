// Faults of a create at a provider that speaks OpenAI videos, beside those of create-faults.test.ts.
// No task may have two jobs, and a task whose job cannot be found must end with a fault of the
// service, so that it is refunded.

import { randomUUID } from 'node:crypto';
import { createFollowActivities } from '../../activities/jobs/read-and-cancel-job';
import { aRequest } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { sentEarlier, startUpstream, type Upstream } from '../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db, (base) => {
    const baseUrl = base.baseUrl.replace('/api/v3', '/v1');
    const videos = { ...base, baseUrl, protocol: 'openai-videos', profile: 'gateway' };
    const keyless = { ...videos, honoursIdempotencyKey: false, hasList: false };
    const listed = { ...keyless, id: 'listed', hasList: true };
    return [keyless, { ...keyless, id: 'second' }, listed, { ...listed, id: 'listed:KEY_B' }];
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
      await later(10);
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

describe('a provider without keys whose list shows the prompts', () => {
  const newPrompt = () => `prompt ${randomUUID()}`;
  const lost = { lose_reply: true, times: 1 };

  let seed = 0;

  /** Each task has another seed, as in the service. */
  async function begun(create: object, prompt: string, channel = 'listed') {
    const studio = { render: 'none', run_s: 60, create };
    const request = aRequest({ prompt, metadata: { passThrough: { studio } } });
    const first = await upstream.input({}, { request });
    seed += 1;
    const plan = { ...first.plan, seed, channels: [choice(channel)] };
    const input = { ...first, plan };
    await database.db.raw('update tasks set plan = ? where id = ?', [
      JSON.stringify(plan),
      input.taskId,
    ]);
    await upstream.attempt(input).catch(() => undefined);
    return input;
  }

  /** Looks the job up once more, when the create was sent this long ago. */
  async function resolved(input: Awaited<ReturnType<typeof begun>>, agoSeconds = 30) {
    await sentEarlier(database.db, agoSeconds, input.taskId);
    const outcome = await upstream
      .attempt(input, {}, 2)
      .catch(({ type }: { type: string }) => ({ outcome: type }));
    return { ...outcome, jobs: await upstream.accepted(input.taskId) };
  }

  test('has exactly one job after a lost answer, which is found by its prompt', async () => {
    const input = await begun(lost, newPrompt());
    expect(await resolved(input)).toMatchObject({ outcome: 'open', channel: 'listed', jobs: 1 });
  });

  test('gets no second create if its list does not show the job', async () => {
    const input = await begun({ status: 500, times: 1 }, newPrompt());
    expect(await resolved(input)).toMatchObject({ outcome: 'SubmissionUnknown', jobs: 0 });
    expect(await resolved(input, 700)).toMatchObject({ ...unknown, jobs: 0 });
  });

  test.each(['listed', 'listed:KEY_B'])(
    'lends no job of a known task to a lost task with the same prompt at the channel %s',
    async (channel) => {
      const prompt = newPrompt();
      await begun({}, prompt);
      const input = await begun({ status: 500, times: 1 }, prompt, channel);
      expect(await resolved(input, 700)).toMatchObject({ ...unknown, jobs: 0 });
    },
  );

  test('keeps the job of a known task with the same prompt if a lost task is cancelled', async () => {
    const prompt = newPrompt();
    const lostInput = await begun({ status: 500, times: 1 }, prompt, 'listed:KEY_B');
    await database.db.raw(
      `update tasks set object = '{}', finished_at = now() - interval '1 minute' where id = ?`,
      [lostInput.taskId],
    );
    const known = await begun({}, prompt);
    const { readJob, cancelJob } = createFollowActivities(upstream.deps);
    await expect(cancelJob(lostInput)).rejects.toMatchObject({ type: 'CancelNotTaken' });
    expect(await readJob(known)).toMatchObject({ status: 'running' });
  });

  test('leaves it open which of two lost tasks with the same prompt has a job', async () => {
    const prompt = newPrompt();
    const first = await begun(lost, prompt);
    const second = await begun({ status: 500, times: 1 }, prompt);
    for (const input of [first, second]) {
      expect(await resolved(input)).toMatchObject({ outcome: 'SubmissionUnknown' });
    }
  });
});
