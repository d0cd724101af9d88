// These tests are about jobs that may still run although their task has ended. They owe a cancel.

import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { createFollowActivities } from '../../../activities/jobs/read-and-cancel-job';
import { jobCancels } from '../../../activities/owed/cancel-jobs';
import { type Provider, UpstreamFault } from '../../../activities/providers/provider';
import { endOverdue } from '../../../activities/reconcile/end-tasks';
import { closeCancelled, closeJobsOfTask } from '../../../src/jobs/cancels.rows';
import type { JobInput } from '../../../src/jobs/job.rules';
import { findJob } from '../../../src/jobs/queries.rows';
import { takeSlot } from '../../../src/jobs/slots.rows';
import { storeLate, storeReports } from '../../../src/jobs/steps.rows';
import { closeTask, openTask } from '../../../src/money/ledger.rows';
import { createLoop } from '../../../src/owed/loop';
import { listOverdue } from '../../../src/tasks/reconcile.rows';
import { taskObject } from '../../../src/tasks/task.rules';
import { adminWith } from '../../support/admin';
import { anAccountWith, heldMicros, storePending } from '../../support/books';
import { aJobInput, aPlan, aRequest, aSuccess, aTaskInput } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { fulfilDue } from '../../support/owed';
import { until } from '../../support/until';
import { startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  // The provider's list may not show a job for up to ten minutes after its create was sent.
  upstream = await startUpstream(database.db, (base) => [{ ...base, listLagMs: 600_000 }]);
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
});

/** Ends the task as closeTask does, but without money. */
const end = (taskId: string, ago: string) =>
  database.db.raw(
    `with ended as (
       update tasks
          set object = '{"status":"failed","data":[]}', finished_at = now() - cast(:ago as interval),
              request = '{}'
        where id = :taskId returning id, status
     ) ${closeJobsOfTask}`,
    { ago, taskId },
  );
/** Cancels the jobs that owe a cancel, as if it were due. */
const round = (cancel?: Parameters<typeof jobCancels>[1], deps: Asked = upstream.deps) =>
  roundOf(jobCancels(deps, cancel));
type Asked = Parameters<typeof jobCancels>[0];
async function roundOf(duty: ReturnType<typeof jobCancels>): Promise<void> {
  const owing = database.db('jobs').where({ owes: 'cancel' }).whereNot({ due_at: 'infinity' });
  await owing.update({ due_at: database.db.fn.now() });
  await fulfilDue(duty);
}
/** Deps with a channel whose provider reads jobs in this way. */
function readingWith(read: Provider['read'], at = 'studio') {
  const { find, ...rest } = upstream.deps.channels;
  const known = find('studio')!;
  const reading = { ...known, provider: { ...known.provider, read } };
  const channels = { ...rest, find: (id: string) => (id === at ? reading : find(id)) };
  return { ...upstream.deps, channels };
}
const stateOf = async (input: Parameters<typeof findJob>[1]) =>
  (await findJob(database.db, input))?.state;

test('an open job of a task that has ended is cancelled upstream and closed', async () => {
  const input = await upstream.input({ queue_s: 600 });
  await upstream.attempt(input);
  await end(input.taskId, '16 minutes');
  await round();
  expect(await stateOf(input)).toBe('closed');
  const { readJob } = createFollowActivities(upstream.deps);
  expect(await readJob(input)).toMatchObject({ status: 'cancelled' });
});

const statusAt = async (
  input: JobInput,
  provider = upstream.deps.channels.find('studio')!.provider,
) => (await provider.read((await findJob(database.db, input))?.upstreamId ?? '')).status;

