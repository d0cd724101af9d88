// These tests place jobs at a studio that loses replies, answers late, cuts connections and returns
// errors. Each job must be created only once. Each call here is one attempt of the activity, and a
// loop plays Temporal's retries. Providers with an incorrect list are in lost-job.test.ts.

import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { WorkerDeps } from '../../../activities/deps';
import { cancelSecond } from '../../../activities/jobs/cancel-second';
import { createFollowActivities } from '../../../activities/jobs/read-and-cancel-job';
import { createChannels } from '../../../activities/providers/channels';
import { type Provider, UpstreamFault } from '../../../activities/providers/provider';
import type { Channel } from '../../../src/catalogue/catalogue.rules';
import { connect } from '../../../src/database/database';
import type { JobInput } from '../../../src/jobs/job.rules';
import { findJob } from '../../../src/jobs/queries.rows';
import { giveTurns } from '../../../src/jobs/slots.rows';
import { storeReports } from '../../../src/jobs/steps.rows';
import { endTask } from '../../support/callbacks';
import { startCutter } from '../../support/cutter';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { plantFile } from '../../support/files';
import { until } from '../../support/until';
import { type Placed, sentEarlier, startUpstream, type Upstream } from '../../support/upstream';
import { webServers } from '../../support/web-servers';

const serve = webServers();
let database: TestDatabase;
let upstream: Upstream;
const open = async (channels?: (base: Channel) => readonly Channel[]) => {
  upstream = await startUpstream(database.db, channels);
};
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => upstream?.close());
afterAll(() => database?.drop());

const attempt = (input: JobInput, over: Partial<WorkerDeps> = {}): Promise<Placed> =>
  upstream.attempt(input, over);

/** The channels, with these parts of their providers replaced. */
function channelsWith(
  partsOf: (provider: Provider, id: string) => Partial<Provider>,
): WorkerDeps['channels'] {
  const { find, ...rest } = upstream.deps.channels;
  return {
    ...rest,
    find(id) {
      const found = find(id);
      if (!found) return undefined;
      return { ...found, provider: { ...found.provider, ...partsOf(found.provider, id) } };
    },
  };
}

/** Retries until the job is placed, as Temporal does, with shorter pauses. */
async function placed(input: JobInput, attemptsMax = 40, at = upstream): Promise<Placed> {
  for (let n = 1; ; n += 1) {
    try {
      return await at.attempt(input);
    } catch (error) {
      if (n === attemptsMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}

const faults: readonly [string, object][] = [
  ['a lost reply', { lose_reply: true, times: 1 }],
  ['two lost replies', { lose_reply: true, times: 2 }],
  ['an answer after the time limit', { delay_s: 3, times: 1 }],
  ['a connection cut before acceptance', { reset: true, times: 1 }],
  ['a gateway’s error page', { html: true, times: 1 }],
  ['an internal error', { status: 500, times: 1 }],
];

describe.each([
  ['that honours Idempotency-Key', true],
  ['that has a list but ignores Idempotency-Key', false],
])('a provider %s', (_, honoursIdempotencyKey) => {
  // The tests mostly wait, so they run at once, each with its own database and studio.
  test.concurrent.each(faults)('has exactly one job after %s', async (__, create) => {
    const { db, drop } = await createTestDatabase();
    const own = await startUpstream(db, (base) => [{ ...base, honoursIdempotencyKey }]);
    try {
      if (!honoursIdempotencyKey) await own.script({ ignore_idempotency_key: true });
      const input = await own.input({ create });
      const job = await placed(input, 40, own);
      expect(job.outcome).toBe('open');
      expect(await own.accepted(input.taskId)).toBe(1);
      expect(await placed(input, 40, own)).toEqual(job);
      expect(await own.accepted(input.taskId)).toBe(1);
    } finally {
      await own.close();
      await drop();
    }
  });
});

test('lost jobs that are otherwise equal are distinguished by their seed', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const orders = await Promise.all(
    [0, 1, 2, 3].map(() => upstream.input({ create: { lose_reply: true, times: 1 } })),
  );
  const jobs = await Promise.all(orders.map((input) => placed(input)));
  const ids = jobs.map((job) => (job.outcome === 'open' ? job.upstreamId : ''));
  expect(new Set(ids).size).toBe(4);
  for (const { taskId } of orders) expect(await upstream.accepted(taskId)).toBe(1);
});

test('if lost jobs cannot be distinguished, their tasks fail, and the failure is recorded as a fault of the service', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const lost = { create: { lose_reply: true, times: 1 } };
  const first = await upstream.input(lost);
  const second = await upstream.input(lost, { plan: first.plan });
  await Promise.all([first, second].map((input) => expect(attempt(input)).rejects.toThrow()));
  await expect(attempt(first)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  await sentEarlier(database.db, 660);
  const outcomes = await Promise.all([placed(first), placed(second)]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ outcome: 'rejected', report: { failure: { ours: true } } });
  }
  expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
});

