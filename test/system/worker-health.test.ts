// Tests the health of a worker process over HTTP, as its container reads it. A worker is ready only
// while Temporal sees its polls and its database answers.

import { type Link, startLink } from '../chaos/link';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { endAllProcesses, type RunningProcess, startProcess } from '../support/processes';
import { connectTemporal, temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

let database: TestDatabase;
let links: { temporal: Link; database: Link };
let worker: RunningProcess;
let port: number;

beforeAll(async () => {
  database = await createTestDatabase(2);
  const url = new URL(database.url);
  const target = { host: url.hostname, port: Number(url.port) };
  const [host = '', temporalPort] = temporalAddress().split(':');
  links = {
    temporal: await startLink(() => ({ host, port: Number(temporalPort) })),
    database: await startLink(() => target),
  };
  url.host = links.database.address;
  const taskQueue = uniqueTaskQueue();
  worker = startProcess(['worker'], {
    DATABASE_URL: url.href,
    TEMPORAL_ADDRESS: links.temporal.address,
    TEMPORAL_TASK_QUEUE: taskQueue,
    STUDIO_URL: 'http://127.0.0.1:1',
    STUDIO_API_KEY: 'a key for tests',
    DATA_DIR: '/none',
    METRICS_PORT: '0',
    RECONCILE_INTERVAL_SECONDS: '3600',
  });
  await until(
    'the worker is ready',
    () => {
      if (worker.hasEnded()) throw new Error(`The worker ended:\n${worker.said()}`);
      return worker.out().includes('"event":"ready"');
    },
    60_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${worker.said()}`);
  });
  await pauseReconciler(taskQueue);
  port = Number(/"event":"metrics_served","port":(\d+)/.exec(worker.out())?.[1]);
});

afterAll(async () => {
  await endAllProcesses();
  await Promise.all([links?.temporal.close(), links?.database.close()]);
  await database?.drop();
});

/**
 * Pauses the schedule of the reconciler after its first run. Otherwise the reconciler would repair
 * the rows that a test inserts.
 */
async function pauseReconciler(taskQueue: string): Promise<void> {
  const { client, close } = await connectTemporal();
  const schedule = client.schedule.getHandle(`reconcile:${taskQueue}`);
  const begun = async () => (await schedule.describe()).info.recentActions;
  try {
    await until(
      'the first run of the reconciler has begun',
      async () => (await begun()).length > 0,
      60_000,
    );
    await schedule.pause();
    for (const { action } of await begun()) {
      await client.workflow.getHandle(action.workflow.workflowId).result();
    }
  } finally {
    await close();
  }
}

async function readyz() {
  const reply = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: reply.status, ...((await reply.json()) as object) };
}

const isReady = () =>
  until('the worker is ready again', async () => (await readyz()).status === 200, 60_000);
const parts = { polls: true, database: true, watchers: true };
async function becomes(missing: Partial<typeof parts>) {
  const wanted = { status: 503, ready: false, parts: { ...parts, ...missing } };
  let answer: object = {};
  const isSo = async () => {
    answer = await readyz();
    return JSON.stringify(answer) === JSON.stringify(wanted);
  };
  await until('the worker reports it', isSo, 60_000).catch(() => undefined);
  expect(answer).toEqual(wanted);
}

test('a worker is ready after Temporal has seen its polls', async () => {
  await isReady();
  expect(await readyz()).toEqual({ status: 200, ready: true, parts });
});

test('a worker is not ready while Temporal does not answer, and is ready again afterwards', async () => {
  links.temporal.break('falls silent');
  await becomes({ polls: false });
  links.temporal.mend();
  await isReady();
});

test('a worker is not ready while its database does not answer, and is ready again afterwards', async () => {
  links.database.break('falls silent');
  await becomes({ database: false, watchers: false });
  links.database.mend();
  await isReady();
});

test('a worker shows a channel that has an open job and no watcher, and stays ready', async () => {
  await database.db.raw(`
    insert into accounts (id, name) values ('a', 'a');
    insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, created_at,
                       deadline_at)
    values ('t', 'a', 'm', '{}', '{}', 'h', 't', now(), now() + interval '1 day');
    insert into jobs (task_id, kind, account_id, channel, upstream_model, state, opened_at)
    values ('t', 'generation', 'a', 'gone', 'm', 'open', now() - interval '5 minutes')`);
  await until('the worker shows it', async () => {
    const { ready, parts: shown } = (await readyz()) as { ready?: boolean; parts?: typeof parts };
    expect(ready).toBe(true);
    return shown?.watchers === false;
  });
  await database.db.raw(
    `insert into loops (kind, channel, ran_at) values ('watcher', 'gone', now())`,
  );
  await until('it was polled', async () => {
    const { parts: shown } = (await readyz()) as { parts?: typeof parts };
    return shown?.watchers === true;
  });
});

test('a worker answers `/livez` with 200 while Temporal does not answer, and unknown paths with 404', async () => {
  const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  links.temporal.break('falls silent');
  expect((await at('/livez')).status).toBe(200);
  links.temporal.mend();
  expect((await at('/v1/tasks')).status).toBe(404);
});