test('a video that was made before its cancel is stored with its cost, and is not deleted upstream', async () => {
  const input = await upstream.input({ run_s: 0, render: 'none' });
  const { channels, ...plan } = input.plan;
  const priced = channels.map((choice) => ({ ...choice, cost: { microsPerJob: 2_000_000 } }));
  await database
    .db('tasks')
    .where({ id: input.taskId })
    .update({ plan: JSON.stringify({ ...plan, channels: priced }) });
  await upstream.attempt(input);
  await until('it is made', async () => (await statusAt(input)) === 'succeeded');
  await end(input.taskId, '1 second');
  await round();
  const job = await findJob(database.db, input);
  expect(job).toMatchObject({ state: 'closed', cancel: null, report: { status: 'succeeded' } });
  const stored = database.db('jobs').where({ task_id: input.taskId });
  expect(await stored.first('cost_micros', 'owes')).toEqual({ cost_micros: 2_000_000, owes: null });
  expect(await statusAt(input)).toBe('succeeded');
});

test('a job that runs when it is cancelled is kept as running, so that its cost is known to be unknown', async () => {
  const input = await upstream.input({ run_s: 600 });
  await upstream.attempt(input);
  await until('it runs', async () => (await statusAt(input)) === 'running');
  await end(input.taskId, '1 second');
  await round();
  const stored = database.db('jobs').where({ task_id: input.taskId });
  expect(await stored.first('state', 'status', 'cost_micros', 'owes')).toEqual({
    ...{ state: 'closed', status: 'running', cost_micros: null, owes: null },
  });
});

test.each([
  ['planned', null],
  ['waiting', null],
  ['sending', 'wanted'],
  ['reported', null],
])(
  'a job in state %s is closed with its failed task, and its cancel is %s',
  async (state, cancel) => {
    const input = await upstream.input();
    const isSent = state === 'sending' || state === 'reported';
    await database
      .db('jobs')
      .where({ task_id: input.taskId })
      .update({
        ...{ state, channel: 'studio', upstream_model: 'm' },
        ...(isSent ? { sent_at: database.db.fn.now() } : {}),
        ...(state === 'reported' ? { upstream_id: input.taskId, report: aSuccess() } : {}),
      });
    await end(input.taskId, '16 minutes');
    expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel });
  },
);

test('a failing cancel of a job is repeated for two hours and then recorded as given up', async () => {
  const input = await upstream.input();
  await upstream.attempt(input);
  await end(input.taskId, '1 second');
  const refuse = () => Promise.reject(new Error('refused'));
  await round(refuse);
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: 'wanted' });
  expect(upstream.events.map(({ name }) => name)).not.toContain('cancelGivenUp');
  await end(input.taskId, '3 hours');
  await round(refuse);
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: 'given up' });
  expect(upstream.events.map(({ name }) => name)).toContain('cancelGivenUp');
});

test('a cancel that another attempt has made meanwhile is not given up', async () => {
  const input = await upstream.input();
  await upstream.attempt(input);
  await end(input.taskId, '3 hours');
  await round(async ({ db }, job) => {
    const { upstreamId } = (await findJob(db, job))!;
    await closeCancelled(db, { ...job, upstreamId });
    throw new Error('refused');
  });
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: null });
  const given = upstream.events.filter(({ name }) => name === 'cancelGivenUp');
  expect(given.map(({ args }) => args[0])).not.toContain(input.taskId);
});

test('a provider that answers no read gets the cancels of all jobs', async () => {
  const inputs = await Promise.all([1, 2, 3, 4].map(() => upstream.input({ queue_s: 600 })));
  for (const input of inputs) {
    await upstream.attempt(input);
    await end(input.taskId, '1 second');
  }
  const duty = jobCancels(readingWith(() => new Promise(() => undefined)));
  // A channel has three cancels at once, so one job is left to the second round.
  await roundOf(duty);
  await roundOf(duty);
  for (const input of inputs) expect(await statusAt(input)).toBe('cancelled');
});

