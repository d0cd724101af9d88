// Never twice: a job is placed against a studio that loses replies, answers late, cuts the
// connection and errs. Each attempt here is one attempt of the activity; the engine's retries are
// played by calling again.

import { createChannels } from '../../activities/channels';
import { createFollowActivities } from '../../activities/follow';
import type { SubmitDeps } from '../../activities/submit';
import { giveTurns, takePlace } from '../../src/db/job-gate';
import { findJob } from '../../src/db/jobs';
import { closeJobsOfEnded } from '../../src/db/sweep';
import { markSignalled, storeReports } from '../../src/db/watched-jobs';
import type { Channel } from '../../src/domain/catalogue';
import { statusMessages } from '../../src/domain/task';
import type { JobOrder, PlacedJob } from '../../workflows/messages';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { startUpstream, type Upstream } from '../support/upstream';

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

const attempt = (order: JobOrder, over: Partial<SubmitDeps> = {}): Promise<PlacedJob> =>
  upstream.attempt(order, over);

/** As the engine does: again until it is placed, with the gap that was asked for, shortened. */
async function placed(order: JobOrder, attemptsMax = 40): Promise<PlacedJob> {
  for (let n = 1; ; n += 1) {
    try {
      return await attempt(order);
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
  ['that does not, and is looked up by its list', false],
])('on a service %s', (_, honoursIdempotencyKey) => {
  test.each(faults)('%s ends in exactly one job', async (__, create) => {
    await open((base) => [{ ...base, honoursIdempotencyKey }]);
    if (!honoursIdempotencyKey) await upstream.script({ ignore_idempotency_key: true });
    const order = await upstream.order({ create });
    const job = await placed(order);
    expect(job.outcome).toBe('accepted');
    expect(await upstream.accepted(order.taskId)).toBe(1);
    expect(await placed(order)).toEqual(job);
    expect(await upstream.accepted(order.taskId)).toBe(1);
  });
});

test('jobs that look alike are told apart by their seed', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const orders = await Promise.all(
    [0, 1, 2, 3].map(() => upstream.order({ create: { lose_reply: true, times: 1 } })),
  );
  const jobs = await Promise.all(orders.map((order) => placed(order)));
  const ids = jobs.map((job) => (job.outcome === 'accepted' ? job.upstreamId : ''));
  expect(new Set(ids).size).toBe(4);
  for (const { taskId } of orders) expect(await upstream.accepted(taskId)).toBe(1);
});

test('when several lost jobs cannot be told apart, the task fails rather than run twice', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const lost = { create: { lose_reply: true, times: 1 } };
  const first = await upstream.order(lost);
  const second = await upstream.order(lost, { plan: first.plan });
  await Promise.all([first, second].map((order) => expect(attempt(order)).rejects.toThrow()));
  const outcomes = await Promise.all([placed(first), placed(second)]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ outcome: 'rejected', report: { failure: { ours: true } } });
  }
  expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
});

test('a job that may be another lost task’s is nobody’s: no customer is shown another’s video', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const never = await upstream.order({ create: { reset: true, times: 1 } });
  const arrived = await upstream.order(
    { create: { lose_reply: true, times: 1 } },
    { plan: never.plan },
  );
  for (const order of [never, arrived]) await expect(attempt(order)).rejects.toThrow();
  expect((await placed(never)).outcome).toBe('rejected');
  expect(await upstream.accepted(arrived.taskId)).toBe(1);
  expect(await upstream.accepted(never.taskId)).toBe(0);
});

test('a task that has ended is sent to nobody', async () => {
  await open();
  const order = await upstream.order();
  await database.db.raw('update tasks set finished_at = now() where id = ?', [order.taskId]);
  await expect(attempt(order)).rejects.toThrow();
  expect(await upstream.accepted(order.taskId)).toBe(0);
});

test('a task stays in the line of a full channel though another one refused it', async () => {
  await open((base) => [
    { ...base, id: 'full', jobsInFlightMax: 1 },
    { ...base, id: 'down', baseUrl: 'http://127.0.0.1:1/api/v3', jobsInFlightMax: 5 },
  ]);
  const first = await upstream.order();
  const second = await upstream.order();
  expect((await placed(first)).outcome).toBe('accepted');
  expect(await placed(second, 1)).toEqual({ outcome: 'waiting', channel: 'full' });
  await database.db.raw(`update jobs set state = 'closed' where task_id = ?`, [first.taskId]);
  expect(await giveTurns(database.db, 'full', 1)).toMatchObject([{ taskId: second.taskId }]);
  expect((await placed(second)).outcome).toBe('accepted');
});

