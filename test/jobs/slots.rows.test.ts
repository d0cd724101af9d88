// Tests the slots of limited channels in a real PostgreSQL. The tests show which waiting job gets a
// free slot. No job may wait for ever after a change of the catalogue or after an unused turn.

import { beginPlacing, claimTurns, endTurn } from '../../src/jobs/owed.rows';
import { findJob } from '../../src/jobs/queries.rows';
import {
  giveTurns,
  releaseStranded,
  takeBackTurns,
  takeSlot as takeSlotNow,
} from '../../src/jobs/slots.rows';
import {
  closeReported,
  forgetSending,
  storeOpened,
  storeReports,
  waitForTurn,
} from '../../src/jobs/steps.rows';
import { takeOver } from '../../src/jobs/take-over.rows';
import { pauseChannel, resumeChannel } from '../../src/jobs/watchers.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { aJobInput, aSuccess, aTaskId } from '../support/builders';
import { createTestDatabase, statementsWaiting, type TestDatabase } from '../support/database';
import { until } from '../support/until';
import { insertTaskRow, planJob } from '../support/upstream';

let database: TestDatabase;
let channelsMade = 0;
beforeAll(async () => {
  database = await createTestDatabase(10);
});
afterAll(() => database?.drop());

/** Returns a new channel, so that tests do not share slots. */
const aChannel = () => `channel-${++channelsMade}`;
const to = (channel: string) => ({ channel, upstreamModel: 'm' });
/** Takes a slot like an attempt that has just begun. */
const takeSlot: typeof takeSlotNow = async (db, job, ...more) => {
  await beginPlacing(db, job);
  return takeSlotNow(db, job, ...more);
};

async function aJob(accountId = 'acct_test') {
  const job = aJobInput({ accountId });
  await insertTaskRow(database.db, job.taskId);
  await planJob(database.db, job);
  return job;
}

async function aWaitingJob(channels: readonly string[], accountId?: string) {
  const job = await aJob(accountId);
  expect(await waitForTurn(database.db, job, channels)).toBe(true);
  return job;
}

/** Moves the waiting time and the turn of this job into the past. */
const age = (taskId: string, seconds: number) =>
  database.db.raw(
    `update jobs set turn_at = turn_at - make_interval(secs => ?),
            waiting_since = waiting_since - make_interval(secs => ?) where task_id = ?`,
    [seconds, seconds, taskId],
  );
const turns = async (channel: string, slots: number | null) =>
  (await giveTurns(database.db, channel, slots)).map(({ taskId }) => taskId);

test('a waiting job gets its turn when any of its channels has a free slot', async () => {
  const [slow, quick] = [aChannel(), aChannel()];
  await takeSlot(database.db, await aJob(), to(slow), 1, 'first');
  const waiting = await aWaitingJob([slow, quick]);
  expect(await turns(slow, 1)).toEqual([]);
  expect(await turns(quick, 1)).toEqual([waiting.taskId]);
  expect((await takeSlot(database.db, waiting, to(slow), 1, 'first')).outcome).toBe('full');
  expect((await takeSlot(database.db, waiting, to(quick), 1, 'first')).outcome).toBe('taken');
});

test('a later task does not overtake a waiting task', async () => {
  const [slow, quick] = [aChannel(), aChannel()];
  const first = await aWaitingJob([slow, quick]);
  const later = await aJob();
  expect((await takeSlot(database.db, later, to(quick), 1, 'first')).outcome).toBe('full');
  expect(await waitForTurn(database.db, later, [slow, quick])).toBe(true);
  expect(await turns(quick, 1)).toEqual([first.taskId]);
});

test('within an account the job that has waited longest gets the next turn', async () => {
  const channel = aChannel();
  const jobs = [];
  for (let n = 0; n < 4; n += 1) jobs.push(await aWaitingJob([channel]));
  await age(jobs[2]?.taskId ?? '', 60);
  const order = [jobs[2], jobs[0], jobs[1], jobs[3]];
  for (const job of order) {
    const [next] = await turns(channel, 1);
    expect(next).toBe(job?.taskId);
    await takeSlot(database.db, job ?? aJobInput(), to(channel), 1, 'first');
    await database.db('jobs').where({ task_id: next }).update({ state: 'closed' });
  }
});

