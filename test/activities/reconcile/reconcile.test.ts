// This test makes one duty of a reconciler run fail. Each duty has tests of its own.

import { MockActivityEnvironment } from '@temporalio/testing';
import { createReconcileActivities } from '../../../activities/reconcile/reconcile';
import { readOpenWork } from '../../../src/tasks/open-work.rows';
import { findTask } from '../../../src/tasks/tasks.rows';
import { activitySettings } from '../../support/activity-settings';
import { storePending } from '../../support/books';
import { aTaskInput } from '../../support/builders';
import { createCallbackDatabase, testAccount } from '../../support/callbacks';
import type { TestDatabase } from '../../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(() => database?.drop());

const runWith = (ensureWatchers: () => Promise<void>, stopping = new AbortController()) => {
  const { reconcileOnce } = createReconcileActivities({
    db: database.db,
    stopping: stopping.signal,
    ensureWatchers,
    startDelivery: async () => undefined,
    startTask: async () => true,
    channels: { ids: () => [] },
    now: () => Date.now(),
    client: {
      options: { namespace: 'default' },
      workflowService: {
        listWorkflowExecutions: async () => ({ executions: [], nextPageToken: new Uint8Array() }),
      },
    },
    settings: activitySettings,
    events: { finding: () => undefined },
  } as never);
  return new MockActivityEnvironment().run(reconcileOnce);
};
const hasRun = async () => (await readOpenWork(database.db)).reconcilerAgeSeconds < 60;

test('if one duty of the reconciler fails, the other duties still run, and then the run fails', async () => {
  const input = aTaskInput({ accountId: testAccount, createdAtMs: Date.now() - 86_400_000 * 3 });
  await storePending(database.db, input);
  await database.db.raw(`update tasks set deadline_at = now() - interval '1 minute'`);
  const run = runWith(() => Promise.reject(new Error('Temporal is away.')));
  await expect(run).rejects.toThrow('Temporal is away.');
  expect(await findTask(database.db, input.taskId)).toMatchObject({ status: 'failed' });
  expect(await hasRun()).toBe(false);
});

test('a worker that stops begins no further duty, and another worker repeats the run', async () => {
  const stopping = new AbortController();
  const input = aTaskInput({ accountId: testAccount, createdAtMs: Date.now() - 86_400_000 * 3 });
  await storePending(database.db, input);
  await database.db.raw(`update tasks set deadline_at = now() - interval '1 minute'
                          where finished_at is null`);
  const run = runWith(async () => stopping.abort(), stopping);
  await expect(run).rejects.toMatchObject({ type: 'HandingOver' });
  expect(await findTask(database.db, input.taskId)).not.toMatchObject({ status: 'failed' });
  expect(await hasRun()).toBe(false);
});

test('a run of the reconciler in which no duty fails is recorded', async () => {
  await runWith(async () => undefined);
  expect(await hasRun()).toBe(true);
});