describe('a provider that does not answer', () => {
  /** Twenty jobs of ended tasks. Only the last one, which is due last, is at a channel that answers. */
  async function dueCancels() {
    const inputs = await Promise.all(Array.from({ length: 20 }, () => upstream.input()));
    const answered = inputs.at(-1);
    for (const input of inputs) {
      const channel = input === answered ? 'studio' : 'silent';
      await database
        .db('jobs')
        .where({ task_id: input.taskId })
        .update({
          ...{ state: 'open', channel, upstream_model: 'm', upstream_id: input.taskId },
          sent_at: database.db.fn.now(),
        });
      await end(input.taskId, '1 second');
    }
    const due = database.db.raw(`now() - interval '1 minute'`);
    const tasks = inputs.map(({ taskId }) => taskId);
    await database.db('jobs').whereIn('task_id', tasks).update({ due_at: due });
    await database.db('jobs').where({ task_id: answered?.taskId }).update({ due_at: new Date() });
    return { answeredId: answered?.taskId ?? '', count: inputs.length };
  }

  test('does not hold up the cancels of other channels', async () => {
    const { answeredId, count } = await dueCancels();
    const cancelled: string[] = [];
    const duty = jobCancels(upstream.deps, async (_, { taskId }) => {
      cancelled.push(taskId);
      if (taskId === answeredId) return;
      await setTimeout(5_100);
      throw new Error('no answer');
    });
    const loop = createLoop(duty, (what) => cancelled.push(what));
    await until('the other channel had its turn', () => cancelled.includes(answeredId));
    await loop.close();
    expect(cancelled.length).toBeLessThan(count);
  });

  test('has three cancels at once, even while none of them has ended', async () => {
    const { answeredId } = await dueCancels();
    const cancelled: string[] = [];
    const silence = new AbortController();
    const duty = jobCancels(upstream.deps, async (_, { taskId }) => {
      cancelled.push(taskId);
      if (taskId !== answeredId) await setTimeout(600_000, undefined, silence);
    });
    const loop = createLoop(duty, (what) => cancelled.push(what));
    try {
      await until('the other channel had its turn', () => cancelled.includes(answeredId));
      expect(cancelled).toHaveLength(4);
    } finally {
      silence.abort();
      await loop.close();
    }
  });
});

test('if a task is terminated during a create, the job is looked up until it is cancelled', async () => {
  const input = await upstream.input({ queue_s: 600 });
  await takeSlot(
    database.db,
    input,
    { channel: 'studio', upstreamModel: 'studio-2.0' },
    null,
    'first',
  );
  await end(input.taskId, '1 second');
  await database.db('jobs').where({ task_id: input.taskId }).update({ state: 'closed' });
  await database
    .db('jobs')
    .where({ task_id: input.taskId })
    .update({ owes: 'cancel', due_at: database.db.fn.now() });
  await round();
  expect(await findJob(database.db, input)).toMatchObject({ cancel: 'wanted' });
  // The create arrives, but its reply does not.
  await upstream.deps.channels.find('studio')?.provider.create(input, 'studio-2.0');
  await round();
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: null });
  const window = { sinceMs: 0, nowMs: Date.now() };
  const jobs = await upstream.deps.channels.find('studio')?.provider.list(input, window);
  const job = jobs?.jobs.find(({ seed }) => seed === input.plan.seed);
  const read = upstream.deps.channels.find('studio')?.provider.read(job?.upstreamId ?? '');
  expect(await read).toMatchObject({ status: 'cancelled' });
});

test('a job that is accepted after the end of its task is cancelled even if the first cancel failed', async () => {
  const input = await upstream.input({ queue_s: 600 });
  const { find, ...rest } = upstream.deps.channels;
  const { provider } = find('studio') ?? {};
  const channels = {
    ...rest,
    find: (id: string) =>
      ({
        ...find(id),
        provider: {
          ...provider,
          // The task ends before its create is sent.
          create: async (...args: Parameters<NonNullable<typeof provider>['create']>) => {
            await end(input.taskId, '1 second');
            await database.db('jobs').where({ task_id: input.taskId }).update({ state: 'closed' });
            return provider?.create(...args);
          },
          cancel: () => Promise.reject(new Error('refused')),
        },
      }) as ReturnType<typeof find>,
  };
  await upstream.attempt(input, { channels });
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: 'wanted' });
  await round();
  const job = await findJob(database.db, input);
  expect(job?.cancel).toBeNull();
  expect(await provider?.read(job?.upstreamId ?? '')).toMatchObject({ status: 'cancelled' });
});