test('a job that does not use its turn blocks no other job, and gets another turn later', async () => {
  const channel = aChannel();
  const stuck = await aWaitingJob([channel]);
  const next = await aWaitingJob([channel], 'acct_test_other');
  expect(await turns(channel, 1)).toEqual([stuck.taskId]);
  expect(await turns(channel, 1)).toEqual([]);
  await age(stuck.taskId, 31);
  expect(await turns(channel, 1)).toEqual([next.taskId]);
  expect((await takeSlot(database.db, next, to(channel), 1, 'first')).outcome).toBe('taken');
  await database.db('jobs').where({ task_id: next.taskId }).update({ state: 'closed' });
  expect(await turns(channel, 1)).toEqual([]);
  // The unused turn also does not block a job that never waited.
  const newcomer = await aJob();
  expect((await takeSlot(database.db, newcomer, to(channel), 2, 'first')).outcome).toBe('taken');
  await age(stuck.taskId, 31);
  expect(await turns(channel, 2)).toEqual([stuck.taskId]);
});

test('a waiting job past its deadline reserves no slot, and the next round gives the turn to another', async () => {
  const { db } = database;
  const channel = aChannel();
  const late = await aWaitingJob([channel]);
  const other = await aWaitingJob([channel]);
  const past = db.raw(`now() - interval '1 second'`);
  await db('tasks').where({ id: late.taskId }).update({ deadline_at: past });
  expect(await turns(channel, 1)).toEqual([]);
  const row = await db('jobs').where({ task_id: late.taskId }).first();
  expect(row).toMatchObject({ state: 'waiting', channel: null, owes: null, due_at: null });
  expect(await turns(channel, 1)).toEqual([other.taskId]);
});

test('the end of a turn leaves a newer turn of the job owed', async () => {
  const channel = aChannel();
  const job = await aWaitingJob([channel]);
  const owes = async () =>
    (await database.db('jobs').where({ task_id: job.taskId }).first('owes'))?.owes;
  await turns(channel, 1);
  await endTurn(database.db, job);
  expect(await owes()).toBe('turn');
  await age(job.taskId, 31);
  await endTurn(database.db, job);
  expect(await owes()).toBeNull();
});

test('a turn that a job gets while its attempt looks elsewhere is kept for its next attempt', async () => {
  const { db } = database;
  const [slow, quick] = [aChannel(), aChannel()];
  const job = await aWaitingJob([quick, slow]);
  await beginPlacing(db, job);
  expect((await takeSlotNow(db, job, to(quick), 0, 'first')).outcome).toBe('full');
  expect(await turns(quick, 1)).toEqual([job.taskId]);
  expect((await takeSlotNow(db, job, to(slow), 0, 'first')).outcome).toBe('full');
  const before = Date.now();
  expect(await waitForTurn(db, job, [quick, slow], 5)).toBe(true);
  const row = await db('jobs').where({ task_id: job.taskId }).first<{ due_at: Date }>();
  // The attempt has the time to end.
  expect(row?.due_at.getTime()).toBeGreaterThan(before + 900);
  const due = async () => (await claimTurns(db)(100)).map(({ taskId }) => taskId);
  await until('the workflow is due to be told', async () => (await due()).includes(job.taskId));
  const later = await aJob();
  expect((await takeSlot(db, later, to(quick), 1, 'first')).outcome).toBe('full');
  expect((await takeSlot(db, job, to(quick), 1, 'next')).outcome).toBe('taken');
});