test('a lost job is searched for ten minutes, also if nobody could search for a quarter of an hour', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const never = await upstream.input({ create: { reset: true, times: 1 } });
  const arrived = await upstream.input({ create: { lose_reply: true, times: 1 } });
  for (const input of [never, arrived]) await expect(attempt(input)).rejects.toThrow();
  await database.db.raw(`update jobs set sent_at = sent_at - interval '15 minutes'`);
  // The list shows the other lost job, so it does not show yet whether this one is there.
  await expect(attempt(never)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  expect(await placed(arrived)).toMatchObject({ outcome: 'open' });
  expect(await placed(never)).toMatchObject({ outcome: 'open' });
  for (const { taskId } of [never, arrived]) expect(await upstream.accepted(taskId)).toBe(1);
});

test('a job with a seed that two callers chose is adopted by neither of their lost tasks', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const drawn = await upstream.input({ create: { reset: true, times: 1 } });
  const plan = { ...drawn.plan, seedIsDrawn: false };
  const never = { ...drawn, plan };
  const arrived = await upstream.input({ create: { lose_reply: true, times: 1 } }, { plan });
  for (const input of [never, arrived]) await expect(attempt(input)).rejects.toThrow();
  await expect(attempt(never)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  await sentEarlier(database.db, 660);
  for (const input of [never, arrived]) expect((await placed(input)).outcome).toBe('rejected');
  expect(await upstream.accepted(arrived.taskId)).toBe(1);
  expect(await upstream.accepted(never.taskId)).toBe(0);
});

test('no create is sent for a task that has ended', async () => {
  await open();
  const input = await upstream.input();
  await endTask(database.db, input.taskId);
  await expect(attempt(input)).rejects.toThrow();
  expect(await upstream.accepted(input.taskId)).toBe(0);
});

test.each([null, 1])(
  'no create is sent for a task that is past its deadline, and it does not queue (%p slots)',
  async (jobsInFlightMax) => {
    await open((base) => [{ ...base, jobsInFlightMax }]);
    const input = await upstream.input();
    await database.db('tasks').where({ id: input.taskId }).update({ deadline_at: new Date() });
    await expect(attempt(input)).rejects.toMatchObject({ type: 'JobMoved' });
    expect(await upstream.accepted(input.taskId)).toBe(0);
    expect(await findJob(database.db, input)).toMatchObject({ state: 'planned', sentAt: null });
  },
);

test('a job waits for a full channel even if its other channel is down', async () => {
  await open((base) => [
    { ...base, id: 'full', jobsInFlightMax: 1 },
    { ...base, id: 'down', baseUrl: 'http://127.0.0.1:1/api/v3', jobsInFlightMax: 5 },
  ]);
  const first = await upstream.input();
  const second = await upstream.input();
  expect((await placed(first)).outcome).toBe('open');
  expect(await placed(second, 1)).toEqual({ outcome: 'waiting' });
  await database.db.raw(`update jobs set state = 'closed' where task_id = ?`, [first.taskId]);
  expect(await giveTurns(database.db, 'full', 1)).toMatchObject([{ taskId: second.taskId }]);
  expect((await placed(second)).outcome).toBe('open');
});

