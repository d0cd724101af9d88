// These tests interrupt callback attempts on our side: a worker stops, the database fails, or a
// completion is lost. The message must still arrive at least once, always with the same id. Every
// attempt must stay recorded.

import type { ServerResponse } from 'node:http';
import {
  beginAttempt,
  findCallback,
  finishAttempt,
  listAttempts,
} from '../../../src/callbacks/callbacks.rows';
import { connect } from '../../../src/database/database';
import { callbackActivities, callbackWorld, quietWorker } from '../../support/callbacks';
import { until } from '../../support/until';

const world = callbackWorld();
const { aTask, deliver } = world;

const clock = 1_900_000_000_000;

test('a callback attempt with a recorded result is not repeated if its completion in Temporal was lost', async () => {
  const id = await aTask();
  await deliver(id);
  expect(await deliver(id)).toMatchObject({ state: 'delivered' });
  world.sink.answer = (_, response) => void response.writeHead(500).end();
  const failing = await aTask();
  const now = () => clock;
  const first = await deliver(failing, { now });
  expect(await deliver(failing, { now })).toEqual(first);
  expect(world.sink.received).toHaveLength(2);
});

test('the wait for a slow database does not count as the receiver’s answer time', async () => {
  const [slow, next, last] = await Promise.all([aTask(), aTask(), aTask()]);
  let now = clock;
  const activities = callbackActivities(world.database, {
    allowHosts: [world.sink.hostPort],
    perHostMax: 1,
    now: () => now,
  });
  const attempt = (taskId: string) =>
    activities.attemptCallback({ taskId, delivery: 1, attempt: 1, chance: 0 });
  const lock = await world.database.db.transaction();
  await lock.raw('lock table callback_attempts in exclusive mode');
  const delivered = attempt(slow);
  await until('it waits for the database', async () => {
    const { rows } = await world.database.db.raw(
      `select from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and not granted`,
    );
    return rows.length > 0;
  });
  now += 3_600_000;
  await lock.commit();
  expect(await delivered).toMatchObject({ state: 'delivered' });

  let answer = () => {};
  world.sink.answer = (_, response) => {
    answer = () => response.writeHead(204).end();
  };
  const held = attempt(next);
  await until('the receiver is busy', () => world.sink.received.length === 2);
  await expect(attempt(last)).rejects.toMatchObject({ type: 'HostBusy', nextRetryDelay: 1_000 });
  answer();
  expect(await held).toMatchObject({ state: 'delivered' });
});

test('an interrupted callback attempt is repeated, and its first row is kept', async () => {
  const id = await aTask();
  await beginAttempt(world.database.db, id, 1, 1, new Date(clock));
  await deliver(id);
  const attempts = await listAttempts(world.database.db, id);
  expect(attempts).toMatchObject([
    { attempt: 1, status: null, latencyMs: null, error: expect.stringContaining('cut off') },
    { attempt: 1, status: 204, error: null },
  ]);
});

test('no callback is sent while its attempt cannot be recorded', async () => {
  const id = await aTask();
  await world.database.db.raw('alter table callback_attempts rename to elsewhere');
  try {
    await expect(deliver(id)).rejects.toThrow();
  } finally {
    await world.database.db.raw('alter table elsewhere rename to callback_attempts');
  }
  expect(world.sink.received).toEqual([]);
});

/** Breaks the database while the receiver answers, so that the answer cannot be recorded. */
function breakWhileItAnswers(status: number): void {
  world.sink.answer = async (_, response) => {
    await world.database.db.raw('alter table callbacks rename to elsewhere');
    response.writeHead(status).end();
  };
}

test('a callback stays recorded as delivered if a slower call of the same attempt fails later', async () => {
  const id = await aTask();
  const held: ServerResponse[] = [];
  world.sink.answer = (_, response) => void held.push(response);
  const late = deliver(id);
  await until('the first call waits for its answer', () => held.length === 1);
  world.sink.answer = (_, response) => void response.writeHead(204).end();
  expect(await deliver(id)).toMatchObject({ state: 'delivered' });
  held[0]?.writeHead(500).end();
  await late;
  expect(await findCallback(world.database.db, id)).toMatchObject({
    state: 'delivered',
    nextAt: null,
  });
});

