// In these tests the answer to a create is lost, and the provider's list is often not as
// documented. The job is then adopted, or the task waits and fails in the end. A create is sent
// again only if the list proves that its job does not exist.

import { createFollowActivities } from '../../../activities/jobs/read-and-cancel-job';
import type { JobInput } from '../../../src/jobs/job.rules';
import { findJob } from '../../../src/jobs/queries.rows';
import { storeOpened } from '../../../src/jobs/steps.rows';
import { endTask } from '../../support/callbacks';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { type PlayedArk, type PlayedJob, startPlayedArk } from '../../support/played-ark';
import { sentEarlier, startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
let ark: PlayedArk;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  ark = await startPlayedArk();
  upstream = await startUpstream(
    database.db,
    (base) => [{ ...base, baseUrl: ark.url, honoursIdempotencyKey: false }],
    'ep-20260101000000-abcde',
  );
});
afterEach(async () => {
  await upstream?.close();
  await ark?.close();
});
afterAll(() => database?.drop());

const attempt = (input: JobInput) => upstream.attempt(input);
const waits = (input: JobInput) =>
  expect(attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });

/** A job whose create has arrived at the provider, but whose reply was lost. */
async function lostInput(): Promise<JobInput> {
  const input = await upstream.input();
  ark.onCreate = () => 'lose the reply';
  await waits(input);
  ark.onCreate = () => 'answer';
  return input;
}

/** Moves the create into the past. After a minute a list must show the job. */
async function letTimePass(input: JobInput, seconds = 60): Promise<void> {
  await sentEarlier(database.db, seconds, input.taskId);
}

async function expectAdopted(input: JobInput): Promise<void> {
  expect(await attempt(input)).toMatchObject({ outcome: 'open', upstreamId: expect.any(String) });
  const job = ark.jobs.find(({ seed }) => seed === input.plan.seed);
  expect((await findJob(database.db, input))?.upstreamId).toBe(job?.id);
  expect(ark.creates.get(input.taskId)).toBe(1);
}

/** Adds jobs of known tasks, which show whether the list echoes seeds. */
async function knownJobs(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const input = await upstream.input();
    await attempt(input);
  }
}

test('a lost job is found by its seed even if the list shows a model instead of the endpoint id', async () => {
  const input = await lostInput();
  await letTimePass(input);
  await expectAdopted(input);
});

test('a lost job that moves to the next page while the list is read counts as one job', async () => {
  const input = await lostInput();
  await letTimePass(input);
  for (let n = 0; n < 499; n += 1) ark.add();
  // A new job between two pages moves the last job of the first page to the second.
  ark.onPage = (page) => void (page === 2 && ark.add());
  await expectAdopted(input);
});

test('the task waits if its job may have moved to a page that was already read', async () => {
  const input = await lostInput();
  await letTimePass(input);
  for (let n = 0; n < 500; n += 1) ark.add();
  ark.onPage = (page) => {
    if (page === 2) ark.jobs.pop();
  };
  await waits(input);
  ark.onPage = () => undefined;
  await expectAdopted(input);
});

test('the list of a provider that limits the page size is read to the end', async () => {
  const input = await lostInput();
  await letTimePass(input);
  for (let n = 0; n < 250; n += 1) ark.add();
  ark.pageMax = 100;
  await expectAdopted(input);
});

test.each<[string, (jobs: readonly PlayedJob[]) => PlayedJob[]]>([
  ['oldest first', (jobs) => [...jobs]],
  ['by id', (jobs) => [...jobs].sort((a, b) => (a.id < b.id ? -1 : 1))],
])(
  'a provider’s list sorted %s is read to the end, but does not prove that a job is absent',
  async (_, sorted) => {
    const old = Math.floor(Date.now() / 1000) - 86_400;
    for (let n = 0; n < 1_200; n += 1) ark.add({ created_at: old + n });
    ark.order = sorted;
    const input = await lostInput();
    await letTimePass(input);
    const { echo } = ark;
    ark.order = (jobs) => sorted(jobs.filter(({ seed }) => seed !== input.plan.seed));
    await waits(input);
    ark.order = sorted;
    ark.echo = echo;
    await expectAdopted(input);
  },
);

test('the task waits while its job is listed without a seed, and then adopts the job', async () => {
  const input = await lostInput();
  await letTimePass(input);
  const [job] = ark.jobs.slice(-1);
  const { id, created_at, status, seed, resolution, ratio, duration } = job as PlayedJob;
  for (const echoed of [{ id }, { id, status }, { id, status, created_at, resolution, duration }]) {
    ark.echo = () => echoed;
    await waits(input);
  }
  ark.echo = () => ({ id, created_at, seed, ratio });
  await expectAdopted(input);
});

