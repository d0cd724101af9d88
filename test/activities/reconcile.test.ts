// This test makes one duty of a reconciler run fail. Each duty has tests of its own.

import { MockActivityEnvironment } from '@temporalio/testing';
import { createReconcileActivities } from '../../activities/reconcile/reconcile';
import { findTask } from '../../src/db/tasks';
import { activitySettings } from '../support/activity-settings';
import { storePending } from '../support/books';
import { aTaskInput } from '../support/builders';
import { createCallbackDatabase, testAccount } from '../support/callbacks';
import type { TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(() => database?.drop());

test('if one duty of the reconciler fails, the other duties still run, and then the run fails', async () => {
  const input = aTaskInput({ accountId: testAccount, createdAtMs: Date.now() - 86_400_000 * 3 });
  await storePending(database.db, input, { answered: true });
  await database.db.raw(`update tasks set deadline_at = now() - interval '1 minute'`);
  const { reconcileOnce } = createReconcileActivities({
    db: database.db,
    ensureWatchers: () => Promise.reject(new Error('Temporal is away.')),
    startDelivery: async () => undefined,
    startTask: async () => true,
    settings: activitySettings,
    events: { finding: () => undefined },
  } as never);
  const run = new MockActivityEnvironment().run(reconcileOnce);
  await expect(run).rejects.toThrow('Temporal is away.');
  expect(await findTask(database.db, input.taskId)).toMatchObject({ status: 'failed' });
});