test('a turn that comes while the input of an attempt is prepared is kept for the next attempt', async () => {
  await open((base) => [
    { ...base, id: 'busy', jobsInFlightMax: 1 },
    { ...base, id: 'resting', jobsInFlightMax: 1 },
  ]);
  const { channels, storage } = upstream.deps;
  const restMs = (id: string) => (id === 'resting' ? 60_000 : 0);
  const over = { channels: { ...channels, restMs } };
  expect((await attempt(await upstream.input(), over)).outcome).toBe('open');
  const files = { db: database.db, storage, accountId: 'acct_test' };
  const type = { media: 'image', content_type: 'image/png' } as const;
  const { id } = await plantFile(files, Buffer.from('an image'), type);
  const { plan } = await upstream.input();
  const input = await upstream.input({}, { plan: { ...plan, files: { [id]: id } } });
  expect((await attempt(input, over)).outcome).toBe('waiting');
  const presigned = async () => {
    const given = await giveTurns(database.db, 'resting', 1);
    expect(given).toMatchObject([{ taskId: input.taskId }]);
    return null;
  };
  const signing = { ...over, storage: { ...storage, presigned } };
  expect((await attempt(input, signing)).outcome).toBe('waiting');
  const job = database.db('jobs').where({ task_id: input.taskId });
  expect(await job.first('channel', 'owes')).toEqual({ channel: 'resting', owes: 'turn' });
});

test('a job of a closed channel waits, and gets a turn once the channel is opened', async () => {
  await open((base) => [{ ...base, id: 'closed', jobsInFlightMax: 0 }]);
  const input = await upstream.input();
  expect(await placed(input, 1)).toEqual({ outcome: 'waiting' });
  expect(await giveTurns(database.db, 'closed', 0)).toEqual([]);
  expect(await giveTurns(database.db, 'closed', 1)).toMatchObject([{ taskId: input.taskId }]);
});

test('a slot that is reserved for a waiting job is not given to a newer job', async () => {
  await open((base) => [{ ...base, id: 'promised', jobsInFlightMax: 1 }]);
  const [first, second, newcomer] = [
    await upstream.input(),
    await upstream.input(),
    await upstream.input(),
  ];
  await placed(first);
  expect((await placed(second)).outcome).toBe('waiting');
  await database.db.raw(`update jobs set state = 'closed' where task_id = ?`, [first.taskId]);
  await giveTurns(database.db, 'promised', 1);
  expect((await placed(newcomer)).outcome).toBe('waiting');
  expect((await placed(second)).outcome).toBe('open');
});

test('an attempt fails with NoChannelAvailable if no channel can be reached', async () => {
  await open((base) => [{ ...base, baseUrl: 'http://127.0.0.1:1/api/v3' }]);
  const input = await upstream.input();
  await expect(attempt(input)).rejects.toMatchObject({ type: 'NoChannelAvailable' });
});

test('a lost job is not given up while its provider’s list cannot be read', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  await expect(attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  const { find } = upstream.deps.channels;
  const silent = { ...find('studio')?.channel, baseUrl: 'http://127.0.0.1:1/api/v3' } as Channel;
  const channels = createChannels(
    () => ({
      currency: 'CNY',
      channels: { studio: silent },
      models: {},
      superResolution: null,
      chargeMaxFactor: 3,
    }),
    () => 'key',
    () => Date.now(),
    { events: upstream.deps.events },
  );
  await expect(attempt(input, { channels })).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  expect(await placed(input)).toMatchObject({ outcome: 'open' });
});

test('a job that may be at a channel that left the catalogue is sent to no other channel', async () => {
  await open((base) => [{ ...base, id: 'first', honoursIdempotencyKey: false }, base]);
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  await expect(attempt(input)).rejects.toThrow();
  const { find, ...rest } = upstream.deps.channels;
  const channels = { ...rest, find: (id: string) => (id === 'first' ? undefined : find(id)) };
  await expect(attempt(input, { channels })).rejects.toMatchObject({ type: 'ChannelGone' });
  expect(await upstream.accepted(input.taskId)).toBe(1);
});

test('a create that a paused worker did not send is sent by the next attempt without a look-up', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false, hasList: false }]);
  const input = await upstream.input();
  const paused = channelsWith((provider) => ({
    async create(...given) {
      await new Promise((resolve) => setTimeout(resolve, 5_100));
      return provider.create(...given);
    },
  }));
  await expect(attempt(input, { channels: paused })).rejects.toMatchObject({ type: 'TooLate' });
  expect(upstream.deps.channels.restMs('studio', 'creates')).toBe(0);
  expect(await upstream.accepted(input.taskId)).toBe(0);
  expect(await placed(input, 1)).toMatchObject({ outcome: 'open' });
  expect(await upstream.accepted(input.taskId)).toBe(1);
});