test('a turn that an attempt could not use is free for another job at once', async () => {
  const { db } = database;
  const channel = aChannel();
  const job = await aWaitingJob([channel]);
  await turns(channel, 1);
  await age(job.taskId, 10);
  await beginPlacing(db, job);
  expect(await waitForTurn(db, job, [channel], 5)).toBe(true);
  const row = await db('jobs').where({ task_id: job.taskId }).first();
  expect(row).toMatchObject({ owes: null, due_at: null, channel: null });
  const other = await aWaitingJob([channel]);
  expect(await turns(channel, 1)).toEqual([other.taskId]);
});

test('a job whose turn has expired can still take a free slot', async () => {
  const channel = aChannel();
  const late = await aWaitingJob([channel]);
  await turns(channel, 1);
  await age(late.taskId, 40);
  expect((await takeSlot(database.db, late, to(channel), 1, 'first')).outcome).toBe('taken');
});

test.each([1, null])(
  'an attempt takes no slot once a later one has queued the job (%p)',
  async (slots) => {
    const channel = aChannel();
    const job = await aWaitingJob([channel]);
    expect((await takeSlotNow(database.db, job, to(channel), slots, 'first')).outcome).toBe('full');
    expect((await findJob(database.db, job))?.state).toBe('waiting');
    expect(await turns(channel, slots)).toEqual([job.taskId]);
    expect((await takeSlotNow(database.db, job, to(channel), slots, 'first')).outcome).toBe('full');
    expect((await takeSlot(database.db, job, to(channel), slots, 'next')).outcome).toBe('taken');
  },
);

test('when the limit of a channel is removed, all waiting jobs get their turn', async () => {
  const channel = aChannel();
  await takeSlot(database.db, await aJob(), to(channel), 1, 'first');
  const waiting = [await aWaitingJob([channel]), await aWaitingJob([channel])];
  expect(await turns(channel, 1)).toEqual([]);
  const given = await turns(channel, null);
  expect(new Set(given)).toEqual(new Set(waiting.map(({ taskId }) => taskId)));
});

test('after the limit of a channel was lowered, no turn is given while too many jobs are running', async () => {
  const channel = aChannel();
  for (let n = 0; n < 3; n += 1) await takeSlot(database.db, await aJob(), to(channel), 3, 'first');
  await aWaitingJob([channel]);
  expect(await turns(channel, 1)).toEqual([]);
});

test.each([1, null])(
  'a paused channel with %p slots counts as full until it is resumed, and its other jobs are not touched',
  async (slots) => {
    const { db } = database;
    const [paused, other] = [aChannel(), aChannel()];
    const running = await aJob();
    await takeSlot(db, running, to(paused), null, 'first');
    expect(await pauseChannel(db, paused, 'Ann', 'key rotation')).toBe(true);
    expect(await pauseChannel(db, paused, 'Bob', 'again')).toBe(false);
    const next = await aJob();
    const takes = () => takeSlot(db, next, to(paused), slots && 2, 'first');
    expect((await takes()).outcome).toBe('full');
    expect(await waitForTurn(db, next, [paused])).toBe(true);
    const free = await aWaitingJob([paused, other]);
    expect(await turns(paused, slots && 9)).toEqual([]);
    expect(await turns(other, 1)).toEqual([free.taskId]);
    expect((await takeSlot(db, free, to(paused), slots && 9, 'first')).outcome).toBe('full');
    expect(await findJob(db, running)).toMatchObject({ state: 'sending' });
    expect(await resumeChannel(db, paused)).toBe(true);
    expect(await resumeChannel(db, paused)).toBe(false);
    expect(await turns(paused, slots && 9)).toEqual([next.taskId]);
    expect((await takes()).outcome).toBe('taken');
  },
);

test('a job stops waiting if none of its channels is in the catalogue, and other jobs keep waiting', async () => {
  const [gone, stays] = [aChannel(), aChannel()];
  const stranded = await aWaitingJob([gone]);
  const other = await aWaitingJob([gone, stays]);
  await releaseStranded(database.db, [stays]);
  expect((await findJob(database.db, stranded))?.state).toBe('planned');
  expect((await findJob(database.db, other))?.state).toBe('waiting');
});

