// A create whose answer was lost, at a provider whose list is not as documented. Whatever the list
// shows, the job is adopted or the task waits, and no second create is sent.

import { findJob } from '../../src/db/jobs/queries';
import { storeOpened } from '../../src/db/jobs/steps';
import type { JobInput } from '../../src/domain/job';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { type PlayedArk, type PlayedJob, startPlayedArk } from '../support/played-ark';
import { startUpstream, type Upstream } from '../support/upstream';

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

/** An order whose create has arrived, but whose reply was lost. */
async function lostInput(): Promise<JobInput> {
  const input = await upstream.input();
  ark.onCreate = () => 'lose the reply';
  await waits(input);
  ark.onCreate = () => 'answer';
  return input;
}

/** Moves the create so far into the past that a list must show its job. */
async function settle(input: JobInput, seconds = 60): Promise<void> {
  await database.db.raw(
    `update jobs set sent_at = sent_at - make_interval(secs => ?) where task_id = ?`,
    [seconds, input.taskId],
  );
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

test('a job is found by its seed even if its endpoint id is listed as a model', async () => {
  const input = await lostInput();
  await settle(input);
  await expectAdopted(input);
});

test('a job that moved to the next page during the read counts once', async () => {
  const input = await lostInput();
  await settle(input);
  for (let n = 0; n < 499; n += 1) ark.add();
  // A new job between two pages moves the last job of the first page to the second.
  ark.onPage = (page) => void (page === 2 && ark.add());
  await expectAdopted(input);
});

test('the task waits if its job may have moved to a page that was already read', async () => {
  const input = await lostInput();
  await settle(input);
  for (let n = 0; n < 500; n += 1) ark.add();
  ark.onPage = (page) => {
    if (page === 2) ark.jobs.pop();
  };
  await waits(input);
  ark.onPage = () => undefined;
  await expectAdopted(input);
});

test('a list with a limited page size is read to the end', async () => {
  const input = await lostInput();
  await settle(input);
  for (let n = 0; n < 250; n += 1) ark.add();
  ark.pageMax = 100;
  await expectAdopted(input);
});

test.each<[string, (jobs: readonly PlayedJob[]) => PlayedJob[]]>([
  ['oldest first', (jobs) => [...jobs]],
  ['by id', (jobs) => [...jobs].sort((a, b) => (a.id < b.id ? -1 : 1))],
])(
  'a list sorted %s is read to the end, but does not prove that a job is absent',
  async (_, sorted) => {
    const old = Math.floor(Date.now() / 1000) - 86_400;
    for (let n = 0; n < 1_200; n += 1) ark.add({ created_at: old + n });
    ark.order = sorted;
    const input = await lostInput();
    await settle(input);
    const { echo } = ark;
    ark.order = (jobs) => sorted(jobs.filter(({ seed }) => seed !== input.plan.seed));
    await waits(input);
    ark.order = sorted;
    ark.echo = echo;
    await expectAdopted(input);
  },
);

test('the task waits while its job is listed with only some of its fields', async () => {
  const input = await lostInput();
  await settle(input);
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
  ['a creation long before', { created_at: 1_000_000 }],
  ['no id', { id: undefined }],
  ['an id of 257 characters', { id: 'x'.repeat(257) }],
])('the task waits if a job with its seed has %s', async (_, over) => {
  const input = await lostInput();
  await settle(input);
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
  ['a number as its id', 1],
])('a create that is answered with %s is looked up, and is not sent again', async (_, id) => {
  const input = await upstream.input();
  ark.answeredId = () => id;
  await waits(input);
  ark.answeredId = (own) => own;
  await settle(input);
  await expectAdopted(input);
});

test('if neither the create nor the list gives a readable id, the task is refunded after one create', async () => {
  const id = 'x'.repeat(1_000_000);
  const input = await upstream.input();
  ark.answeredId = () => id;
  ark.echo = (job) => ({ ...job, id });
  await waits(input);
  await settle(input);
  await waits(input);
  await settle(input, 600);
  expect(await attempt(input)).toMatchObject({
    outcome: 'rejected',
    report: { failure: { code: 'submission_unknown', ours: true } },
  });
  expect(ark.creates.get(input.taskId)).toBe(1);
});

test('if the provider replaces seeds, the task waits and then fails, with one create sent', async () => {
  await knownJobs(2);
  ark.echo = (job) => ({ ...job, seed: Number(job.seed) ^ 1 });
  const input = await lostInput();
  await settle(input);
  await waits(input);
  await settle(input, 600);
  expect(await attempt(input)).toMatchObject({ outcome: 'rejected' });
  expect(ark.creates.get(input.taskId)).toBe(1);
});

test('another job’s seed proves nothing unless the provider is known to echo seeds', async () => {
  ark.onCreate = () => 'cut before';
  const input = await upstream.input();
  await waits(input);
  ark.onCreate = () => 'answer';
  await settle(input);
  ark.add();
  await waits(input);
  expect(ark.creates.get(input.taskId)).toBeUndefined();
});

test('a create that did not arrive is sent again once every listed job is known to be another’s', async () => {
  await knownJobs(2);
  ark.onCreate = () => 'cut before';
  const input = await upstream.input();
  await waits(input);
  ark.onCreate = () => 'answer';
  // A job of another client, with its own seed.
  ark.add();
  await waits(input);
  await settle(input);
  await expectAdopted(input);
});

test('a second upstream id for a known job is refused, reported and cancelled', async () => {
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
      await storeOpened(database.db, input, first, 'activity');
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

/** Its create did not arrive; it has the seed of the first. */
async function twinOf(first: JobInput): Promise<JobInput> {
  ark.onCreate = () => 'cut before';
  const twin = await upstream.input({}, { plan: first.plan });
  await waits(twin);
  ark.onCreate = () => 'answer';
  await settle(twin);
  return twin;
}

const moveToChannel = (input: JobInput, channel: string) =>
  database.db.raw('update jobs set channel = ? where task_id = ?', [channel, input.taskId]);

test('a job that a task has at another channel of the same provider is not adopted', async () => {
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

test('a task waits while a lost task of another channel has its seed', async () => {
  const first = await lostInput();
  await moveToChannel(first, 'former-name');
  await waits(await twinOf(first));
});

test('a create is not repeated once the provider may have forgotten its key', async () => {
  const keyed = await startUpstream(database.db, (base) => [
    { ...base, baseUrl: ark.url, honoursIdempotencyKey: true },
  ]);
  try {
    const input = await keyed.input();
    ark.onCreate = () => 'lose the reply';
    await expect(keyed.attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
    ark.onCreate = () => 'answer';
    await settle(input, 86_400);
    const placed = await keyed.attempt(input).catch((error: unknown) => error);
    expect(placed).toMatchObject({ outcome: expect.stringMatching(/open|rejected/) });
    expect(ark.creates.get(input.taskId)).toBe(1);
  } finally {
    await keyed.close();
  }
});

test('a job is found at a provider whose clock is behind', async () => {
  const [behindSeconds, ageSeconds] = [400, 290];
  ark.clockMs = () => Date.now() - behindSeconds * 1_000;
  await knownJobs(2);
  const input = await lostInput();
  await settle(input, ageSeconds);
  const now = Math.floor(Date.now() / 1000) - behindSeconds;
  const job = ark.jobs.at(-1) as PlayedJob;
  Object.assign(job, { created_at: now - ageSeconds });
  for (let n = 0; n < 600; n += 1) {
    ark.add({ created_at: now - ageSeconds + Math.floor((n * ageSeconds) / 600) });
  }
  await expectAdopted(input);
});
