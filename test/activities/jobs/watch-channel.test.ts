// These tests run the watcher's loop with a real database and without Temporal. They check which
// jobs are polled, which rounds are recorded, and when the heartbeats stop.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { WorkerDeps } from '../../../activities/deps';
import type { ActivityEvents } from '../../../activities/events';
import { whileAdvancing } from '../../../activities/heartbeat';
import { createWatchActivities } from '../../../activities/jobs/watch-channel';
import {
  type JobReading,
  type Provider,
  UpstreamFault,
} from '../../../activities/providers/provider';
import { activitySettings, stopping } from '../../support/activity-settings';
import { aSuccess, aTaskId } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { until } from '../../support/until';
import { insertTaskRow } from '../../support/upstream';
import { watchWhile } from '../../support/watcher';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase(4);
});
afterEach(() => database.drop());

async function openJob(taskId: string): Promise<void> {
  await insertTaskRow(database.db, taskId);
  await database.db('jobs').insert({
    task_id: taskId,
    account_id: 'acct_test',
    kind: 'generation',
    channel: 'studio',
    upstream_model: 'm',
    state: 'open',
    status: 'queued',
    upstream_id: `up_${taskId}`,
    opened_at: database.db.fn.now(),
  });
}

type ReadMany = (ids: readonly string[]) => Promise<ReadonlyMap<string, JobReading>>;

type Polled = Pick<
  Provider,
  'idsPerRead' | 'idsPerRequest' | 'readsAtOnce' | 'readMany' | 'readManyMaxMs'
>;

/** Runs the loop on a channel whose provider answers as the test says, until `done` has ended. */
async function watchDuring(
  readMany: ReadMany,
  done: () => Promise<void>,
  idsPerRead = 150,
  pollIntervalMs = 100,
): Promise<void> {
  const limits = { pollIntervalMs, requestTimeoutMs: 1_000, jobsInFlightMax: null };
  const channel = { id: 'studio', protocol: 'ark', listLagMs: 60_000, ...limits };
  const provider: Polled = {
    idsPerRead,
    idsPerRequest: idsPerRead,
    readsAtOnce: 4,
    readManyMaxMs: () => 1_000,
    readMany: async (ids, take) => take(await readMany(ids)),
  };
  await watchWhile(
    depsWith(() => ({ channel, provider })),
    done,
  );
}

function depsWith(find: () => object | undefined): WorkerDeps {
  const deps = {
    db: database.db,
    client: {} as Client,
    settings: activitySettings,
    events: new Proxy({} as ActivityEvents, { get: () => () => undefined }),
    channels: {
      find,
      restMs: () => 0,
      succeeded: () => undefined,
      failed: () => undefined,
    },
  };
  return deps as unknown as WorkerDeps;
}

const rounds = () => database.db('loops').where({ channel: 'studio' });
const running: ReadMany = async (ids) =>
  new Map(ids.map((id) => [id, { status: 'queued', word: 'queued' }]));

test('a watcher’s round in which no due job could be polled is not recorded', async () => {
  await openJob(aTaskId());
  let asked = 0;
  const failing: ReadMany = async () => {
    asked += 1;
    throw new UpstreamFault('unavailable', 'TIMEOUT', 'The service could not be reached.');
  };
  await watchDuring(failing, () => until('some rounds were made', () => asked > 3));
  expect(await rounds()).toEqual([]);
  await watchDuring(running, () => until('it is', async () => (await rounds()).length === 1));
});

test('a worker that does not know the channel gives its watcher to another worker', async () => {
  await openJob(aTaskId());
  const { watchJobs } = createWatchActivities({
    ...depsWith(() => undefined),
    stopping,
  });
  const run = new MockActivityEnvironment().run(watchJobs, { channel: 'studio' });
  await expect(run).rejects.toMatchObject({ type: 'HandingOver' });
});

test('a watcher’s round without due jobs is recorded', async () => {
  await watchDuring(running, () => until('it is', async () => (await rounds()).length === 1));
});

/** The times at which the requests of some rounds begin, on a channel with an interval of 4 s. */
async function requestTimes(jobs: number, idsPerRead: number): Promise<number[]> {
  for (let number = 0; number < jobs; number += 1) await openJob(aTaskId());
  const times: number[] = [];
  const timed: ReadMany = async (ids) => {
    times.push(performance.now());
    return running(ids);
  };
  const wanted = 4 * Math.ceil(jobs / idsPerRead);
  const done = () => until('some rounds were made', () => times.length > wanted);
  await watchDuring(timed, done, idsPerRead, 4_000);
  return times;
}