test('a stranded job that is just being sent stays with its channel', async () => {
  const channel = aChannel();
  const job = await aWaitingJob([channel]);
  const sending = await database.db.transaction();
  await takeSlot(sending, job, to(channel), null, 'first');
  const released = releaseStranded(database.db, ['another']);
  await until('it waits for the lock', async () => (await statementsWaiting(database.db)) === 1);
  await sending.commit();
  await released;
  expect((await findJob(database.db, job))?.state).toBe('sending');
  const opened = { channel, upstreamId: aTaskId() };
  expect(await storeOpened(database.db, job, opened)).toBe('open');
});

test('a turn whose notification failed is given again at once', async () => {
  const channel = aChannel();
  const waiting = await aWaitingJob([channel]);
  await takeBackTurns(database.db, await giveTurns(database.db, channel, 1));
  expect(await turns(channel, 1)).toEqual([waiting.taskId]);
});

test('concurrent jobs never take more slots than the channel has', async () => {
  const channel = aChannel();
  const jobs = [];
  for (let n = 0; n < 20; n += 1) jobs.push(await aJob());
  const slots = await Promise.all(
    jobs.map((job) => takeSlot(database.db, job, to(channel), 5, 'first')),
  );
  expect(slots.filter(({ outcome }) => outcome === 'taken')).toHaveLength(5);
});

test('the close of a task waits for a job that takes its slot at the same moment, and closes it', async () => {
  const { db } = database;
  const accountId = await anAccountWith(db, `acct_${aTaskId()}`, 10_000_000);
  const taskId = aTaskId();
  await openNew(db, anOpening(accountId, taskId, 1_000_000));
  const job = aJobInput({ taskId, accountId });
  const sending = await db.transaction();
  const channel = aChannel();
  expect((await takeSlotNow(sending, job, to(channel), null, 'first')).outcome).toBe('taken');
  const closing = closeTask(db, aClosing(taskId, 1_000_000, null));
  await until('the close waits', async () => (await statementsWaiting(db)) === 1);
  await sending.commit();
  await closing;
  // The create may be on its way, so the job is looked up even if this worker dies now.
  expect(await findJob(db, job)).toMatchObject({ state: 'closed', cancel: 'wanted' });
  const placed = { channel, upstreamId: `job-of-${taskId}` };
  expect(await storeOpened(db, job, placed)).toBe('unwanted');
  // If this worker dies now, the reconciler cancels the job.
  expect(await findJob(db, job)).toMatchObject({ cancel: 'wanted' });
  expect((await takeSlot(db, job, to(aChannel()), null, 'first')).outcome).toBe('moved');
});

test('a repeated create that is answered after its generation has ended cancels nothing', async () => {
  const { db } = database;
  const job = await aJob();
  const channel = aChannel();
  const placed = { channel, upstreamId: `job-of-${job.taskId}` };
  await takeSlot(db, job, to(channel), null, 'first');
  await storeOpened(db, job, placed);
  await storeReports(db, [{ ...job, report: aSuccess() }]);
  await closeReported(db, job);
  expect(await storeOpened(db, job, placed)).toBe('open');
  expect(await findJob(db, job)).toMatchObject({ state: 'closed', cancel: null });
});

test('a running job that its provider queues again is still shown as running', async () => {
  const { db } = database;
  const job = await anOpenJob();
  const running = { ...aSuccess(), status: 'running' } as const;
  await storeReports(db, [{ ...job, report: running }]);
  const again = { ...job, report: { ...running, status: 'queued' } as const };
  expect(await storeReports(db, [again])).toEqual([again]);
  expect(await db('jobs').where({ task_id: job.taskId }).first()).toMatchObject({
    status: 'running',
  });
});