/** An overdue task with a hold, whose job waits in the queue of its provider unless the script says else. */
async function overdueInput(account: string, script: object = { queue_s: 600 }) {
  const accountId = await anAccountWith(database.db, account, 100_000_000);
  const plan = aPlan({ channels: [{ channel: 'studio', upstreamModel: 'studio-2.0' }] });
  const request = aRequest({
    metadata: { passThrough: { studio: { render: 'none', ...script } } },
  });
  const task = aTaskInput({ accountId, plan });
  const { taskId } = task;
  await storePending(database.db, task, { request });
  expect((await openTask(database.db, task)).outcome).toBe('opened');
  const input = aJobInput({ taskId, accountId, plan, request });
  await upstream.attempt(input);
  await database.db.raw(`update tasks set deadline_at = now() - interval '1 hour' where id = ?`, [
    taskId,
  ]);
  return input;
}

test('if a worker dies after it closed an overdue task, another worker cancels the job', async () => {
  const input = await overdueInput('acct_overdue');
  // The worker dies after the transaction.
  const taskClosed = () => {
    throw new Error('The worker is gone.');
  };
  await endOverdue({
    ...upstream.deps,
    client: clientThatTerminates(),
    events: { ...upstream.deps.events, taskClosed, finding: () => undefined },
  });
  expect(await heldMicros(database.db)).toBe(0);
  await expectCancelled(input);
});

test('if a workflow is terminated after its task has failed, the job is cancelled', async () => {
  const input = await overdueInput('acct_terminated');
  const { taskId, plan } = input;
  const failed = taskObject(
    { id: taskId, traceId: 'trace', model: plan.model, createdAt: 1 },
    { status: 'failed', finishedAt: 2, error: { code: 'task_error', message: 'cancelled' } },
  );
  const close = { taskId, object: failed, heldMicros: plan.hold.amountMicros, charge: [] };
  expect((await closeTask(database.db, close)).first).toBe(true);
  await expectCancelled(input);
});

async function expectCancelled(input: JobInput): Promise<void> {
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: 'wanted' });
  await round();
  const job = await findJob(database.db, input);
  expect(job?.cancel).toBeNull();
  const { provider } = upstream.deps.channels.find('studio') ?? {};
  expect(await provider?.read(job?.upstreamId ?? '')).toMatchObject({ status: 'cancelled' });
}

test('an overdue task whose video is made is not refunded after five minutes', async () => {
  const { taskId, kind } = await overdueInput('acct_made');
  const overdue = async () =>
    (await listOverdue(database.db, { graceSeconds: 300, madeGraceSeconds: 7_200 }))
      .map(({ id }) => id)
      .includes(taskId);
  expect(await overdue()).toBe(true);
  await storeReports(database.db, [{ taskId, kind, report: aSuccess() }]);
  expect(await overdue()).toBe(false);
  await database.db.raw(`update tasks set deadline_at = now() - interval '3 hours' where id = ?`, [
    taskId,
  ]);
  expect(await overdue()).toBe(true);
  await end(taskId, '1 second');
});

