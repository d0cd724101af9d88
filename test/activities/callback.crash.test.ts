// What becomes of an attempt when something of ours breaks in the middle of it: at least one
// message arrives, always under the same id, and nothing that happened is forgotten.

import type { ServerResponse } from 'node:http';
import type { CallbackDeps } from '../../activities/callback';
import { beginAttempt, findCallback, finishAttempt, listAttempts } from '../../src/db/callbacks';
import { connect } from '../../src/db/database';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import {
  aFinalTask,
  callbackActivities,
  createCallbackDatabase,
  quietWorker,
} from '../support/callbacks';
import type { TestDatabase } from '../support/database';
import { until } from '../support/until';

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

const aTask = (url = sink.url) => aFinalTask(database, url);
const deliver = (taskId: string, over: Partial<CallbackDeps> = {}, attempt = 1) =>
  callbackActivities(database, { allowHosts: [sink.hostPort], ...over }).attemptCallback({
    taskId,
    delivery: 1,
    attempt,
    chance: 0.5,
  });

const clock = 1_900_000_000_000;

test('an attempt whose outcome was recorded is not made again when only the word of it was lost', async () => {
  const id = await aTask();
  await deliver(id);
  expect(await deliver(id)).toMatchObject({ state: 'delivered' });
  sink.answer = (_, response) => void response.writeHead(500).end();
  const failing = await aTask();
  const now = () => clock;
  const first = await deliver(failing, { now });
  expect(await deliver(failing, { now })).toEqual(first);
  expect(sink.received).toHaveLength(2);
});

test('a slow database is not taken for a slow receiver, whose other callbacks would wait', async () => {
  const [slow, next, last] = await Promise.all([aTask(), aTask(), aTask()]);
  let now = clock;
  const activities = callbackActivities(database, {
    allowHosts: [sink.hostPort],
    perHostMax: 1,
    now: () => now,
  });
  const attempt = (taskId: string) =>
    activities.attemptCallback({ taskId, delivery: 1, attempt: 1, chance: 0.5 });
  const lock = await database.db.transaction();
  await lock.raw('lock table callback_attempts in exclusive mode');
  const delivered = attempt(slow);
  await until('it waits for the database', async () => {
    const { rows } = await database.db.raw(
      `select from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and not granted`,
    );
    return rows.length > 0;
  });
  now += 3_600_000;
  await lock.commit();
  expect(await delivered).toMatchObject({ state: 'delivered' });

  sink.answer = (_, response) => void answerLater(response);
  const held = attempt(next);
  await until('the receiver is busy', () => sink.received.length === 2);
  await expect(attempt(last)).rejects.toMatchObject({ type: 'HostBusy', nextRetryDelay: 1_000 });
  expect(await held).toMatchObject({ state: 'delivered' });
});

async function answerLater(response: ServerResponse): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  response.writeHead(204).end();
}

test('an attempt that was cut off is made again and stays visible', async () => {
  const id = await aTask();
  await beginAttempt(database.db, id, 1, 1, new Date(clock));
  await deliver(id);
  const attempts = await listAttempts(database.db, id);
  expect(attempts).toMatchObject([
    { attempt: 1, status: null, latencyMs: null, error: expect.stringContaining('cut off') },
    { attempt: 1, status: 204, error: null },
  ]);
});

test('nothing leaves while the attempt cannot be recorded', async () => {
  const id = await aTask();
  await database.db.raw('alter table callback_attempts rename to elsewhere');
  try {
    await expect(deliver(id)).rejects.toThrow();
  } finally {
    await database.db.raw('alter table elsewhere rename to callback_attempts');
  }
  expect(sink.received).toEqual([]);
});

/**
 * Breaks the database for as long as the receiver thinks, so that what it answers cannot be written
 * down.
 */
function breakWhileItAnswers(status: number): void {
  sink.answer = async (_, response) => {
    await database.db.raw('alter table callbacks rename to elsewhere');
    response.writeHead(status).end();
  };
}