test('a channel with few open jobs is asked once a second, and not more often', async () => {
  const times = await requestTimes(3, 150);
  const gaps = times.slice(1).map((at, n) => at - times[n]!);
  expect(Math.min(...gaps)).toBeGreaterThan(900);
  // Its interval is four times as long. A busy machine may delay some rounds.
  expect(Math.min(...gaps)).toBeLessThan(2_500);
});

test('a channel whose open jobs need two requests gets a request a second, and so a round every two', async () => {
  const times = await requestTimes(2, 1);
  const perSecond = (times.length - 2) / ((times.at(-1)! - times[0]!) / 1_000);
  expect(perSecond).toBeLessThan(1.1);
});

test('a watcher sends several list requests at once, and no more than its provider allows', async () => {
  for (let number = 0; number < 9; number += 1) await openJob(aTaskId());
  const asked = new Set<string>();
  let inFlight = 0;
  let most = 0;
  const slow: ReadMany = async (ids) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await pause(50);
    inFlight -= 1;
    for (const id of ids) asked.add(id);
    return running(ids);
  };
  await watchDuring(slow, () => until('all jobs were polled', () => asked.size === 9), 2);
  expect(most).toBe(4);
});

test('a defect that the poll of one job causes does not keep the rest of the round from its turn', async () => {
  const { db } = database;
  const [broken, neighbour, waiting] = [aTaskId(), aTaskId(), aTaskId()];
  for (const taskId of [broken, neighbour, waiting]) await openJob(taskId);
  await db('jobs')
    .where({ task_id: waiting })
    .update({ state: 'waiting', channels: ['studio'], waiting_since: db.fn.now() });
  const notified: string[] = [];
  const client = {
    activity: {
      complete: async ({ workflowId }: { workflowId: string }) => notified.push(workflowId),
    },
    workflow: { getHandle: (id: string) => ({ signal: async () => notified.push(id) }) },
  };
  const limits = { pollIntervalMs: 100, requestTimeoutMs: 1_000, jobsInFlightMax: null };
  const provider: Polled = {
    ...{ idsPerRead: 1, idsPerRequest: 1, readsAtOnce: 1, readManyMaxMs: () => 1_000 },
    async readMany(ids, take) {
      if (ids.includes(`up_${broken}`)) throw new TypeError('the defect');
      const { status, result } = aSuccess();
      await take(new Map(ids.map((id) => [id, { status, word: status, result: result! }])));
    },
  };
  const channel = { id: 'studio', protocol: 'ark', listLagMs: 60_000, ...limits };
  const deps = depsWith(() => ({ channel, provider }));
  const { watchJobs } = createWatchActivities({ ...deps, client: client as never, stopping });
  const run = new MockActivityEnvironment().run(watchJobs, { channel: 'studio' });
  await expect(run).rejects.toThrow('the defect');
  expect(notified.sort()).toEqual([neighbour, waiting].sort());
  expect(await rounds().whereNot({ ran_at: new Date(0) })).toEqual([]);
});

test('jobs are polled in every round even if the wall clock is set back', async () => {
  await openJob(aTaskId());
  const now = jest.spyOn(Date, 'now');
  try {
    let asked = 0;
    const counting: ReadMany = (ids) => {
      asked += 1;
      return running(ids);
    };
    await watchDuring(counting, async () => {
      await until('a round was made', () => asked > 0);
      now.mockImplementation(() => performance.timeOrigin + performance.now() - 3_600_000);
      const before = asked;
      await pause(2_000);
      expect(asked).toBeGreaterThan(before + 2);
    });
  } finally {
    now.mockRestore();
  }
});

test('the heartbeats of a watcher’s loop stop if one step takes too long, and continue while steps are short', async () => {
  const beatsOf = async (advanceEveryMs: number) => {
    const environment = new MockActivityEnvironment();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
    });
    await environment.run(() =>
      whileAdvancing(
        () => 6_000,
        async (advance) => {
          for (let ms = 0; ms < 13_500; ms += advanceEveryMs) {
            await pause(advanceEveryMs);
            advance();
          }
        },
      ),
    );
    return beats;
  };
  expect(await Promise.all([beatsOf(13_500), beatsOf(1_500)])).toEqual([1, 3]);
});