test('the first end of a job that is stored counts, and a later one plans no enhancement', async () => {
  const { db } = database;
  const job = await anOpenJob();
  await db.raw(
    `update tasks set plan = (plan::jsonb || '{"enhancement": {}}')::json where id = ?`,
    [job.taskId],
  );
  const failed = { ...job, report: { ...aSuccess(), status: 'failed' } as const };
  expect(await storeReports(db, [failed])).toEqual([failed]);
  expect(await storeReports(db, [{ ...job, report: aSuccess() }])).toEqual([]);
  expect(await findJob(db, job)).toMatchObject({ report: { status: 'failed' } });
  expect(await findJob(db, { ...job, kind: 'super_resolution' })).toBeNull();
});

async function anOpenJob() {
  const job = await aJob();
  const channel = aChannel();
  await takeSlot(database.db, job, to(channel), null, 'first');
  await storeOpened(database.db, job, { channel, upstreamId: `job-of-${job.taskId}` });
  return job;
}

test('an answer of a channel that a later attempt has left is not stored at the next channel', async () => {
  const { db } = database;
  const job = await aJob();
  const [left, next] = [aChannel(), aChannel()];
  await takeSlot(db, job, to(left), null, 'earlier');
  await takeOver(db, job, 'later');
  expect(await forgetSending(db, job, 'later')).toBe(true);
  const late = { channel: left, upstreamId: `late-${job.taskId}` };
  expect(await storeOpened(db, job, late)).toBe('second');
  await takeSlot(db, job, to(next), null, 'later');
  expect(await storeOpened(db, job, late)).toBe('second');
  const kept = { channel: next, upstreamId: `kept-${job.taskId}` };
  expect(await storeOpened(db, job, kept)).toBe('open');
  expect(await findJob(db, job)).toMatchObject(kept);
});

test('an upstream job of another task is told from a second job, wherever the job of this task is', async () => {
  const { db } = database;
  const [job, other] = [await aJob(), await aJob()];
  const channel = aChannel();
  const placed = { channel, upstreamId: `job-of-${other.taskId}` };
  await takeSlot(db, other, to(channel), null, 'first');
  expect(await storeOpened(db, other, placed)).toBe('open');
  await takeSlot(db, job, to(channel), null, 'earlier');
  expect(await storeOpened(db, job, placed)).toBe('not ours');
  await forgetSending(db, job, 'earlier');
  await takeSlot(db, job, to(aChannel()), null, 'later');
  expect(await storeOpened(db, job, placed)).toBe('not ours');
});

test('an attempt takes over a job in its current state, and the earlier attempt can no longer change the job', async () => {
  const { db } = database;
  const job = await aJob();
  const later = 'later';
  expect((await takeSlot(db, job, to(aChannel()), null, 'earlier')).outcome).toBe('taken');
  expect(await forgetSending(db, job, 'earlier')).toBe(true);
  expect(await takeOver(db, job, later)).toMatchObject({ state: 'planned' });
  const second = aChannel();
  expect((await takeSlot(db, job, to(second), null, 'earlier')).outcome).toBe('taken');
  expect(await takeOver(db, job, later)).toMatchObject({ state: 'sending', channel: second });
  expect(await forgetSending(db, job, 'earlier')).toBe(false);
  expect(await forgetSending(db, job, 'later')).toBe(true);
});

test('a turn whose transaction began before an attempt, and waited, is kept for the next attempt', async () => {
  const channel = aChannel();
  const job = await aWaitingJob([channel]);
  const lock = await database.db.transaction();
  await lock.raw(`select pg_advisory_xact_lock(hashtext('slots:${channel}'))`);
  const given = turns(channel, 1);
  await until('the turn waits', async () => (await statementsWaiting(database.db)) > 0);
  const began = performance.now();
  await beginPlacing(database.db, job);
  await lock.commit();
  expect(await given).toEqual([job.taskId]);
  const atWorkSeconds = (performance.now() - began) / 1_000;
  expect(await waitForTurn(database.db, job, [channel], atWorkSeconds)).toBe(true);
  const row = await database.db('jobs').where({ task_id: job.taskId }).first();
  expect(row).toMatchObject({ state: 'waiting', channel, owes: 'turn' });
});
