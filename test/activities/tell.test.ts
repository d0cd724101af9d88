// How tasks are told the end of their jobs, on the real engine: once, again where it was not heard,
// and no more where nobody waits for it.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { tellTasks } from '../../activities/tell';
import { type JobNews, listUnacknowledged, storeReports } from '../../src/db/watched-jobs';
import { statusMessages } from '../../src/domain/task';
import { aSuccess, aTaskInput } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { inWorld } from '../support/task-world';
import { realEnvironment, workflowBundle } from '../support/temporal';
import { until } from '../support/until';
import { startUpstream, type Upstream } from '../support/upstream';

let env: TestWorkflowEnvironment;
let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  [env, database] = await Promise.all([realEnvironment(), createTestDatabase()]);
  upstream = await startUpstream(database.db);
});
afterAll(async () => {
  await upstream?.close();
  await env?.teardown();
  await database?.drop();
});

const kind = 'generation';

/** A job that was placed by this activity and has ended. */
async function anEndedJob(activityId: string) {
  const order = await upstream.order();
  const { taskId } = order;
  await upstream.attempt(order);
  await database.db('jobs').where({ task_id: taskId }).update({ activity_id: activityId });
  const report = { ...aSuccess(), upstreamId: taskId };
  await storeReports(database.db, [{ taskId, kind, report }], statusMessages);
  return { taskId, kind, activityId, report } as const;
}

const tell = (news: JobNews, client = env.client) =>
  tellTasks({ ...upstream.deps, client }, [news]);
const stateOf = async (taskId: string) =>
  (await database.db('jobs').where({ task_id: taskId }))[0] as Record<string, unknown>;
const stillToTell = async (olderThanSeconds: number) =>
  (await listUnacknowledged(database.db, 'studio', 0, 1, olderThanSeconds)).map(
    ({ taskId }) => taskId,
  );

test('the end of a job ends the activity that waits for it', () =>
  inWorld(env, { workflowBundle: workflowBundle() }, async (world) => {
    const { taskId, ...input } = aTaskInput();
    const task = await world.start({ taskId, ...input });
    await until('it is placed', () => world.placed.size === 1);
    const { activityId = '' } = world.placed.get(`${taskId} ${kind}`) ?? {};
    await tell({ taskId, kind, activityId, report: aSuccess() });
    expect((await task.result()).status).toBe('succeeded');
  }));

test('an end that nobody waits for is acknowledged, and what comes next is looked after', async () => {
  const news = await anEndedJob('5');
  await tell(news);
  expect(await stateOf(news.taskId)).toMatchObject({ state: 'closed' });
  expect(await database.db('unplaced').where({ task_id: news.taskId })).toHaveLength(1);
  expect(await stillToTell(0)).not.toContain(news.taskId);
});

test('an end that could not be told is told again', async () => {
  const news = await anEndedJob('5');
  const away = { activity: { complete: () => Promise.reject(new Error('away')) } };
  await tell(news, away as never);
  expect(await stateOf(news.taskId)).toMatchObject({ state: 'reported', signalled_at: null });
  expect(await stillToTell(20)).toContain(news.taskId);
});