test('a place that was promised is not given to a newcomer', async () => {
  await open((base) => [{ ...base, id: 'promised', jobsInFlightMax: 1 }]);
  const [first, told, newcomer] = [
    await upstream.order(),
    await upstream.order(),
    await upstream.order(),
  ];
  await placed(first);
  expect((await placed(told)).outcome).toBe('waiting');
  await database.db.raw(`update jobs set state = 'closed' where task_id = ?`, [first.taskId]);
  await markSignalled(database.db, await giveTurns(database.db, 'promised', 1));
  expect((await placed(newcomer)).outcome).toBe('waiting');
  expect((await placed(told)).outcome).toBe('accepted');
});

test('with no channel left the job waits for the first that may be asked again', async () => {
  await open((base) => [{ ...base, baseUrl: 'http://127.0.0.1:1/api/v3' }]);
  const order = await upstream.order();
  await expect(attempt(order)).rejects.toMatchObject({ type: 'NoChannelAvailable' });
});

test('a lost job is not given up because its list cannot be read just now', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  const order = await upstream.order({ create: { lose_reply: true, times: 1 } });
  await expect(attempt(order)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  const { find } = upstream.deps.channels;
  const silent = { ...find('studio')?.channel, baseUrl: 'http://127.0.0.1:1/api/v3' } as Channel;
  const channels = createChannels(
    () => ({ currency: 'CNY', channels: { studio: silent }, models: {}, superResolution: null }),
    () => 'key',
    () => Date.now(),
  );
  await expect(attempt(order, { channels })).rejects.toMatchObject({ type: 'SubmissionUnknown' });
  expect(await placed(order)).toMatchObject({ outcome: 'accepted' });
});

test('a job that may lie with a channel that has left the catalogue goes to no other', async () => {
  await open((base) => [{ ...base, id: 'first', honoursIdempotencyKey: false }, base]);
  const order = await upstream.order({ create: { lose_reply: true, times: 1 } });
  await expect(attempt(order)).rejects.toThrow();
  const { find, ...rest } = upstream.deps.channels;
  const channels = { ...rest, find: (id: string) => (id === 'first' ? undefined : find(id)) };
  await expect(attempt(order, { channels })).rejects.toMatchObject({ type: 'ChannelGone' });
  expect(await upstream.accepted(order.taskId)).toBe(1);
});

test('a worker that was held up after its note does not send', async () => {
  await open();
  const order = await upstream.order();
  let asked = 0;
  const now = () => Date.now() + 6_000 * asked++;
  await expect(attempt(order, { now })).rejects.toMatchObject({ type: 'TooLate' });
  expect(await upstream.accepted(order.taskId)).toBe(0);
});

test('a service without a list and without keys leaves the task failed, not doubled', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false, hasList: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const order = await upstream.order({ create: { lose_reply: true, times: 1 } });
  expect((await placed(order)).outcome).toBe('rejected');
  expect(await upstream.accepted(order.taskId)).toBe(1);
});

test('the caller’s fault ends it on the first channel', async () => {
  await open((base) => [base, { ...base, id: 'second' }]);
  const order = await upstream.order({
    create: { status: 400, code: 'InputTextSensitiveContentDetected', times: 1 },
  });
  const job = await placed(order, 1);
  expect(job).toMatchObject({ outcome: 'rejected', report: { status: 'failed' } });
  expect(await upstream.requests()).toBe(1);
});

test.each([
  ['is down', (base: Channel) => ({ ...base, baseUrl: 'http://127.0.0.1:1/api/v3' })],
  ['refuses our key', (base: Channel) => ({ ...base, apiKeyEnv: 'OTHER' })],
])('a channel that %s is passed over', async (_, broken) => {
  await open((base) => [broken({ ...base, id: 'first' }), base]);
  const order = await upstream.order();
  expect(await placed(order, 1)).toMatchObject({ outcome: 'accepted', channel: 'studio' });
  expect(await upstream.accepted(order.taskId)).toBe(1);
});

