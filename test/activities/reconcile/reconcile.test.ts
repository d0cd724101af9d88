// This test makes one duty of a reconciler run fail. Each duty has tests of its own.

import { MockActivityEnvironment } from '@temporalio/testing';
import { createHostShare } from '../../../activities/callbacks/per-host-limit';
import { createReconcileActivities } from '../../../activities/reconcile/reconcile';
import { readOpenWork } from '../../../src/tasks/open-work.rows';
import { activitySettings } from '../../support/activity-settings';
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
    hostShare: createHostShare(() => performance.now()),
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
/** Stores an upload that was removed long ago. Returns whether a run has forgotten it. */
async function removedUpload(id: string): Promise<() => Promise<boolean>> {
  await database.db.raw(
    `insert into files (id, account_id, role, state, key, link_token, media, expires_at, removed_because,
                        removed_at)
     values (:id, :account, 'upload', 'removed', :id, :id, 'image', now(), 'expired', now() - interval '36 days')`,
    { id, account: testAccount },
  );
  return async () => (await database.db('files').where({ id })).length === 0;
}
const hasRun = async () => (await readOpenWork(database.db)).reconcilerAgeSeconds < 60;

test('if one duty of the reconciler fails, the other duties still run, and then the run fails', async () => {
  const isForgotten = await removedUpload('file_failing');
  const run = runWith(() => Promise.reject(new Error('Temporal is away.')));
  await expect(run).rejects.toThrow('Temporal is away.');
  expect(await isForgotten()).toBe(true);
  expect(await hasRun()).toBe(false);
});

test('a worker that stops begins no further duty, and another worker repeats the run', async () => {
  const stopping = new AbortController();
  const isForgotten = await removedUpload('file_stopping');
  const run = runWith(async () => stopping.abort(), stopping);
  await expect(run).rejects.toMatchObject({ type: 'HandingOver' });
  expect(await isForgotten()).toBe(false);
  expect(await hasRun()).toBe(false);
});

test('a run of the reconciler in which no duty fails is recorded', async () => {
  await runWith(async () => undefined);
  expect(await hasRun()).toBe(true);
});