test.each([
  ['other parameters', { resolution: '1280x720' }],
  ['a much older creation time', { created_at: 1_100_000_000 }],
  ['no id', { id: undefined }],
  ['an id of 257 characters', { id: 'x'.repeat(257) }],
])('the task waits if a job with its seed has %s', async (_, over) => {
  const input = await lostInput();
  await letTimePass(input);
  ark.echo = (job) => ({ ...job, ...over });
  await waits(input);
  ark.echo = (job) => job;
  await expectAdopted(input);
});

test.each([
  ['no id', undefined],
  ['an id of 257 characters', 'x'.repeat(257)],
  ['an id with a line break', 'cgt-1\n'],
  ['an id with a C1 control character', 'cgt-1\u009b'],
  ['an id with NUL', 'cgt-1\0'],
  ['an id with a lone surrogate', 'cgt-1\ud800'],
  ['a number as id', 1],
])('a create that is answered with %s is looked up, and is not sent again', async (_, id) => {
  const input = await upstream.input();
  ark.answeredId = () => id;
  await waits(input);
  ark.answeredId = (own) => own;
  await letTimePass(input);
  await expectAdopted(input);
});

test('if neither the create nor the list gives a valid id, the task fails after one create', async () => {
  const id = 'x'.repeat(1_000_000);
  const input = await upstream.input();
  ark.answeredId = () => id;
  ark.echo = (job) => ({ ...job, id });
  await waits(input);
  await letTimePass(input);
  await waits(input);
  await letTimePass(input, 600);
  expect(await attempt(input)).toMatchObject({
    outcome: 'rejected',
    report: { failure: { code: 'submission_unknown', ours: true } },
  });
  expect(ark.creates.get(input.taskId)).toBe(1);
});

test('if the provider replaces seeds, the task waits and then fails, and only one create is sent', async () => {
  await knownJobs(2);
  ark.echo = (job) => ({ ...job, seed: Number(job.seed) ^ 1 });
  const input = await lostInput();
  await letTimePass(input);
  await waits(input);
  await letTimePass(input, 600);
  expect(await attempt(input)).toMatchObject({ outcome: 'rejected' });
  expect(ark.creates.get(input.taskId)).toBe(1);
});

test('the task waits if a listed job has another seed and the list may not show the requested seeds', async () => {
  ark.onCreate = () => 'cut before';
  const input = await upstream.input();
  await waits(input);
  ark.onCreate = () => 'answer';
  await letTimePass(input);
  ark.add();
  await waits(input);
  expect(ark.creates.get(input.taskId)).toBeUndefined();
});

test('a create that did not arrive is sent again after the list has proved that its job does not exist', async () => {
  await knownJobs(2);
  ark.onCreate = () => 'cut before';
  const input = await upstream.input();
  await waits(input);
  ark.onCreate = () => 'answer';
  // This job of another client has a seed of its own.
  ark.add();
  await waits(input);
  await letTimePass(input);
  await expectAdopted(input);
});

test('a second upstream job of a task is refused, reported and cancelled', async () => {
  const input = await upstream.input();
  let first = '';
  const { onCreate } = ark;
  ark.onCreate = (body) => {
    first = ark.add({ seed: body.seed }).id;
    return 'answer';
  };
  const { provider } = upstream.deps.channels.find('studio') ?? {};
  const create = provider?.create.bind(provider);
  const second = {
    ...provider,
    // An earlier attempt stores its job while this create is on its way.
    async create(...args: Parameters<NonNullable<typeof create>>) {
      const id = await create?.(...args);
      await storeOpened(database.db, input, { channel: 'studio', upstreamId: first });
      return id;
    },
  };
  const { find, ...rest } = upstream.deps.channels;
  const channels = {
    ...rest,
    find: (id: string) => ({ ...find(id), provider: second }) as ReturnType<typeof find>,
  };
  await expect(upstream.attempt(input, { channels })).rejects.toMatchObject({ type: 'SecondJob' });
  ark.onCreate = onCreate;
  const refused = ark.jobs.at(-1);
  expect(upstream.events).toContainEqual({
    name: 'secondJob',
    args: ['studio', input.taskId, refused?.id],
  });
  expect(refused?.status).toBe('cancelled');
  expect(await attempt(input)).toMatchObject({ outcome: 'open', upstreamId: first });
});

/** A task with the plan and the seed of the first task. Its create did not arrive. */
async function twinOf(first: JobInput): Promise<JobInput> {
  ark.onCreate = () => 'cut before';
  const twin = await upstream.input({}, { plan: first.plan });
  await waits(twin);
  ark.onCreate = () => 'answer';
  await letTimePass(twin);
  return twin;
}

const moveToChannel = (input: JobInput, channel: string) =>
  database.db.raw('update jobs set channel = ? where task_id = ?', [channel, input.taskId]);