test.each([
  ['overloaded', { status: 429, code: 'ServerOverloaded', times: 1 }],
  ['out of credit', { status: 403, code: 'AccountOverdueError', times: 1 }],
  ['over its quota', { status: 429, code: 'QuotaExceeded', times: 1 }],
  ['unavailable', { status: 503, code: 'ServiceUnavailable', times: 1 }],
])('a channel that is %s hands the job to the next', async (_, create) => {
  await open((base) => [{ ...base, id: 'first' }, base]);
  const order = await upstream.order({ create });
  expect(await placed(order, 1)).toMatchObject({ outcome: 'accepted', channel: 'studio' });
  expect(await upstream.accepted(order.taskId)).toBe(1);
});

test('a channel that keeps failing is left alone for a while', async () => {
  await open((base) => [{ ...base, baseUrl: 'http://127.0.0.1:1/api/v3', id: 'first' }, base]);
  for (let n = 0; n < 8; n += 1) await placed(await upstream.order(), 1);
  const tried = upstream.events.filter(
    ({ name, args }) => name === 'upstream' && args[0] === 'first',
  );
  expect(tried).toHaveLength(5);
});

test('a job that may lie with the first channel is never offered to the second', async () => {
  await open((base) => [{ ...base, id: 'first' }, base]);
  const order = await upstream.order({ create: { lose_reply: true, times: 1 } });
  expect(await placed(order)).toMatchObject({ outcome: 'accepted', channel: 'first' });
  expect(await upstream.accepted(order.taskId)).toBe(1);
});

test('a full channel makes jobs wait, and gives turns to each account in its turn', async () => {
  await open((base) => [{ ...base, id: 'gated', jobsInFlightMax: 2 }]);
  const orders = [];
  for (const accountId of ['a', 'a', 'a', 'a', 'a', 'b']) {
    orders.push(await upstream.order({}, { accountId }));
  }
  const outcomes = [];
  for (const order of orders) outcomes.push((await placed(order)).outcome);
  expect(outcomes).toEqual(['accepted', 'accepted', 'waiting', 'waiting', 'waiting', 'waiting']);
  expect(await giveTurns(database.db, 'gated', 2)).toEqual([]);

  await database.db.raw(
    `update jobs set state = 'closed' where channel = 'gated' and state = 'open'`,
  );
  const turns = await giveTurns(database.db, 'gated', 2);
  expect(turns.map(({ taskId }) => taskId)).toEqual([orders[2]?.taskId, orders[5]?.taskId]);
  expect((await placed(orders[5] as JobOrder)).outcome).toBe('accepted');
});

test('a cancelled job is gone upstream, also one whose reply was lost', async () => {
  await open((base) => [{ ...base, honoursIdempotencyKey: false }]);
  await upstream.script({ ignore_idempotency_key: true });
  const order = await upstream.order({ queue_s: 600, create: { lose_reply: true, times: 1 } });
  await expect(attempt(order)).rejects.toThrow();
  expect((await findJob(database.db, order))?.state).toBe('sending');
  await createFollowActivities(upstream.deps).cancelJob(order);
  const list = await fetch(`${upstream.studio.url}/api/v3/contents/generations/tasks`, {
    headers: { authorization: 'Bearer studio-key-for-tests' },
  });
  const { items } = (await list.json()) as { items: { status: string }[] };
  expect(items.map(({ status }) => status)).toEqual(['cancelled']);
});

test('a place noted in the moment its task ended is free again after a while', async () => {
  await open((base) => [{ ...base, id: 'one', jobsInFlightMax: 1 }]);
  const [ended, next] = [await upstream.order(), await upstream.order()];
  const to = { channel: 'one', upstreamModel: 'studio-2.0' };
  expect(await takePlace(database.db, ended, to, 1)).toBe('taken');
  expect((await placed(next, 1)).outcome).toBe('waiting');
  await database.db.raw(`update tasks set finished_at = now() - interval '1 hour' where id = ?`, [
    ended.taskId,
  ]);
  await closeJobsOfEnded(database.db, 7_200);
  expect((await placed(next, 1)).outcome).toBe('waiting');
  await closeJobsOfEnded(database.db, 600);
  expect((await placed(next, 1)).outcome).toBe('accepted');
});

test('an attempt that finds its job ended answers how', async () => {
  await open();
  const order = await upstream.order();
  const { taskId, kind } = order;
  await placed(order);
  const { channel = '', upstreamId } = (await findJob(database.db, order)) ?? {};
  const report = { kind, channel, upstreamId: upstreamId ?? '', status: 'failed' } as const;
  await storeReports(database.db, [{ taskId, kind, report }], statusMessages);
  expect(await attempt(order)).toEqual({ outcome: 'ended', report });
});