test.each([204, 500])(
  'a callback whose answer %i could not be recorded is sent again with the same id',
  async (status) => {
    const id = await aTask();
    breakWhileItAnswers(status);
    await expect(deliver(id)).rejects.toThrow();
    await world.database.db.raw('alter table elsewhere rename to callbacks');
    expect(await findCallback(world.database.db, id)).toMatchObject({ state: 'pending' });
    world.sink.answer = (_, response) => void response.writeHead(204).end();
    expect(await deliver(id)).toMatchObject({ state: 'delivered' });
    expect(world.sink.received).toHaveLength(2);
    const [first, second] = world.sink.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(await listAttempts(world.database.db, id)).toMatchObject([
      { attempt: 1, error: expect.stringContaining('cut off') },
      { attempt: 1, status: 204 },
    ]);
  },
);

test('if database connections are killed during an attempt, all requests of the callback have the same id', async () => {
  const id = await aTask();
  const killer = connect({ url: world.database.url, poolMax: 1, applicationName: 'killer' });
  let killed = 0;
  world.sink.answer = async (_, response) => {
    const { rowCount } = await killer.raw<{ rowCount: number }>(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
    killed += rowCount;
    response.writeHead(204).end();
  };
  await deliver(id).catch(() => undefined);
  world.sink.answer = (_, response) => void response.writeHead(204).end();
  await untilDelivered(id);
  await killer.destroy();
  expect(killed).toBeGreaterThan(0);
  const ids = new Set(world.sink.received.map(({ headers }) => headers['webhook-id']));
  expect(ids).toEqual(new Set([`${id}:succeeded`]));
});

/** Repeats the attempt until the callback is delivered, as Temporal does. */
async function untilDelivered(id: string): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    const outcome = await deliver(id).catch(() => null);
    if (outcome?.state === 'delivered') return;
  }
  throw new Error('It was not delivered.');
}

test('an answer that arrives after a newer delivery began does not change the callback’s state', async () => {
  const id = await aTask();
  const row = await beginAttempt(world.database.db, id, 1, 1, new Date(clock));
  await world.database.db.raw('update callbacks set deliveries = 2 where task_id = ?', [id]);
  await finishAttempt(
    world.database.db,
    { id: row, taskId: id, delivery: 1 },
    { status: 410, latencyMs: 1, error: 'HTTP 410', reply: null },
    { state: 'stopped', nextAt: null },
  );
  expect(await findCallback(world.database.db, id)).toMatchObject({
    state: 'pending',
    deliveries: 2,
  });
  expect(await listAttempts(world.database.db, id)).toMatchObject([{ status: 410 }]);
});

test('a stopping worker aborts an unanswered callback request, and the attempt is made again', async () => {
  const id = await aTask();
  const worker = quietWorker();
  world.sink.answer = () => worker.cancel('WORKER_SHUTDOWN');
  const over = { allowHosts: [world.sink.hostPort] };
  const { attemptCallback } = callbackActivities(world.database, over, () => worker);
  const attempt = { taskId: id, delivery: 1, attempt: 1, chance: 0 };
  await expect(attemptCallback(attempt)).rejects.toThrow('WORKER_SHUTDOWN');
  expect(await findCallback(world.database.db, id)).toMatchObject({ state: 'pending' });
  world.sink.answer = (_, response) => void response.writeHead(204).end();
  expect(await deliver(id)).toMatchObject({ state: 'delivered' });
  expect(world.sink.received.map(({ headers }) => headers['webhook-id'])).toEqual(
    Array(2).fill(`${id}:succeeded`),
  );
});

test('a stopped worker sends no callback', async () => {
  const id = await aTask();
  const worker = quietWorker();
  worker.cancel('WORKER_SHUTDOWN');
  const over = { allowHosts: [world.sink.hostPort] };
  const { attemptCallback } = callbackActivities(world.database, over, () => worker);
  const attempt = { taskId: id, delivery: 1, attempt: 1, chance: 0 };
  await expect(attemptCallback(attempt)).rejects.toThrow('WORKER_SHUTDOWN');
  expect(world.sink.received).toEqual([]);
});
