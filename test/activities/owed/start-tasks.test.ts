// Pending tasks that no API process starts. A worker starts them, or ends them at their deadline. The
// wrong clock of a worker must not appear in a task.

import { owedStarts } from '../../../activities/owed/start-tasks';
import { claimDeliveries } from '../../../src/callbacks/callbacks.rows';
import { claimStarts, failPending, releaseStart } from '../../../src/tasks/pending.rows';
import type { TaskInput } from '../../../src/tasks/task-transactions.rules';
import { findTask } from '../../../src/tasks/tasks.rows';
import { storePending } from '../../support/books';
import { aRequest, aTaskInput } from '../../support/builders';
import { createCallbackDatabase, testAccount } from '../../support/callbacks';
import type { TestDatabase } from '../../support/database';
import { fulfilDue } from '../../support/owed';

let database: TestDatabase;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(async () => {
  await database?.drop();
});
afterEach(() =>
  database.db.raw(
    'delete from callbacks; delete from tasks; update balances set pending = 0, pending_tasks = 0',
  ),
);

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const realNow = Date.now.bind(Date);

/** Does what is due, and returns what the worker reported. */
async function start(startTask: (input: TaskInput) => Promise<boolean> = async () => true) {
  const reports: unknown[][] = [];
  const report = (...found: unknown[]) => void reports.push(found);
  const duty = owedStarts({
    db: database.db,
    events: { finding: report, owedFailed: report } as never,
    startTask,
  });
  await fulfilDue(duty);
  return reports;
}

async function aPendingTask({
  isDue = true,
  ...over
}: { isDue?: boolean } & Partial<TaskInput> = {}) {
  const createdAtMs = Date.now() - 5 * minuteMs;
  const input = aTaskInput({ accountId: testAccount, createdAtMs, ...over });
  await storePending(database.db, input, { isDue });
  return input;
}

async function dueInSeconds(taskId: string): Promise<number> {
  const { rows } = await database.db.raw<{ rows: { left: number }[] }>(
    'select extract(epoch from due_at - now())::float8 as left from tasks where id = ?',
    [taskId],
  );
  return rows[0]?.left ?? Number.NaN;
}

const objectOf = async (taskId: string) =>
  JSON.parse((await findTask(database.db, taskId))?.object ?? 'null') as {
    created_at: number;
    finished_at: number;
  };

test('a due task is started, and one that another process has claimed is not', async () => {
  const due = await aPendingTask();
  await aPendingTask({ isDue: false });
  const started: string[] = [];
  expect(await start(async ({ taskId }) => started.push(taskId) > 0)).toEqual([]);
  expect(started).toEqual([due.taskId]);
});

test('a task that Temporal refuses to start is a finding, and the others are started', async () => {
  const ids: string[] = [];
  while (ids.length < 3) ids.push((await aPendingTask()).taskId);
  const started: string[] = [];
  const found = await start(async ({ taskId }) => {
    if (taskId !== ids[0]) return started.push(taskId) > 0;
    throw new Error('refused', { cause: { code: 3 } });
  });
  expect(started.sort()).toEqual(ids.slice(1).sort());
  expect(found).toEqual([['stuck', ids[0], 'its workflow could not be started']]);
  // Temporal has answered, so the lease ends as after a start.
  expect(await dueInSeconds(ids[0] ?? '')).toBeGreaterThan(30);
});

test('an old task whose start is cut off by the death of its process is due again soon', async () => {
  const { taskId } = await aPendingTask({ createdAtMs: Date.now() - 2 * hourMs });
  await claimStarts(database.db)(1);
  expect(await dueInSeconds(taskId)).toBeLessThan(60);
});

test('a start that Temporal does not answer is no finding, and is due again after five seconds', async () => {
  const { taskId } = await aPendingTask();
  const away = new Error('14 UNAVAILABLE');
  expect(await start(() => Promise.reject(away))).toEqual([['start', away]]);
  expect(await dueInSeconds(taskId)).toBeLessThanOrEqual(5);
});

test('a pending task whose workflow has completed ends as failed', async () => {
  const { taskId } = await aPendingTask();
  const message = 'The task was stopped by the service.';
  expect(await start(async () => false)).toEqual([['closed', taskId, message]]);
  expect(await objectOf(taskId)).toMatchObject({ status: 'failed' });
});

test('a pending task past its deadline fails without a charge, and its callback is due', async () => {
  const createdAtMs = Date.now() - 2 * minuteMs;
  const input = aTaskInput({ accountId: testAccount, createdAtMs });
  const callback_url = 'https://consumer.example.com/hook';
  await storePending(
    database.db,
    { ...input, deadlineAtMs: Date.now() - minuteMs },
    { isDue: true, request: aRequest({ metadata: { callback_url } }) },
  );
  expect(await start()).toEqual([['closed', input.taskId, expect.stringContaining('expired')]]);
  const failed = { status: 'failed', error: { code: 'task_error' } };
  expect(await objectOf(input.taskId)).toMatchObject(failed);
  const { rows } = await database.db.raw('select 1 from transfers where id like ?', [
    `${input.taskId}%`,
  ]);
  expect(rows).toEqual([]);
  expect((await claimDeliveries(database.db)(1)).map(({ taskId }) => taskId)).toEqual([
    input.taskId,
  ]);
});

test('a started task whose workflow waits for a worker is due again at its deadline at the latest', async () => {
  const createdAtMs = Date.now() - 10 * hourMs;
  const { taskId } = await aPendingTask({ createdAtMs, deadlineAtMs: Date.now() + hourMs });
  await start();
  const { rows } = await database.db.raw<{ rows: { early: number }[] }>(
    'select extract(epoch from deadline_at - due_at)::float8 as early from tasks where id = ?',
    [taskId],
  );
  expect(rows[0]?.early).toBeCloseTo(0);
});

test.each([-hourMs, hourMs])(
  'a pending task gets the right end time from a worker whose clock is off by %i ms',
  async (offMs) => {
    const { taskId } = await aPendingTask({ deadlineAtMs: Date.now() - 1_000 });
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offMs);
    await start().finally(() => clock.mockRestore());
    const object = await objectOf(taskId);
    expect(object.finished_at).toBeGreaterThanOrEqual(object.created_at);
    expect(Math.abs(object.finished_at - Date.now() / 1000)).toBeLessThan(600);
  },
);

test('a task that has ended meanwhile is not started', async () => {
  const { taskId } = await aPendingTask();
  await failPending(database.db, taskId, 'over');
  await releaseStart(database.db, taskId, 0);
  const started: string[] = [];
  await start(async (input) => started.push(input.taskId) > 0);
  expect(started).toEqual([]);
});