test('a create is not repeated by a worker that was paused before it learned that it had taken the job over', async () => {
  await open();
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  await expect(attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  const requests = await upstream.requests();
  const paused = new Proxy(database.db, {
    get: (db, name) => (name === 'raw' ? raw : Reflect.get(db, name)),
  });
  const raw = async (statement: string, values: Knex.ValueDict) => {
    const answer = await database.db.raw(statement, values);
    if (statement.includes('set attempt =')) await pause(5_100);
    return answer;
  };
  await expect(attempt(input, { db: paused })).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  expect(await upstream.requests()).toBe(requests);
  expect(await placed(input, 1)).toMatchObject({ outcome: 'open' });
  expect(await upstream.accepted(input.taskId)).toBe(1);
});

describe('if the reply of a create was lost and its repetition is refused', () => {
  const refusals = [
    [400, 'InvalidParameter.content'],
    [409, 'IdempotencyKeyInProgress'],
    [425, 'TooEarly'],
  ] as const;

  test.each(refusals)('with %i, the first job is found and kept', async (status, code) => {
    await open();
    const create = [
      { lose_reply: true, times: 1 },
      { status, code, times: 2 },
    ];
    const input = await upstream.input({ create });
    expect(await placed(input)).toMatchObject({ outcome: 'open' });
    expect(await upstream.accepted(input.taskId)).toBe(1);
  });

  test('and the provider has no list, an operator is told that the outcome is unknown', async () => {
    await open((base) => [{ ...base, hasList: false }]);
    const create = [
      { lose_reply: true, times: 1 },
      { status: 400, code: 'InvalidParameter.content', times: 100 },
    ];
    const input = await upstream.input({ create });
    const report = { failure: { code: 'submission_unknown' } };
    for (let sent = 1; sent <= 2; sent += 1)
      await expect(attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
    await sentEarlier(database.db, 140, input.taskId);
    expect(await placed(input)).toMatchObject({ outcome: 'rejected', report });
    expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
    // The job may run, so it is cancelled after the end of the task.
    expect(await findJob(database.db, input)).toMatchObject({ state: 'sending' });
  });
});

test('a create without an idempotency key is not repeated after the catalogue says that keys are honoured', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  await expect(attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  const channels = channelsWith(() => ({ repeatsAreSafe: true }));
  const requests = await upstream.requests();
  for (let n = 0; n < 20; n += 1) {
    const job = await attempt(input, { channels }).catch(() => null);
    if (job?.outcome === 'open') break;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  expect(await findJob(database.db, input)).toMatchObject({ state: 'open' });
  expect(await upstream.requests()).toBe(requests);
});

test('if a provider has neither a list nor idempotency keys, a lost create fails the task and is not repeated', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false, hasList: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  const unknown = { type: 'SubmissionUnknown' };
  await expect(attempt(input)).rejects.toMatchObject(unknown);
  // The first attempt could still get its answer, and wait for the database to store it.
  await sentEarlier(database.db, 100, input.taskId);
  await expect(attempt(input)).rejects.toMatchObject(unknown);
  await sentEarlier(database.db, 100, input.taskId);
  expect((await attempt(input)).outcome).toBe('rejected');
  expect(await upstream.accepted(input.taskId)).toBe(1);
  expect((await findJob(database.db, input))?.refusal?.code).toBe('submission_unknown');
  // The job may run, so its row stays in the state `sending`. Another attempt is rejected again,
  // and the reconciler still tries to cancel the job.
  expect((await placed(input)).outcome).toBe('rejected');
  await database
    .db('jobs')
    .where({ task_id: input.taskId })
    .update({ owes: 'cancel', due_at: new Date() });
  expect(await findJob(database.db, input)).toMatchObject({ state: 'sending', cancel: 'wanted' });
});

test.each(['before', 'after'] as const)(
  'the answer of a create is stored as soon as the database is back, if its connection is cut %s storing',
  async (when) => {
    await open((base) => [{ ...base, honoursIdempotencyKey: false, hasList: false }]);
    await upstream.script({ ignore_idempotency_key: true });
    const cutter = await startCutter(database.url);
    const db = connect({ url: cutter.url, poolMax: 1, applicationName: 'cut' });
    try {
      const input = await upstream.input();
      cutter.cutAt('store_opened', when, 2);
      expect(await attempt(input, { db })).toMatchObject({ outcome: 'open' });
      expect(cutter.hasCut()).toBe(true);
      expect(await upstream.accepted(input.taskId)).toBe(1);
    } finally {
      await db.destroy();
      await cutter.close();
    }
  },
);

test.each([
  ['its disk is full', '53100'],
  ['it is out of memory', '53200'],
  ['it cannot read a file', '58030'],
])(
  'the answer of a create is stored although the database once answers that %s (%s)',
  async (_, state) => {
    await open((base) => [{ ...base, honoursIdempotencyKey: false, hasList: false }]);
    await upstream.script({ ignore_idempotency_key: true });
    const input = await upstream.input();
    // A sequence also counts attempts that are rolled back.
    await database.db.raw(`
      create sequence opened;
      create function fail_once() returns trigger language plpgsql as $$ begin
        if nextval('opened') = 1 then raise exception using errcode = '${state}'; end if;
        return new;
      end $$;
      create trigger fail_once before update on jobs for each row
        when (old.upstream_id is null and new.upstream_id is not null) execute function fail_once()`);
    try {
      expect(await attempt(input)).toMatchObject({ outcome: 'open' });
      const { rows } = await database.db.raw('select last_value as attempts from opened');
      expect(rows).toEqual([{ attempts: 2 }]);
    } finally {
      await database.db.raw('drop function fail_once cascade; drop sequence opened');
    }
    expect(await upstream.accepted(input.taskId)).toBe(1);
  },
);

describe('at a provider with neither a list nor keys, behind a connection that is cut', () => {
  const keyless = { honoursIdempotencyKey: false, hasList: false };

  async function cut<T>(statement: string, play: (db: Knex) => Promise<T>): Promise<T> {
    const cutter = await startCutter(database.url);
    const db = connect({ url: cutter.url, poolMax: 1, applicationName: 'cut' });
    try {
      cutter.cutAt(statement, statement === 'take_slot' ? 'after' : 'before', 1);
      const result = await play(db);
      expect(cutter.hasCut()).toBe(true);
      return result;
    } finally {
      await db.destroy();
      await cutter.close();
    }
  }

  test('a refusal is kept until the database is back, and the next channel gets the job', async () => {
    await open((base) => [
      { ...base, ...keyless },
      { ...base, id: 'second' },
    ]);
    const create = { status: 429, code: 'ServerOverloaded', times: 1 };
    const input = await upstream.input({ create });
    const job = await cut("when 'sending' then 'planned'", (db) => attempt(input, { db }));
    expect(job).toMatchObject({ outcome: 'open', channel: 'second' });
  });

  test('a job whose slot was taken without an answer is sent by the next attempt', async () => {
    await open((base) => [{ ...base, ...keyless }]);
    const input = await upstream.input();
    await cut('take_slot', (db) => expect(attempt(input, { db })).rejects.toThrow());
    expect(await findJob(database.db, input)).toMatchObject({ state: 'planned', sentAt: null });
    expect(await placed(input)).toMatchObject({ outcome: 'open' });
    expect(await upstream.accepted(input.taskId)).toBe(1);
  });
});

test('a refusal of the caller’s input fails the job, and no second channel is tried', async () => {
  await open((base) => [base, { ...base, id: 'second' }]);
  const input = await upstream.input({
    create: { status: 400, code: 'InputTextSensitiveContentDetected', times: 1 },
  });
  const job = await placed(input, 1);
  expect(job).toMatchObject({ outcome: 'rejected', report: { status: 'failed' } });
  expect(await upstream.requests()).toBe(1);
  expect(await findJob(database.db, input)).toMatchObject({
    upstreamId: null,
    report: null,
    refusal: {
      code: 'InputTextSensitiveContentDetected',
      sentence: expect.stringContaining('prompt'),
    },
  });
});

test('an accepted job does not keep the refusal of an earlier attempt', async () => {
  await open();
  const input = await upstream.input({
    create: { status: 400, code: 'InputTextSensitiveContentDetected', times: 1 },
  });
  expect(await placed(input, 1)).toMatchObject({ outcome: 'rejected' });
  // The worker died before Temporal knew of the refusal.
  expect(await placed(input, 1)).toMatchObject({ outcome: 'open' });
  expect(await findJob(database.db, input)).toMatchObject({ state: 'open', refusal: null });
});

test('the event of a refused create names the refused parameter', async () => {
  await open();
  const input = await upstream.input({ rnder: 'none' });
  expect(await placed(input, 1)).toMatchObject({ outcome: 'rejected' });
  const refused = { operation: 'create', outcome: 'caller', code: 'InvalidParameter' };
  expect(upstream.events).toContainEqual({
    name: 'upstream',
    args: [expect.objectContaining({ ...refused, param: 'studio.rnder', taskId: input.taskId })],
  });
});

test.each([
  ['is down', (base: Channel) => ({ ...base, baseUrl: 'http://127.0.0.1:1/api/v3' })],
  ['refuses our key', (base: Channel) => ({ ...base, apiKeyEnv: 'OTHER' })],
])('a channel that %s is skipped', async (_, broken) => {
  await open((base) => [broken({ ...base, id: 'first' }), base]);
  const input = await upstream.input();
  expect(await placed(input, 1)).toMatchObject({ outcome: 'open', channel: 'studio' });
  expect(await upstream.accepted(input.taskId)).toBe(1);
});

test.each([
  ['overloaded', { status: 429, code: 'ServerOverloaded', times: 1 }],
  ['out of credit', { status: 403, code: 'AccountOverdueError', times: 1 }],
  ['over its quota', { status: 429, code: 'QuotaExceeded', times: 1 }],
  ['unavailable', { status: 503, code: 'ServiceUnavailable', times: 1 }],
])('if a channel is %s, the next channel gets the job', async (_, create) => {
  await open((base) => [{ ...base, id: 'first' }, base]);
  const input = await upstream.input({ create });
  expect(await placed(input, 1)).toMatchObject({ outcome: 'open', channel: 'studio' });
  expect(await upstream.accepted(input.taskId)).toBe(1);
});

test('a channel is paused after five failed creates', async () => {
  await open((base) => [{ ...base, baseUrl: 'http://127.0.0.1:1/api/v3', id: 'first' }, base]);
  for (let n = 0; n < 8; n += 1) await placed(await upstream.input(), 1);
  const tried = upstream.events.filter(
    ({ name, args }) => name === 'upstream' && (args[0] as { channel: string }).channel === 'first',
  );
  expect(tried).toHaveLength(5);
});

test('a job that may be at the first channel is never offered to the second channel', async () => {
  await open((base) => [{ ...base, id: 'first' }, base]);
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  expect(await placed(input)).toMatchObject({ outcome: 'open', channel: 'first' });
  expect(await upstream.accepted(input.taskId)).toBe(1);
});

/** A channel whose creates wait until the test answers them. */
async function aSlowChannel() {
  const answers: ((status: number, body: object) => void)[] = [];
  const host = await serve((request, response) => {
    request.resume().on('end', () => {
      answers.push((status, body) => response.writeHead(status).end(JSON.stringify(body)));
    });
  });
  return { answers, baseUrl: `http://${host}`, requestTimeoutMs: 30_000 };
}

test('a late refusal of an earlier attempt does not change the job of the next attempt', async () => {
  const { answers, ...slow } = await aSlowChannel();
  await open((base) => [{ ...base, ...slow, id: 'slow' }, base]);
  const input = await upstream.input();
  const givenUp = attempt(input);
  givenUp.catch(() => undefined);
  await until('the first create arrived', () => answers.length === 1);
  // The worker of the first attempt does not reach Temporal, so Temporal starts a second attempt.
  const next = upstream.attempt(input, {}, 2);
  await until('the second create arrived', () => answers.length === 2);
  answers[0]?.(429, { error: { code: 'ServerOverloaded' } });
  await expect(givenUp).rejects.toMatchObject({ type: 'Superseded' });
  answers[1]?.(200, { id: 'cgt-1' });
  expect(await next).toEqual({ outcome: 'open', channel: 'slow', upstreamId: 'cgt-1' });
  expect((await findJob(database.db, input))?.state).toBe('open');
  expect(await upstream.accepted(input.taskId)).toBe(0);
});

test('a late refusal of an attempt before a reset of the workflow does not change the job of the attempt after it', async () => {
  const { answers, ...slow } = await aSlowChannel();
  await open((base) => [{ ...base, ...slow, id: 'slow' }, base]);
  const input = await upstream.input();
  const before = upstream.attempt(input, {}, 1, 'before');
  before.catch(() => undefined);
  await until('the first create arrived', () => answers.length === 1);
  const after = upstream.attempt(input, {}, 1, 'after');
  await until('the second create arrived', () => answers.length === 2);
  answers[0]?.(429, { error: { code: 'ServerOverloaded' } });
  await expect(before).rejects.toMatchObject({ type: 'Superseded' });
  answers[1]?.(200, { id: 'cgt-2' });
  expect(await after).toEqual({ outcome: 'open', channel: 'slow', upstreamId: 'cgt-2' });
  expect(await upstream.accepted(input.taskId)).toBe(0);
});

test('a job whose repeated create was refused is offered to no other channel while the list may not show it', async () => {
  await open((base) => [
    { ...base, id: 'keyed', listLagMs: 30_000 },
    { ...base, id: 'other' },
  ]);
  const input = await upstream.input();
  const fates = ['ambiguous', 'ambiguous', 'caller'] as const;
  let creates = 0;
  const keyed: Partial<Provider> = {
    async create() {
      const fate = fates[creates] ?? 'caller';
      creates += 1;
      throw new UpstreamFault(fate, '', 'Refused.');
    },
    list: async () => ({ jobs: [], isComplete: true, sinceMs: 0 }),
  };
  const channels: WorkerDeps['channels'] = {
    ...channelsWith((_provider, id) => (id === 'keyed' ? keyed : {})),
    // Repeated creates do not wait for the end of a rest.
    restMs: (id) => (id === 'keyed' && creates > 0 ? 30_000 : 0),
  };
  const again = (number: number) => upstream.attempt(input, { channels }, number);
  const unknown = { type: 'SubmissionUnknown' };
  await expect(again(1)).rejects.toMatchObject(unknown);
  await sentEarlier(database.db, 60, input.taskId);
  // The second create may have made a job a moment ago.
  await expect(again(2)).rejects.toMatchObject(unknown);
  expect(await again(3)).toMatchObject({ outcome: 'rejected' });
  expect(await upstream.accepted(input.taskId)).toBe(0);
  expect(await findJob(database.db, input)).toMatchObject({ state: 'sending' });
});

test('if two attempts change a job at the same time, an accepted create is always recorded', async () => {
  const busy = { error: { code: 'ServerOverloaded' } };
  for (let n = 0; n < 5; n += 1) {
    const [{ answers: first, ...one }, { answers: second, ...two }] = [
      await aSlowChannel(),
      await aSlowChannel(),
    ];
    await open((base) => [
      { ...base, ...one, id: `first ${n}` },
      { ...base, ...two, id: `second ${n}` },
    ]);
    const input = await upstream.input();
    const earlier = attempt(input).catch(() => null);
    await until('the first create arrived', () => first.length === 1);
    // Both attempts wait for this lock. Then the refusal of the earlier attempt is stored first.
    const lock = await database.db.transaction();
    await lock.raw('select 1 from jobs where task_id = ? for update', [input.taskId]);
    const waiting = (count: number) => () => waitersOf(database.db, count);
    first[0]?.(429, busy);
    await until('the earlier attempt waits', waiting(1));
    const later = upstream.attempt(input, {}, 2).catch(() => null);
    await until('the later attempt waits', waiting(2));
    await lock.commit();
    await until('the second channel has a create', () => second.length > 0);
    await Promise.race([later, until('it has another one', () => second.length > 1)]);
    second[0]?.(429, busy);
    const accepted = second.length > 1;
    second[1]?.(200, { id: `cgt-${n}` });
    await Promise.all([earlier, later]);
    const { state, upstreamId } = (await findJob(database.db, input)) ?? {};
    expect([state, upstreamId]).toEqual(accepted ? ['open', `cgt-${n}`] : ['planned', null]);
    await upstream.close();
  }
  await open();
});

/** True if exactly this number of statements is waiting for a lock. */
async function waitersOf(db: Knex, count: number): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length === count;
}

test('jobs wait if their channel is full, and each of two waiting accounts gets one of two freed slots', async () => {
  await open((base) => [{ ...base, id: 'gated', jobsInFlightMax: 2 }]);
  const orders = [];
  for (const accountId of ['a', 'a', 'a', 'a', 'a', 'b']) {
    orders.push(await upstream.input({}, { accountId }));
  }
  const outcomes = [];
  for (const input of orders) outcomes.push((await placed(input)).outcome);
  expect(outcomes).toEqual(['open', 'open', 'waiting', 'waiting', 'waiting', 'waiting']);
  expect(await giveTurns(database.db, 'gated', 2)).toEqual([]);

  await database.db.raw(
    `update jobs set state = 'closed' where channel = 'gated' and state = 'open'`,
  );
  const turns = await giveTurns(database.db, 'gated', 2);
  expect(new Set(turns.map(({ taskId }) => taskId))).toEqual(
    new Set([orders[2]?.taskId, orders[5]?.taskId]),
  );
  expect((await placed(orders[5] as JobInput)).outcome).toBe('open');
});

async function jobsAtStudio(): Promise<readonly string[]> {
  const list = await fetch(`${upstream.studio.url}/api/v3/contents/generations/tasks`, {
    headers: { authorization: 'Bearer studio-key-for-tests' },
  });
  const { items } = (await list.json()) as { items: { status: string }[] };
  return items.map(({ status }) => status);
}

test('a job is cancelled upstream even if the reply to its create was lost', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const input = await upstream.input({ queue_s: 600, create: { lose_reply: true, times: 1 } });
  await expect(attempt(input)).rejects.toThrow();
  expect((await findJob(database.db, input))?.state).toBe('sending');
  await createFollowActivities(upstream.deps).cancelJob(input);
  expect(await jobsAtStudio()).toEqual(['cancelled']);
});

