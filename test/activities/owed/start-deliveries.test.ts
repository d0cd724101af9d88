// Callbacks that are due get a delivery, which begins at the first attempt without an answer. Callbacks
// that are final, not due or being delivered are left alone.

import { defaultPayloadConverter } from '@temporalio/common';
import { callbackDeliveries } from '../../../activities/owed/start-deliveries';
import {
  beginAttempt,
  beginResend,
  claimDeliveries,
  finishAttempt,
} from '../../../src/callbacks/callbacks.rows';
import type { CallbackState } from '../../../src/contract/vocabulary';
import { startDelivery } from '../../../src/engine/start-delivery';
import { type CallbackInput, callbackWorkflowId } from '../../../workflows/messages';
import { aFinalTask, createCallbackDatabase } from '../../support/callbacks';
import type { TestDatabase } from '../../support/database';
import { fulfilDue } from '../../support/owed';
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
const startDue = (startDelivery = start) =>
  fulfilDue(callbackDeliveries({ db: database.db, startDelivery }));

/** A callback that has been due for this many seconds. */
async function aCallback(dueSeconds: number, state: CallbackState = 'pending') {
  const id = await aFinalTask(database, url);
  await database.db.raw(
    `update callbacks set state = ?, due_at = now() - make_interval(secs => ?) where task_id = ?`,
    [state, dueSeconds, id],
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

async function dueInSeconds(id: string): Promise<number> {
  const left = database.db.raw('extract(epoch from due_at - now())::float8 as seconds');
  return (await database.db('callbacks').where({ task_id: id }).first(left)).seconds;
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
  const id = await aCallback(minute);
  await startDue();
  expect((await workflowOf(id))?.input).toEqual({ taskId: id, delivery: 1, firstAttempt: 1 });
});

test('a lost delivery of a callback continues at the attempt that has no recorded answer', async () => {
  const id = await aCallback(minute);
  for (const attempt of [1, 2, 3]) await failedAttempt(id, attempt);
  await beginAttempt(database.db, id, 1, 4, new Date());
  await startDue();
  expect((await workflowOf(id))?.input).toMatchObject({ firstAttempt: 4 });
});

test('a lost resend of a callback continues as the same delivery, with its own count of attempts', async () => {
  const id = await aCallback(0);
  for (const attempt of [1, 2, 3]) await failedAttempt(id, attempt);
  await beginResend(database.db, id);
  await failedAttempt(id, 1, 2);
  await startDue();
  expect(await workflowOf(id)).toBeNull();
  expect((await workflowOf(id, 2))?.input).toEqual({ taskId: id, delivery: 2, firstAttempt: 2 });
});

test.each<[string, number, CallbackState]>([
  ['due in a minute', -minute, 'pending'],
  ['delivered', minute, 'delivered'],
  ['exhausted', minute, 'exhausted'],
  ['stopped', minute, 'stopped'],
])('a callback that is %s gets no delivery', async (_, dueSeconds, state) => {
  const id = await aCallback(dueSeconds, state);
  await startDue();
  expect(await workflowOf(id)).toBeNull();
});

test('a running delivery of a callback keeps its workflow', async () => {
  const id = await aCallback(minute);
  await start({ taskId: id });
  const before = await workflowOf(id);
  await startDue();
  expect(await workflowOf(id)).toEqual(before);
});

test('a delivery of a callback whose workflow was terminated gets a new workflow', async () => {
  const id = await aCallback(minute);
  await start({ taskId: id });
  const before = await workflowOf(id);
  await temporal.client.workflow.getHandle(callbackWorkflowId(id)).terminate();
  await startDue();
  const after = await workflowOf(id);
  expect(after?.running).toBe(true);
  expect(after?.runId).not.toBe(before?.runId);
});

test('a callback is claimed once in ten minutes, those of an account that are due longest first', async () => {
  const ids = [];
  for (const hours of [3, 2, 1]) ids.push(await aCallback(hours * 60 * minute));
  const claim = async () => (await claimDeliveries(database.db)(2)).map(({ taskId }) => taskId);
  expect(new Set(await claim())).toEqual(new Set(ids.slice(0, 2)));
  expect(await claim()).toEqual(ids.slice(2));
  expect(await claim()).toEqual([]);
  const seconds = await Promise.all(ids.map(dueInSeconds));
  for (const left of seconds) expect(left).toBeGreaterThan(9 * minute);
});

test('a delivery that could not be started is due again in half a minute, and others are started', async () => {
  const ids = [await aCallback(20 * minute), await aCallback(15 * minute)];
  await startDue(async (input) => {
    if (input.taskId === ids[0]) throw new Error('3 INVALID_ARGUMENT');
    await start(input);
  });
  expect(await workflowOf(ids[1] ?? '')).not.toBeNull();
  expect(await dueInSeconds(ids[0] ?? '')).toBeLessThanOrEqual(30);
});

test('an attempt that will be repeated makes its callback due ten minutes after the next attempt', async () => {
  const id = await aCallback(minute);
  const row = await beginAttempt(database.db, id, 1, 1, new Date());
  const nextAt = new Date(Date.now() + 5_000);
  const answer = { status: 500, latencyMs: 1, error: 'HTTP 500', reply: null };
  await finishAttempt(database.db, { id: row, taskId: id, delivery: 1 }, answer, {
    state: 'pending',
    nextAt,
  });
  const { due_at: dueAt } = await database.db('callbacks').where({ task_id: id }).first('due_at');
  expect(dueAt.getTime() - nextAt.getTime()).toBe(10 * minute * 1_000);
});
