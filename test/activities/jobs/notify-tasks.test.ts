// These tests notify tasks of the end of their jobs and of free slots, on a real Temporal server. A
// notification that failed must be repeated. An end that no activity waits for is only recorded.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { notifyTasks, offerFreeSlots } from '../../../activities/jobs/notify-tasks';
import { owedTurns } from '../../../activities/owed/give-turns';
import { owedTells } from '../../../activities/owed/tell-ends';
import { releaseStranded, takeBackTurns } from '../../../src/jobs/slots.rows';
import { type JobNews, storeReports, waitForTurn } from '../../../src/jobs/steps.rows';
import { recordFault } from '../../../src/jobs/watchers.rows';
import { aSuccess, aTaskInput } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { fulfilDue } from '../../support/owed';
import { openWorlds, placedAt, type World, type Worlds } from '../../support/task-world';
import { realEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/until';
import { insertTaskRow, planJob, startUpstream, type Upstream } from '../../support/upstream';

let env: TestWorkflowEnvironment;
let database: TestDatabase;
let upstream: Upstream;
let worlds: Worlds;
beforeAll(async () => {
  [env, database] = await Promise.all([realEnvironment(), createTestDatabase()]);
  worlds = await openWorlds(env, { workflowBundle: workflowBundle() });
  upstream = await startUpstream(database.db);
});
afterAll(async () => {
  await worlds?.close();
  await upstream?.close();
  await env?.teardown();
  await database?.drop();
});

const kind = 'generation';

async function anEndedJob() {
  const input = await upstream.input();
  const { taskId } = input;
  await upstream.attempt(input);
  const report = { ...aSuccess(), upstreamId: taskId };
  await storeReports(database.db, [{ taskId, kind, report }]);
  return { taskId, kind, report } as const;
}

const notify = (news: JobNews, client = env.client) =>
  notifyTasks({ ...upstream.deps, client }, [news]);
const stateOf = async (taskId: string) =>
  (await database.db('jobs').where({ task_id: taskId }))[0] as Record<string, unknown>;
/** The seconds until the end of the job is told again; null if it is not owed. */
async function toldIn(taskId: string): Promise<number | null> {
  const { rows } = await database.db.raw<{ rows: { seconds: number | null }[] }>(
    `select extract(epoch from due_at - now())::float8 as seconds from jobs
      where task_id = ? and (owes is null or owes = 'tell')`,
    [taskId],
  );
  return rows[0]?.seconds ?? null;
}

/** True if the workflow has got the result of its first attempt. */
async function waits({ submitted }: World, taskId: string): Promise<boolean> {
  if (submitted.length === 0) return false;
  const { raw } = await env.client.workflow.getHandle(taskId).describe();
  return (raw.pendingActivities?.length ?? 0) === 0;
}

test('the end of a job completes the activity that placed the job', () =>
  worlds.run(async (world) => {
    const { taskId, ...input } = aTaskInput();
    const task = await world.start({ taskId, ...input });
    await placedAt(world, taskId, kind);
    await notify({ taskId, kind, report: aSuccess() });
    expect((await task.result()).status).toBe('succeeded');
  }));

test('the end of a job counts as acknowledged if no activity of its workflow waits for it', () =>
  worlds.run(async (world) => {
    const news = await anEndedJob();
    world.script.submit = async () => ({ outcome: 'waiting' });
    const task = await world.start({ ...aTaskInput(), taskId: news.taskId });
    await until('it waits', () => waits(world, news.taskId));
    await notify(news);
    expect(await stateOf(news.taskId)).toMatchObject({ state: 'closed' });
    expect(await toldIn(news.taskId)).toBeNull();
    await task.terminate();
  }));

test('a workflow that waits for a slot is told that a given-up attempt has made its job', () =>
  worlds.run(async (world) => {
    const news = await anEndedJob();
    world.script.submit = async () =>
      world.submitted.length > 1
        ? { outcome: 'ended', report: news.report }
        : { outcome: 'waiting' };
    const task = await world.start({ ...aTaskInput(), taskId: news.taskId });
    await until('it waits', () => waits(world, news.taskId));
    await notify(news);
    expect((await task.result()).status).toBe('succeeded');
  }));

test('the end of a job is kept if this Temporal does not know its workflow', async () => {
  const news = await anEndedJob();
  await notify(news);
  expect(await stateOf(news.taskId)).toMatchObject({ state: 'reported' });
  expect(await toldIn(news.taskId)).toBeGreaterThan(10);
});

test('an end that could not be told is told soon', async () => {
  const news = await anEndedJob();
  const away = { activity: { complete: () => Promise.reject(new Error('away')) } };
  await notify(news, away as never);
  expect(await stateOf(news.taskId)).toMatchObject({ state: 'reported', owes: 'tell' });
  expect(await toldIn(news.taskId)).toBeLessThan(1.1);
});

test('an end is told by another worker if the one that stored it died', () =>
  worlds.run(async (world) => {
    const { db } = database;
    const input = await upstream.input();
    const { taskId } = input;
    const task = await world.start({ ...aTaskInput(), taskId });
    await placedAt(world, taskId, kind);
    await upstream.attempt(input);
    await storeReports(db, [{ taskId, kind, report: { ...aSuccess(), upstreamId: taskId } }]);
    expect(await toldIn(taskId)).toBeGreaterThan(10);
    await db('jobs').where({ task_id: taskId }).update({ due_at: db.fn.now() });
    await fulfilDue(owedTells({ db, client: env.client }));
    expect((await task.result()).status).toBe('succeeded');
  }));

describe('a task that waits for a slot', () => {
  type Deps = Parameters<typeof offerFreeSlots>[0];

  /** Starts a task that waits for a slot, calls `wake`, and expects a second submission. */
  const expectWoken = (channels: readonly string[], wake: (deps: Deps) => Promise<void>) =>
    worlds.run(async (world) => {
      const input = aTaskInput();
      await insertTaskRow(database.db, input.taskId);
      await planJob(database.db, { ...input, kind });
      const { submit } = world.script;
      world.script.submit = async (input) => {
        if (world.submitted.length > 1) return submit(input);
        await waitForTurn(database.db, input, channels);
        return { outcome: 'waiting' };
      };
      const task = await world.start(input);
      await until('it waits', async () => (await stateOf(input.taskId)).state === 'waiting');
      await wake({ ...upstream.deps, client: env.client });
      await until('it is submitted again', () => world.submitted.length === 2);
      await task.terminate();
    });

  test('is woken if a channel without a limit can take its job', () =>
    expectWoken(['full', 'studio'], (deps) => offerFreeSlots(deps, 'studio')));

  test('is woken if none of its channels is in the catalogue any more', () =>
    expectWoken(['gone'], async (deps) => {
      await releaseStranded(deps.db, deps.channels.ids());
      await fulfilDue(owedTurns({ ...upstream.deps, ...deps }));
    }));

  test('gets no turn of a channel to which another process has given a rest', async () => {
    const { db } = database;
    const input = await upstream.input();
    await waitForTurn(db, input, ['studio']);
    const offer = () => offerFreeSlots({ ...upstream.deps, client: env.client }, 'studio');
    await recordFault(db, 'studio', 'unavailable', 60_000);
    await offer();
    expect(await stateOf(input.taskId)).toMatchObject({ turn_at: null });
    // A process with another key has placed a job there since.
    const other = await upstream.input();
    await upstream.attempt(other);
    await offer();
    expect(await stateOf(input.taskId)).not.toMatchObject({ turn_at: null });
    await takeBackTurns(db, [{ ...input, kind }]);
    await db('jobs').where({ task_id: other.taskId }).update({ state: 'closed' });
    await offer();
    expect(await stateOf(input.taskId)).toMatchObject({ turn_at: null });
    await db('loops').where({ channel: 'studio' }).update({ rests_until: db.fn.now() });
    await offer();
    expect(await stateOf(input.taskId)).not.toMatchObject({ turn_at: null });
  });
});