test('a job accepted after the end of its task is cancelled and stays closed', async () => {
  await open();
  const input = await upstream.input({ queue_s: 600 });
  const channels = channelsWith((provider) => ({
    async create(...given) {
      await database.db.raw(`update jobs set state = 'closed' where task_id = ?`, [input.taskId]);
      return provider.create(...given);
    },
  }));
  await attempt(input, { channels });
  expect((await findJob(database.db, input))?.state).toBe('closed');
  expect(await jobsAtStudio()).toEqual(['cancelled']);
});

describe('a job that a channel accepts after a later attempt has left the channel', () => {
  /** The first cancels fail. */
  async function late(over: Partial<WorkerDeps> = {}, failures = 0) {
    await open((base) => [base, { ...base, id: 'second' }]);
    const input = await upstream.input({ queue_s: 600 });
    let left = failures;
    const channels = channelsWith((provider) => ({
      // This attempt is frozen until a later attempt has sent the job to the second channel.
      async create(...given) {
        await database.db('jobs').where({ task_id: input.taskId }).update({ channel: 'second' });
        return provider.create(...given);
      },
      async cancel(...given) {
        left -= 1;
        if (left >= 0) throw new UpstreamFault('ambiguous', '', 'It answered with 500.');
        return provider.cancel(...given);
      },
    }));
    const placing = attempt(input, { ...over, channels });
    await expect(placing).rejects.toMatchObject({ type: 'SecondJob' });
    expect(await findJob(database.db, input)).toMatchObject({
      ...{ state: 'sending', channel: 'second', upstreamId: null },
    });
    return upstream.events.filter(({ name }) => name === 'cancelGivenUp');
  }

  test.each([0, 1])('is cancelled there, also after %i failed cancels', async (failures) => {
    expect(await late({}, failures)).toEqual([]);
    expect(await jobsAtStudio()).toEqual(['cancelled']);
  });

  test('is named to an operator if it could not be cancelled before the worker stops', async () => {
    const [event, ...others] = await late({ stopping: AbortSignal.abort() }, 99);
    expect(event?.args[2]).toMatch(/second job cgt-/);
    expect(others).toEqual([]);
    expect(await jobsAtStudio()).toEqual(['queued']);
  });

  test('is named to an operator if its provider answers no cancel', async () => {
    await open();
    const input = await upstream.input();
    const { provider } = upstream.deps.channels.find('studio')!;
    const silent = { ...provider, cancel: () => new Promise<void>(() => undefined) };
    await cancelSecond(upstream.deps, input, silent, 'cgt-second', 100);
    const why = 'the second job cgt-second was not cancelled';
    const args = [input.taskId, input.kind, why];
    expect(upstream.events).toContainEqual({ name: 'cancelGivenUp', args });
  });
});

test('if a job has already ended, a new attempt returns the final report of the job', async () => {
  await open();
  const input = await upstream.input();
  const { taskId, kind } = input;
  await placed(input);
  const { channel, upstreamId } = (await findJob(database.db, input)) ?? {};
  const job = { kind, channel: channel ?? '', upstreamId: upstreamId ?? '' };
  const report = { ...job, status: 'failed' } as const;
  await storeReports(database.db, [{ taskId, kind, report }]);
  expect(await attempt(input)).toEqual({ outcome: 'ended', report });
});
