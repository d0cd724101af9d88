// What the tests of callbacks share: an account with a secret, finished tasks with an address to
// call, and the activities as a worker has them.

import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type CallbackDeps, createCallbackActivities } from '../../activities/callback';
import { createSecret } from '../../src/db/webhook-secrets';
import { aTaskId } from './builders';
import { createTestDatabase, type TestDatabase } from './database';

export const testAccount = 'acct';

export async function createCallbackDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.db.raw(`insert into accounts (id, name) values ('acct', 'acct')`);
  await createSecret(database.db, testAccount);
  return database;
}

/** Its object says something that must not be changed on the way. */
export async function aFinalTask(
  { db }: Pick<TestDatabase, 'db'>,
  url: string | null,
  { accountId = testAccount, final = true } = {},
): Promise<string> {
  const id = aTaskId();
  const status = final ? 'succeeded' : 'running';
  const object = JSON.stringify({ id, status, text: 'ü "quoted" \u2028' });
  await db.raw(
    `insert into tasks (id, account_id, model, status, version, object, request, plan, request_hash,
                        trace_id, callback_url, created_at, deadline_at, finished_at)
     values (:id, :accountId, 'm', :status, 9, :object, '{}', '{}', 'h', 't', :url, now(), now(),
             case when :final then now() end)`,
    { id, accountId, status, object, url, final },
  );
  return id;
}

/** What runs an activity; it does not print those that are meant to fail. */
export const quietWorker = () =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });

type CallbackActivities = ReturnType<typeof createCallbackActivities>;

/** As a worker runs them; `worker` is cancelled where the worker is to stop. */
export function callbackActivities(
  { db }: TestDatabase,
  over: Partial<CallbackDeps> = {},
  worker = quietWorker,
): CallbackActivities {
  const activities = createCallbackActivities({
    db,
    allowHosts: [],
    now: () => Date.now(),
    perHostMax: 10,
    onAttempt: () => undefined,
    ...over,
  });
  return {
    attemptCallback: (input) => worker().run(activities.attemptCallback, input),
    stopCallback: (name) => worker().run(activities.stopCallback, name),
  };
}
