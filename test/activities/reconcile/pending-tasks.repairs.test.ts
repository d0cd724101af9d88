// These tests are about pending tasks that no API process starts. The reconciler starts such tasks,
// or ends them at their deadline.

import { repairPending } from '../../../activities/reconcile/pending-tasks';
import { releaseStart } from '../../../src/tasks/pending.rows';
import type { TaskInput } from '../../../src/tasks/task-transactions.rules';
import { findTask } from '../../../src/tasks/tasks.rows';
import { stopping } from '../../support/activity-settings';
import { storePending } from '../../support/books';
import { aRequest, aTaskInput } from '../../support/builders';
import { createCallbackDatabase, dueCallbacks, testAccount } from '../../support/callbacks';
import type { TestDatabase } from '../../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(() => database?.drop());
afterEach(() =>
  database.db.raw(
    'delete from callbacks; delete from tasks; update balances set pending = 0, pending_tasks = 0',
  ),
);

const minuteMs = 60_000;

async function repair(startTask: (input: TaskInput) => Promise<boolean> = async () => true) {
  const findings: unknown[][] = [];
  await repairPending({
    db: database.db,
    events: { finding: (...found: unknown[]) => void findings.push(found) } as never,
    startTask,
    stopping,
  });
  return findings;
}

async function aPendingTask(ageMinutes: number): Promise<TaskInput> {
  const createdAtMs = Date.now() - ageMinutes * minuteMs;
  const input = aTaskInput({ accountId: testAccount, createdAtMs });
  await storePending(database.db, input);
  return input;
}

const objectOf = async (taskId: string) =>
  JSON.parse((await findTask(database.db, taskId))?.object ?? 'null') as unknown;

test('a pending task that is older than a minute is started, also if an API process tries in vain to start it', async () => {
  const [due, tried] = [await aPendingTask(5), await aPendingTask(5)];
  await aPendingTask(0.5);
  await releaseStart(database.db, due.taskId, -61);
  await releaseStart(database.db, tried.taskId, 300);
  const started: string[] = [];
  expect(await repair(async ({ taskId }) => started.push(taskId) > 0)).toEqual([]);
  expect(started.sort()).toEqual([due.taskId, tried.taskId].sort());
});

test('a pending task whose workflow has completed ends as failed', async () => {
  const { taskId } = await aPendingTask(5);
  await releaseStart(database.db, taskId, -61);
  const message = 'The task was stopped by the service.';
  expect(await repair(async () => false)).toEqual([['closed', taskId, message]]);
  expect(await objectOf(taskId)).toMatchObject({ status: 'failed' });
});

test('a pending task past its deadline fails without a charge, and its callback is due', async () => {
  const input = aTaskInput({ accountId: testAccount, createdAtMs: Date.now() - 2 * minuteMs });
  const callback_url = 'https://consumer.example.com/hook';
  await storePending(
    database.db,
    { ...input, deadlineAtMs: Date.now() - minuteMs },
    { request: aRequest({ metadata: { callback_url } }) },
  );
  expect(await repair()).toEqual([['closed', input.taskId, expect.stringContaining('expired')]]);
  const failed = { status: 'failed', error: { code: 'task_error' } };
  expect(await objectOf(input.taskId)).toMatchObject(failed);
  const { rows } = await database.db.raw('select 1 from transfers where id like ?', [
    `${input.taskId}%`,
  ]);
  expect(rows).toEqual([]);
  expect(await dueCallbacks(database.db)).toEqual([input.taskId]);
});