test('a lost task does not adopt a job that another task has at another channel of the same provider', async () => {
  const first = await upstream.input();
  await attempt(first);
  await moveToChannel(first, 'former-name');
  const twin = await twinOf(first);
  expect(await attempt(twin)).toMatchObject({ outcome: 'open' });
  const [firstJob, twinJob] = await Promise.all(
    [first, twin].map((job) => findJob(database.db, job)),
  );
  expect(twinJob?.upstreamId).not.toBe(firstJob?.upstreamId);
  expect(ark.creates.get(twin.taskId)).toBe(1);
});

describe('a lost task whose caller chose the seed', () => {
  /** Another application has made a job with this seed. The create of the task did not arrive. */
  async function lostBesideStranger() {
    const stranger = ark.add({ seed: 42, model: 'a-dearer-model' });
    const chosen = await upstream.input();
    const input = { ...chosen, plan: { ...chosen.plan, seed: 42, seedIsDrawn: false } };
    ark.onCreate = () => 'cut before';
    await waits(input);
    ark.onCreate = () => 'answer';
    await letTimePass(input);
    return { input, stranger };
  }

  test('does not adopt a job of somebody else with this seed, and is refunded', async () => {
    const { input } = await lostBesideStranger();
    await waits(input);
    await letTimePass(input, 600);
    expect(await attempt(input)).toMatchObject({
      outcome: 'rejected',
      report: { failure: { code: 'submission_unknown', ours: true } },
    });
  });

  test('does not cancel a job of somebody else with this seed', async () => {
    const { input, stranger } = await lostBesideStranger();
    await endTask(database.db, input.taskId);
    const { cancelJob } = createFollowActivities(upstream.deps);
    await expect(cancelJob(input)).rejects.toMatchObject({ name: 'ApplicationFailure' });
    expect(stranger.status).toBe('queued');
  });

  test('is sent again if the whole list has no job of an unknown task', async () => {
    await knownJobs(1);
    const { input, stranger } = await lostBesideStranger();
    ark.jobs = ark.jobs.filter((job) => job !== stranger);
    expect(await attempt(input)).toMatchObject({ outcome: 'open' });
    expect(ark.creates.get(input.taskId)).toBe(1);
  });
});

test.each([
  ['milliseconds', Date.now()],
  ['an early year', 1_000_000],
  ['a text', '2026-01-01'],
])(
  'a listed job without an owner whose time is %s is not taken for an old job',
  async (_, created_at) => {
    const input = await lostInput();
    await letTimePass(input);
    const { echo } = ark;
    ark.echo = (job) => ({ ...job, created_at, seed: undefined });
    await waits(input);
    expect(ark.creates.get(input.taskId)).toBe(1);
    ark.echo = echo;
    await expectAdopted(input);
  },
);

test('a lost job is found by its seed after the request of its task was erased', async () => {
  const input = await lostInput();
  await database.db.raw(`update tasks set request = '{}', request_hash = '' where id = ?`, [
    input.taskId,
  ]);
  await endTask(database.db, input.taskId);
  await letTimePass(input);
  await createFollowActivities(upstream.deps).cancelJob(input);
  expect(ark.jobs.find(({ seed }) => seed === input.plan.seed)?.status).toBe('cancelled');
});

test('a create is not repeated after the provider may have forgotten the create’s idempotency key', async () => {
  const keyed = await startUpstream(database.db, (base) => [
    { ...base, baseUrl: ark.url, honoursIdempotencyKey: true },
  ]);
  try {
    const input = await keyed.input();
    ark.onCreate = () => 'lose the reply';
    await expect(keyed.attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
    ark.onCreate = () => 'answer';
    await letTimePass(input, 86_400);
    const placed = await keyed.attempt(input).catch((error: unknown) => error);
    expect(placed).toMatchObject({ outcome: expect.stringMatching(/open|rejected/) });
    expect(ark.creates.get(input.taskId)).toBe(1);
  } finally {
    await keyed.close();
  }
});

test('a lost job is found at a provider whose clock is behind', async () => {
  const [behindSeconds, ageSeconds] = [400, 290];
  ark.clockMs = () => Date.now() - behindSeconds * 1_000;
  await knownJobs(2);
  const input = await lostInput();
  await letTimePass(input, ageSeconds);
  const now = Math.floor(Date.now() / 1000) - behindSeconds;
  const job = ark.jobs.at(-1) as PlayedJob;
  Object.assign(job, { created_at: now - ageSeconds });
  for (let n = 0; n < 600; n += 1) {
    ark.add({ created_at: now - ageSeconds + Math.floor((n * ageSeconds) / 600) });
  }
  await expectAdopted(input);
});
