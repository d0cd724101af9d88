// The tests of callbacks share this file. It gives them an account with a secret, finished tasks
// with a callback address, and the activities of a worker.

import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Knex } from 'knex';
import { createCallbackActivities } from '../../activities/callbacks/attempt-callback';
import { createHostShare } from '../../activities/callbacks/per-host-limit';
import type { ActivityEvents } from '../../activities/events';
import { createSecret } from '../../src/callbacks/webhook-secrets.rows';
import { prepare } from '../../src/database/prepared-statement';
import { endsTask } from '../../src/tasks/end-task.rows';
import { activitySettings } from './activity-settings';
import { aPlan, aTaskId } from './builders';
import { type CallbackSink, startCallbackSink } from './callback-sink';
import { createTestDatabase, type TestDatabase } from './database';

export const testAccount = 'acct';

export async function createCallbackDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.db.raw(`insert into accounts (id, name) values ('acct', 'acct')`);
  await createSecret(database.db, testAccount);
  return database;
}

/** The secrets of an account that have not expired, newest first. */
export async function activeSecrets(db: Knex, accountId: string): Promise<string[]> {
  const kept = db('webhook_secrets').where({ account_id: accountId });
  const active = kept.whereRaw('(expires_at is null or expires_at > now())');
  return active.orderBy('id', 'desc').pluck('secret');
}

const endLive = prepare('end_for_test', `with ${endsTask('true')} select from ended`);

/** Ends a task as the service does. Its object has text that must arrive unchanged. */
export async function endTask(db: Knex, taskId: string): Promise<void> {
  const object = {
    ...{ id: taskId, object: 'video.generation.task', status: 'succeeded' },
    ...{ data: [], text: 'ü "quoted" \u2028' },
  };
  await endLive(db, { taskId, object: JSON.stringify(object), announcedInSeconds: 0 });
}

/** Stores a task with a callback address and, unless `final` is false, ends it. */
export async function aFinalTask(
  { db }: Pick<TestDatabase, 'db'>,
  url: string | null,
  { accountId = testAccount, final = true } = {},
): Promise<string> {
  const id = aTaskId();
  await db.raw(
    `insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, created_at,
                        deadline_at)
     values (?, ?, 'm', ?, ?, 'h', 't', now(), now())`,
    [id, accountId, JSON.stringify({ metadata: { callback_url: url } }), JSON.stringify(aPlan())],
  );
  if (final) await endTask(db, id);
  return id;
}

/** The callbacks for which a worker starts a delivery now. */
export async function dueCallbacks(db: Knex): Promise<readonly string[]> {
  return db('callbacks').where({ state: 'pending' }).whereRaw('due_at <= now()').pluck('task_id');
}

/** Runs an activity without printing expected failures. */
export const quietWorker = () =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });

type CallbackActivities = ReturnType<typeof createCallbackActivities>;

interface CallbackOptions {
  readonly allowHosts?: readonly string[];
  readonly perHostMax?: number;
  readonly now?: () => number;
  readonly onAttempt?: ActivityEvents['callbackAttempt'];
  readonly limits?: Parameters<typeof createCallbackActivities>[1];
}

/** The callback activities. Each call runs in a new environment, which `worker` returns. */
export function callbackActivities(
  { db }: TestDatabase,
  options: CallbackOptions = {},
  worker = quietWorker,
): CallbackActivities {
  const { allowHosts = [], perHostMax = 10, now = Date.now, limits } = options;
  const { onAttempt = () => undefined } = options;
  const events = { callbackAttempt: onAttempt } as ActivityEvents;
  const settings = {
    ...activitySettings,
    dangerouslyAllowHosts: [...allowHosts],
    callbacksPerHostMax: perHostMax,
  };
  const hostShare = createHostShare(() => performance.now());
  const deps = { db, events, now, settings, hostShare };
  const activities = createCallbackActivities(deps, limits);
  return {
    attemptCallback: (input) => worker().run(activities.attemptCallback, input),
    stopCallback: (name) => worker().run(activities.stopCallback, name),
    testWebhook: (test) => worker().run(activities.testWebhook, test),
  };
}

/**
 * Registers hooks that give a test file a database, and each of its tests a receiver. Returns these
 * and the common steps of the tests.
 */
export function callbackWorld() {
  let database: TestDatabase;
  let sink: CallbackSink;
  beforeAll(async () => {
    database = await createCallbackDatabase();
  });
  afterAll(() => database?.drop());
  beforeEach(async () => {
    sink = await startCallbackSink();
  });
  afterEach(() => sink.close());
  const activities = (over: CallbackOptions = {}) =>
    callbackActivities(database, { allowHosts: [sink.hostPort], ...over });
  return {
    get database() {
      return database;
    },
    get sink() {
      return sink;
    },
    activities,
    aTask: (url: string | null = sink.url) => aFinalTask(database, url),
    deliver: (taskId: string, over: CallbackOptions = {}, attempt = 1) =>
      activities(over).attemptCallback({ taskId, delivery: 1, attempt, chance: 0 }),
  };
}