test('an overdue task is not ended if its provider has made the video while no worker ran', async () => {
  const { taskId, kind } = await overdueInput('acct_unseen', { run_s: 0 });
  const { upstreamId } = (await findJob(database.db, { taskId, kind })) ?? {};
  const { provider } = upstream.deps.channels.find('studio') ?? {};
  const status = async () => (await provider?.read(upstreamId ?? ''))?.status;
  await until('the video is made', async () => (await status()) === 'succeeded');
  const terminated: string[] = [];
  const client = clientThatTerminates(async (id) => void terminated.push(id));
  expect(await endOverdue({ ...upstream.deps, client })).toEqual([]);
  expect(terminated).toEqual([]);
  const job = { state: 'reported', status: 'succeeded', owes: 'tell' };
  expect(await database.db('jobs').where({ task_id: taskId }).first()).toMatchObject(job);
  await end(taskId, '1 second');
});

test('an overdue task is not ended if its success is stored while other overdue tasks are ended', async () => {
  const inputs = [await overdueInput('acct_first'), await overdueInput('acct_second')];
  const client = clientThatTerminates(async (id) => {
    const others = inputs.filter(({ taskId }) => taskId !== id);
    const news = others.map(({ taskId, kind }) => ({ taskId, kind, report: aSuccess() }));
    await storeReports(database.db, news);
  });
  const ended = await endOverdue({ ...upstream.deps, client });
  expect(ended).toHaveLength(1);
  const others = inputs.filter(({ taskId }) => !ended.includes(taskId));
  for (const { taskId } of others) {
    expect(await database.db('tasks').where({ id: taskId }).first()).toMatchObject({
      finished_at: null,
    });
    await end(taskId, '1 second');
  }
});

test('an overdue task whose job cannot be read is ended', async () => {
  const { taskId } = await overdueInput('acct_unread');
  // This worker does not know the channel.
  const channels = { ...upstream.deps.channels, find: () => undefined };
  const deps = { ...upstream.deps, channels, client: clientThatTerminates() };
  expect(await endOverdue(deps)).toEqual([taskId]);
});

test('a provider that answers no read delays neither refunds nor the reads of other channels', async () => {
  const made = await overdueInput('acct_answered', { run_s: 0 });
  await until('the video is made', async () => (await statusAt(made)) === 'succeeded');
  const silent: string[] = [];
  for (const account of [1, 2, 3, 4].map((nth) => `acct_silent_${nth}`)) {
    silent.push(await overdueAtSilent(account));
  }
  const asked: string[] = [];
  const deps = readingWith((id) => new Promise(() => asked.push(id)), 'silent');
  const ended = await endOverdue({ ...deps, client: clientThatTerminates() }, 2_000);
  expect([...ended].sort()).toEqual(silent.sort());
  expect(asked).toHaveLength(2);
  expect(await findJob(database.db, made)).toMatchObject({ state: 'reported' });
  await end(made.taskId, '1 second');
});

test('failed reads of some jobs do not refund the other made videos of their channel', async () => {
  const made: string[] = [];
  for (const account of [1, 2, 3, 4, 5].map((nth) => `acct_failing_${nth}`)) {
    made.push(await overdueAtSilent(account));
  }
  let reads = 0;
  const deps = readingWith(async () => {
    reads += 1;
    if (reads === 1) await new Promise(() => undefined);
    if (reads < 5) throw new UpstreamFault('unavailable', 'away', '');
    return { ...aSuccess(), word: 'succeeded' };
  }, 'silent');
  const ended = await endOverdue({ ...deps, client: clientThatTerminates() }, 5_000);
  expect(ended).toHaveLength(4);
  const left = made.find((taskId) => !ended.includes(taskId)) ?? '';
  expect(await database.db('jobs').where({ task_id: left }).first()).toMatchObject({
    state: 'reported',
    status: 'succeeded',
  });
  await end(left, '1 second');
});

/** An overdue task whose job is open at the channel `silent`. */
async function overdueAtSilent(account: string): Promise<string> {
  const { taskId } = await overdueInput(account);
  await database.db('jobs').where({ task_id: taskId }).update({ channel: 'silent' });
  return taskId;
}

/** A client that can only terminate workflows. */
function clientThatTerminates(terminate: (id: string) => Promise<void> = async () => undefined) {
  const workflow = { getHandle: (id: string) => ({ terminate: () => terminate(id) }) };
  return { workflow } as unknown as Client;
}