test.each([204, 500])(
  'a message that was answered %i but not recorded is sent again under the same id',
  async (status) => {
    const id = await aTask();
    breakWhileItAnswers(status);
    await expect(deliver(id)).rejects.toThrow();
    await database.db.raw('alter table elsewhere rename to callbacks');
    expect(await findCallback(database.db, id)).toMatchObject({ state: 'pending' });
    sink.answer = (_, response) => void response.writeHead(204).end();
    expect(await deliver(id)).toMatchObject({ state: 'delivered' });
    expect(sink.received).toHaveLength(2);
    const [first, second] = sink.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(await listAttempts(database.db, id)).toMatchObject([
      { attempt: 1, error: expect.stringContaining('cut off') },
      { attempt: 1, status: 204 },
    ]);
  },
);

test('killed connections to the database fail the attempt, and the next one gets through', async () => {
  const id = await aTask();
  const killer = connect({ url: database.url, poolMax: 1, applicationName: 'killer' });
  let killed = 0;
  sink.answer = async (_, response) => {
    const { rowCount } = await killer.raw<{ rowCount: number }>(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
    killed += rowCount;
    response.writeHead(204).end();
  };
  await deliver(id).catch(() => undefined);
  sink.answer = (_, response) => void response.writeHead(204).end();
  await untilDelivered(id);
  await killer.destroy();
  expect(killed).toBeGreaterThan(0);
  const ids = new Set(sink.received.map(({ headers }) => headers['webhook-id']));
  expect(ids).toEqual(new Set([`${id}:succeeded`]));
});

/** As the engine does: tried again until it worked. */
async function untilDelivered(id: string): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    const outcome = await deliver(id).catch(() => null);
    if (outcome?.state === 'delivered') return;
  }
  throw new Error('It was not delivered.');
}

test('an answer that comes in after a newer delivery began decides nothing', async () => {
  const id = await aTask();
  const row = await beginAttempt(database.db, id, 1, 1, new Date(clock));
  await database.db.raw('update callbacks set deliveries = 2 where task_id = ?', [id]);
  await finishAttempt(
    database.db,
    { id: row, taskId: id, delivery: 1 },
    { status: 410, latencyMs: 1, error: 'HTTP 410', reply: null },
    { state: 'stopped', nextAt: null },
  );
  expect(await findCallback(database.db, id)).toMatchObject({ state: 'pending', deliveries: 2 });
  expect(await listAttempts(database.db, id)).toMatchObject([{ status: 410 }]);
});

test('a worker that stops lets go of a receiver that does not answer, and the attempt is made again', async () => {
  const id = await aTask();
  const worker = quietWorker();
  sink.answer = () => worker.cancel('WORKER_SHUTDOWN');
  const over = { allowHosts: [sink.hostPort] };
  const { attemptCallback } = callbackActivities(database, over, () => worker);
  const attempt = { taskId: id, delivery: 1, attempt: 1, chance: 0.5 };
  await expect(attemptCallback(attempt)).rejects.toThrow('WORKER_SHUTDOWN');
  expect(await findCallback(database.db, id)).toMatchObject({ state: 'pending' });
  sink.answer = (_, response) => void response.writeHead(204).end();
  expect(await deliver(id)).toMatchObject({ state: 'delivered' });
  expect(sink.received.map(({ headers }) => headers['webhook-id'])).toEqual(
    Array(2).fill(`${id}:succeeded`),
  );
});

test('a worker that has stopped begins nothing', async () => {
  const id = await aTask();
  const worker = quietWorker();
  worker.cancel('WORKER_SHUTDOWN');
  const over = { allowHosts: [sink.hostPort] };
  const { attemptCallback } = callbackActivities(database, over, () => worker);
  const attempt = { taskId: id, delivery: 1, attempt: 1, chance: 0.5 };
  await expect(attemptCallback(attempt)).rejects.toThrow('WORKER_SHUTDOWN');
  expect(sink.received).toEqual([]);
});
