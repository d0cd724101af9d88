// The reconciler finds pending callbacks whose delivery was lost, and starts the delivery again at
// the next attempt. Callbacks that are final, not due or being delivered are left alone.

import { defaultPayloadConverter } from '@temporalio/common';
import { restartLostCallbacks } from '../../../activities/reconcile/lost-callbacks';
import {
  beginAttempt,
  beginResend,
  type CallbackState,
  finishAttempt,
  takeOverdueDeliveries,
} from '../../../src/callbacks/callbacks.rows';
import { startDelivery } from '../../../src/engine/start-delivery';
import { type CallbackInput, callbackWorkflowId } from '../../../workflows/messages';
import { stopping } from '../../support/activity-settings';
import { aFinalTask, createCallbackDatabase } from '../../support/callbacks';
import type { TestDatabase } from '../../support/database';
import { connectTemporal, uniqueTaskQueue } from '../../support/temporal';

let database: TestDatabase;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
// No worker polls this queue, so a started workflow stays as it was started.
const taskQueue = uniqueTaskQueue();
const started = new Set<string>();
beforeAll(async () => {
  database = await createCallbackDatabase();
  temporal = await connectTemporal();
});
afterAll(async () => {
  for (const id of started) await temporal.client.workflow.getHandle(id).terminate();
  await temporal?.close();
  await database?.drop();
});
afterEach(() => database.db.raw(`update callbacks set state = 'stopped' where state = 'pending'`));

const url = 'https://consumer.example.com/hook';
const minute = 60;
const start = (input: CallbackInput) => startDelivery(temporal.client, taskQueue, input);
const deps = () => ({ db: database.db, startDelivery: start, stopping });

/** A callback that is overdue by this many seconds. */
async function aCallback(overdueSeconds: number, state: CallbackState = 'pending') {
  const id = await aFinalTask(database, url);
  await database.db.raw(
    `update callbacks set state = ?, next_at = now() - make_interval(secs => ?) where task_id = ?`,
    [state, overdueSeconds, id],
  );
  return id;
}

async function failedAttempt(id: string, attempt: number, delivery = 1): Promise<void> {
  const row = await beginAttempt(database.db, id, delivery, attempt, new Date());
  await finishAttempt(
    database.db,
    { id: row, taskId: id, delivery },
    { status: 500, latencyMs: 1, error: 'HTTP 500', reply: null },
    { state: 'pending', nextAt: new Date(Date.now() - 11 * minute * 1000) },
  );
}

/** The workflow of a delivery: its run, its state and its input. Null if there is no workflow. */
async function workflowOf(id: string, delivery = 1) {
  const workflowId = callbackWorkflowId(id, delivery);
  const handle = temporal.client.workflow.getHandle(workflowId);
  const description = await handle.describe().catch(() => null);
  if (!description) return null;
  started.add(workflowId);
  const { events } = await handle.fetchHistory();
  const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return {
    runId: description.runId,
    running: description.status.name === 'RUNNING',
    input: input ? defaultPayloadConverter.fromPayload(input) : null,
  };
}

test('a callback without a delivery gets a delivery that begins at the first attempt', async () => {
  const id = await aCallback(11 * minute);
  expect(await restartLostCallbacks(deps())).toBe(1);
  expect((await workflowOf(id))?.input).toEqual({ taskId: id, delivery: 1, firstAttempt: 1 });
});

test('a lost delivery of a callback continues at the attempt that has no recorded answer', async () => {
  const id = await aCallback(11 * minute);
  for (const attempt of [1, 2, 3]) await failedAttempt(id, attempt);
  await beginAttempt(database.db, id, 1, 4, new Date());
  expect(await restartLostCallbacks(deps())).toBe(1);
  expect((await workflowOf(id))?.input).toMatchObject({ firstAttempt: 4 });
});

test('a lost resend of a callback continues as the same delivery, with its own count of attempts', async () => {
  const id = await aCallback(0);
  for (const attempt of [1, 2, 3]) await failedAttempt(id, attempt);
  await beginResend(database.db, id);
  await failedAttempt(id, 1, 2);
  expect(await restartLostCallbacks(deps())).toBe(1);
  expect(await workflowOf(id)).toBeNull();
  expect((await workflowOf(id, 2))?.input).toEqual({ taskId: id, delivery: 2, firstAttempt: 2 });
});

test.each<[string, number, CallbackState]>([
  ['due in a minute', -minute, 'pending'],
  ['nine minutes overdue', 9 * minute, 'pending'],
  ['delivered', 11 * minute, 'delivered'],
  ['exhausted', 11 * minute, 'exhausted'],
  ['stopped', 11 * minute, 'stopped'],
])('a callback that is %s is not restarted', async (_, overdueSeconds, state) => {
  const id = await aCallback(overdueSeconds, state);
  expect(await restartLostCallbacks(deps())).toBe(0);
  expect(await workflowOf(id)).toBeNull();
});

test('a running delivery of a callback keeps its workflow and is checked only once per interval', async () => {
  const id = await aCallback(11 * minute);
  await start({ taskId: id });
  const before = await workflowOf(id);
  expect(await restartLostCallbacks(deps())).toBe(1);
  expect(await workflowOf(id)).toEqual(before);
  expect(await restartLostCallbacks(deps())).toBe(0);
});

test('a delivery of a callback whose workflow was terminated gets a new workflow', async () => {
  const id = await aCallback(11 * minute);
  await start({ taskId: id });
  const before = await workflowOf(id);
  await temporal.client.workflow.getHandle(callbackWorkflowId(id)).terminate();
  await restartLostCallbacks(deps());
  const after = await workflowOf(id);
  expect(after?.running).toBe(true);
  expect(after?.runId).not.toBe(before?.runId);
});

test('overdue callbacks are taken in slices, the longest overdue first, and each callback only once', async () => {
  const ids = [];
  for (const hours of [3, 2, 1]) ids.push(await aCallback(hours * 60 * minute));
  const take = async () =>
    (await takeOverdueDeliveries(database.db, 10 * minute, 2)).map(({ taskId }) => taskId);
  expect(new Set(await take())).toEqual(new Set(ids.slice(0, 2)));
  expect(await take()).toEqual(ids.slice(2));
  expect(await take()).toEqual([]);
});

test('if Temporal refuses to start one delivery, the other deliveries are still started', async () => {
  const ids = [await aCallback(20 * minute), await aCallback(15 * minute)];
  const tried: string[] = [];
  const startSome = async ({ taskId }: CallbackInput) => {
    tried.push(taskId);
    if (taskId === ids[0]) throw new Error('3 INVALID_ARGUMENT');
  };
  await restartLostCallbacks({ ...deps(), startDelivery: startSome });
  expect(tried).toContain(ids[1]);
});