describe('a lost job that is found after its task has failed', () => {
  const cost = { microsPerJob: 2_000_000 };
  const lost = async (script: object) => {
    const first = await upstream.input({ ...script, create: { lose_reply: true, times: 1 } });
    const channels = first.plan.channels.map((choice) => ({ ...choice, cost }));
    const input = { ...first, plan: { ...first.plan, channels } };
    await database.db('tasks').where({ id: input.taskId }).update({ plan: input.plan });
    await expect(upstream.attempt(input)).rejects.toMatchObject({ type: 'SubmissionUnknown' });
    await end(input.taskId, '0 seconds');
    return input;
  };
  const told = (taskId: string) =>
    upstream.events.filter(({ name, args }) => name === 'lateSuccess' && args[1] === taskId);

  test('and whose video was made is counted, and kept with its cost', async () => {
    const input = await lost({ run_s: 0 });
    await until('it is found', async () => {
      await round();
      return told(input.taskId).length > 0;
    });
    const job = await findJob(database.db, input);
    expect(job).toMatchObject({ state: 'closed', cancel: null, costMicros: cost.microsPerJob });
    expect(job).toMatchObject({ report: { status: 'succeeded' }, channel: 'studio' });
    expect(told(input.taskId)).toHaveLength(1);
    const admin = adminWith(() => ({ DATABASE_URL: database.operatorUrl }));
    const { out } = await admin(`tasks show ${input.taskId}`);
    expect(out).toMatch(/^generation .*but its task failed/m);
    expect(await upstream.accepted(input.taskId)).toBe(1);
  });

  test('is read again while it runs, because a provider may not stop it', async () => {
    const input = await lost({ run_s: 1.5 });
    const { provider, ...known } = upstream.deps.channels.find('studio')!;
    const stubborn = { ...known, provider: { ...provider, cancel: async () => undefined } };
    const channels = { ...upstream.deps.channels, find: () => stubborn };
    await until('it is made', async () => {
      await round(undefined, { ...upstream.deps, channels });
      return told(input.taskId).length > 0;
    });
  });

  test('and that can be cancelled costs nothing', async () => {
    const input = await lost({ queue_s: 600 });
    await until('it is closed', async () => {
      await round();
      return (await findJob(database.db, input))?.cancel === null;
    });
    expect(told(input.taskId)).toEqual([]);
    expect(await findJob(database.db, input)).toMatchObject({ costMicros: null });
  });
});

describe('a job that was given up because its provider did not know it', () => {
  let nextAccount = 0;
  const cost = { microsPerJob: 2_000_000 };
  const eventsOf = (name: string, taskId: string) =>
    upstream.events.filter((event) => event.name === name && event.args.includes(taskId));

  /** The task has failed; meanwhile the provider runs the job, or has lost it. */
  async function given(script: object) {
    nextAccount += 1;
    const accountId = await anAccountWith(database.db, `acct_gone_${nextAccount}`, 100_000_000);
    const channels = [{ channel: 'studio', upstreamModel: 'studio-2.0', cost }];
    const plan = aPlan({ channels });
    const request = aRequest({
      metadata: { passThrough: { studio: { render: 'none', run_s: 600, ...script } } },
    });
    const task = aTaskInput({ accountId, plan });
    const { taskId } = task;
    await storePending(database.db, task, { request });
    await openTask(database.db, task);
    const input = aJobInput({ taskId, accountId, plan, request });
    await upstream.attempt(input);
    const upstreamId = (await findJob(database.db, input))?.upstreamId ?? '';
    const failure = { code: 'job_gone', sentence: 'The generator lost the task.' };
    const { kind } = input;
    const report = { kind, channel: 'studio', upstreamId, status: 'failed' as const, failure };
    await storeReports(database.db, [{ taskId, kind, report }]);
    const failed = taskObject(
      { id: taskId, traceId: 'trace', model: plan.model, createdAt: 1 },
      { status: 'failed', finishedAt: 2, error: { code: 'provider_error', message: 'gone' } },
    );
    const close = { taskId, object: failed, heldMicros: plan.hold.amountMicros, charge: [] };
    await closeTask(database.db, close);
    return { input, taskId };
  }
  const ended = (taskId: string, ago: string) =>
    database.db.raw(`update tasks set finished_at = now() - cast(? as interval) where id = ?`, [
      ago,
      taskId,
    ]);
  const unknown = () =>
    readingWith(() => Promise.reject(new UpstreamFault('not_found', 'gone', '')));

  test('is cancelled when the provider knows it again', async () => {
    const { input } = await given({ run_s: 0, queue_s: 600 });
    expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: 'wanted' });
    await round(undefined, unknown());
    expect(await findJob(database.db, input)).toMatchObject({ cancel: 'wanted' });
    await round();
    const job = await findJob(database.db, input);
    expect(job?.cancel).toBeNull();
    const { provider } = upstream.deps.channels.find('studio') ?? {};
    expect(await provider?.read(job?.upstreamId ?? '')).toMatchObject({ status: 'cancelled' });
  });

  test('and makes its video after all, is counted once, and kept with its cost', async () => {
    const { input, taskId } = await given({ run_s: 0 });
    await until('it is followed to its end', async () => {
      await round();
      return eventsOf('lateSuccess', taskId).length > 0;
    });
    await round();
    expect(eventsOf('lateSuccess', taskId)).toHaveLength(1);
    expect(await findJob(database.db, input)).toMatchObject({
      ...{ state: 'closed', cancel: null, costMicros: cost.microsPerJob },
      report: { status: 'succeeded' },
    });
  });

  test('and stays unknown, is looked for during two hours, also after its erasure', async () => {
    const { input, taskId } = await given({});
    await database.db.raw(
      `update jobs set report = json_build_object('status', report->'status') where task_id = ?`,
      [taskId],
    );
    await round(undefined, unknown());
    expect(await findJob(database.db, input)).toMatchObject({ cancel: 'wanted' });
    await ended(taskId, '2 hours 1 minute');
    await round(undefined, unknown());
    expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: null });
    expect(eventsOf('cancelGivenUp', taskId)).toEqual([]);
  });
});

test('a worker that dies after it stored a late success leaves nothing to cancel', async () => {
  const input = await upstream.input({ create: { lose_reply: true, times: 1 } });
  await expect(upstream.attempt(input)).rejects.toThrow();
  await end(input.taskId, '1 second');
  await database
    .db('jobs')
    .where({ task_id: input.taskId })
    .update({ owes: 'cancel', due_at: database.db.fn.now() });
  const { taskId, kind } = input;
  const report = { ...aSuccess(), channel: 'studio', upstreamId: 'cgt-late' };
  expect(await storeLate(database.db, { taskId, kind, report })).toBe(true);
  // On a busy machine, other tests may have left jobs that owe a cancel.
  await database
    .db('jobs')
    .where({ owes: 'cancel' })
    .whereNot({ task_id: input.taskId })
    .update({ due_at: 'infinity' });
  const asked: string[] = [];
  const { find, ...rest } = upstream.deps.channels;
  const known = find('studio')!;
  const cancel = async (upstreamId: string) => void asked.push(upstreamId);
  const channels = {
    ...rest,
    find: () => ({ ...known, provider: { ...known.provider, cancel } }),
  };
  // A worker goes on, and so does the activity of the workflow.
  await round(undefined, { ...upstream.deps, channels });
  await createFollowActivities({ ...upstream.deps, channels }).cancelJob(input);
  expect(asked).toEqual([]);
  expect(await findJob(database.db, input)).toMatchObject({
    ...{ state: 'closed', cancel: null, upstreamId: 'cgt-late' },
  });
});
