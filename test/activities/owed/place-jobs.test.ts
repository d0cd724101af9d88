// A worker that dies during a create leaves its activity open, like a job that takes days. Its lease in
// the row of the job lapses. These tests use a real Temporal server, and attempts that renew no lease.

import { setTimeout } from 'node:timers/promises';
import type { FullActivityId } from '@temporalio/client/lib/async-completion-client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ActivityEvents } from '../../../activities/events';
import { owedTurns } from '../../../activities/owed/give-turns';
import { lapsedPlacements } from '../../../activities/owed/place-jobs';
import { endLost } from '../../../activities/reconcile/end-tasks';
import { connect } from '../../../src/database/database';
import { beginPlacing, renewPlacing } from '../../../src/jobs/owed.rows';
import { giveTurns, releaseStranded, takeSlot } from '../../../src/jobs/slots.rows';
import { waitForTurn } from '../../../src/jobs/steps.rows';
import { stopping } from '../../support/activity-settings';
import { aJobInput, aSuccess, aTaskInput } from '../../support/builders';
import { startCutter } from '../../support/cutter';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { fulfilDue } from '../../support/owed';
import {
  openWorlds,
  placedAt,
  type TaskHandle,
  type World,
  type Worlds,
} from '../../support/task-world';
import { realEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/until';
import { insertTaskRow, planJob, startUpstream } from '../../support/upstream';

let env: TestWorkflowEnvironment;
let database: TestDatabase;
let worlds: Worlds;
beforeAll(async () => {
  [env, database] = await Promise.all([realEnvironment(), createTestDatabase()]);
  worlds = await openWorlds(env, { workflowBundle: workflowBundle() });
});
afterAll(async () => {
  await worlds?.close();
  await env?.teardown();
  await database?.drop();
});

interface Stage {
  readonly world: World;
  readonly taskId: string;
  readonly task: TaskHandle;
  /** Ids of tasks whose attempt was failed. */
  readonly silent: string[];
  /** Does what is owed now, without waiting for it to be due. */
  lapse(): Promise<void>;
  row(): Promise<{ state: string; owes: string | null } | undefined>;
}

/** Runs `play` on a task whose attempt has begun. It renews no lease, like a dead worker's. */
function onStage(play: (stage: Stage) => Promise<void>, begin?: (world: World) => void) {
  return () =>
    worlds.run(async (world) => {
      begin?.(world);
      const input = aTaskInput();
      const { taskId } = input;
      const { db } = database;
      await insertTaskRow(db, taskId);
      await planJob(db, { ...input, kind: 'generation' });
      const task = await world.start(input);
      await task.admitted();
      await until('an attempt has begun', () => world.submitted.length > 0);
      const silent: string[] = [];
      const events = { attemptSilent: (id: string) => silent.push(id) } as never as ActivityEvents;
      const row = async () => (await db('jobs').where({ task_id: taskId }))[0];
      const lapse = async () => {
        await db('jobs')
          .where({ task_id: taskId })
          .whereNotNull('owes')
          .update({ due_at: db.fn.now() });
        const deps = { db, client: env.client, events };
        await fulfilDue(lapsedPlacements(deps, 0));
        await fulfilDue(owedTurns(deps));
      };
      await play({ world, taskId, task, silent, lapse, row });
      await task.terminate().catch(() => undefined);
      await db('jobs').where({ task_id: taskId }).delete();
    });
}

/** The first attempt waits for a turn at the channel, and the next one is accepted. */
const firstWaitsFor = (channel: string) => (world: World) => {
  world.script.submit = async (job) => {
    if (world.submitted.length > 1) return { outcome: 'open', channel: 'x', upstreamId: '1' };
    await waitForTurn(database.db, job, [channel]);
    return { outcome: 'waiting' };
  };
};

test(
  'an attempt whose lease has lapsed is failed, and the next attempt begins',
  onStage(async ({ world, taskId, silent, lapse }) => {
    await lapse();
    expect(silent).toEqual([taskId]);
    await until('it was tried again', () => world.submitted.length === 2);
  }),
);

test('an attempt that is at work renews its lease, and the next attempt takes one', async () => {
  const { db } = database;
  const upstream = await startUpstream(db);
  try {
    const input = await upstream.input();
    const lease = async () => {
      const { rows } = await db.raw(
        `select owes, extract(epoch from due_at - now())::float8 as left from jobs
          where task_id = ?`,
        [input.taskId],
      );
      return rows[0] as { owes: string | null; left: number };
    };
    await db('jobs').where({ task_id: input.taskId }).update({ due_at: db.fn.now() });
    const { find, ...rest } = upstream.deps.channels;
    const known = find('studio')!;
    const create = async (...args: Parameters<typeof known.provider.create>) => {
      const upstreamId = await known.provider.create(...args);
      expect(await lease()).toMatchObject({ owes: 'place' });
      await db('jobs').where({ task_id: input.taskId }).update({ due_at: db.fn.now() });
      await until('it is renewed', async () => (await lease()).left > 13);
      return upstreamId;
    };
    const slow = { ...known, provider: { ...known.provider, create } };
    await upstream.attempt(input, { channels: { ...rest, find: () => slow } });
    expect(await lease()).toEqual({ owes: null, left: null });
  } finally {
    await upstream.close();
  }
});

test('a placement that waits for its retry is not due until the retry should have begun', async () => {
  const { db } = database;
  const upstream = await startUpstream(db);
  try {
    const input = await upstream.input();
    const left = async () => {
      const { rows } = await db.raw<{ rows: { owes: string; left: number }[] }>(
        `select owes, extract(epoch from due_at - now())::float8 as left from jobs where task_id = ?`,
        [input.taskId],
      );
      expect(rows[0]?.owes).toBe('place');
      return rows[0]?.left ?? 0;
    };
    const restingFor = async (restMs: number) => {
      const channels = { ...upstream.deps.channels, restMs: () => restMs };
      const failure = { type: 'NoChannelAvailable' };
      await expect(upstream.attempt(input, { channels })).rejects.toMatchObject(failure);
      return left();
    };
    const minute = await restingFor(60_000);
    expect([minute > 60, minute <= 75]).toEqual([true, true]);
    const hour = await restingFor(3_600_000);
    expect([hour > 285, hour <= 300]).toEqual([true, true]);
    // A renewal that the failed attempt had begun before.
    await renewPlacing(db, input);
    expect(await left()).toBeGreaterThan(280);
    await beginPlacing(db, input);
    expect(await left()).toBeLessThanOrEqual(15);
  } finally {
    await upstream.close();
  }
});

test('after the start of a worker and after an outage of the database, attempts have time to renew their leases', async () => {
  const { db } = database;
  const input = aTaskInput();
  await insertTaskRow(db, input.taskId);
  await planJob(db, { ...input, kind: 'generation' });
  await db('jobs').where({ task_id: input.taskId }).update({ due_at: db.fn.now() });
  const cutter = await startCutter(database.url);
  const cut = connect({ url: cutter.url, poolMax: 1, applicationName: 'cut' });
  const time = jest.spyOn(performance, 'now');
  try {
    const duty = lapsedPlacements({ db: cut, client: env.client, events: {} as never });
    const started = performance.now();
    time.mockReturnValue(started);
    expect(await duty.claim(1)).toEqual([]);
    time.mockReturnValue(started + 9_999);
    expect(await duty.claim(1)).toEqual([]);
    cutter.cutAt('with recursive turns', 'before');
    const now = started + 10_000;
    time.mockReturnValue(now);
    await expect(duty.claim(1)).rejects.toThrow();
    expect(await duty.claim(1)).toEqual([]);
    time.mockReturnValue(now + 9_000);
    expect(await duty.claim(1)).toEqual([]);
    // The database is away once more.
    cutter.cutAt('select 1', 'before');
    await expect(duty.claim(1)).rejects.toThrow();
    time.mockReturnValue(now + 30_000);
    expect(await duty.claim(1)).toEqual([]);
    time.mockReturnValue(now + 39_999);
    expect(await duty.claim(1)).toEqual([]);
    time.mockReturnValue(now + 40_000);
    expect(await duty.claim(1)).toMatchObject([{ taskId: input.taskId }]);
  } finally {
    time.mockRestore();
    await cut.destroy();
    await cutter.close();
    await db('jobs').where({ task_id: input.taskId }).delete();
  }
});

test(
  'a placement that waits for its retry goes on as it would have',
  onStage(
    async ({ taskId, silent, lapse }) => {
      const attempts = async () => {
        const { raw } = await env.client.workflow.getHandle(taskId).describe();
        return raw.pendingActivities?.[0]?.attempt ?? 0;
      };
      await until('the fourth attempt is awaited', async () => (await attempts()) >= 4);
      await lapse();
      expect(silent).toEqual([]);
    },
    (world) => {
      world.script.submit = () => {
        throw new Error('No channel.');
      };
    },
  ),
);

test(
  'an activity that is open again because Temporal lost the end of its job reads the end in the row',
  onStage(async ({ world, taskId, task }) => {
    await placedAt(world, taskId, 'generation');
    const { db } = database;
    await db('jobs').where({ task_id: taskId }).update({ state: 'closed' });
    await db.raw(`update tasks set created_at = now() - interval '1 minute' where id = ?`, [
      taskId,
    ]);
    world.script.submit = async () => ({ outcome: 'ended', report: aSuccess() });
    const events = { finding: () => undefined };
    await endLost({ db, client: env.client, events, stopping, now: Date.now } as never);
    expect((await task.result()).status).toBe('succeeded');
  }),
);

test(
  'a job that waits for a slot owes nothing until it gets its turn, and then its attempt must be over',
  onStage(async ({ taskId, silent, lapse, row }) => {
    await waitForTurn(database.db, { taskId, kind: 'generation' }, ['full']);
    expect(await row()).toMatchObject({ state: 'waiting', owes: null });
    await giveTurns(database.db, 'full', 1);
    expect(await row()).toMatchObject({ state: 'waiting', owes: 'turn' });
    await lapse();
    expect(silent).toEqual([taskId]);
  }),
);

test(
  'a workflow that waits for a turn gets one if no attempt is at work',
  onStage(async ({ world, taskId, silent, lapse, row }) => {
    await until('it waits', async () => (await row())?.state === 'waiting');
    await until('no attempt is open', async () => {
      const { raw } = await env.client.workflow.getHandle(taskId).describe();
      return (raw.pendingActivities ?? []).length === 0;
    });
    // Temporal has lost the attempt that took this slot, and its worker.
    const job = aJobInput({ taskId });
    await beginPlacing(database.db, job);
    const to = { channel: 'lost', upstreamModel: 'm' };
    await takeSlot(database.db, job, to, null, 'lost');
    expect(await row()).toMatchObject({ state: 'sending', owes: 'place' });
    await lapse();
    await until('an attempt takes the job over', () => world.submitted.length === 2);
    expect(silent).toEqual([]);
  }, firstWaitsFor('lost')),
);

test(
  'an attempt that its turn has started is not failed',
  onStage(async ({ world, taskId, silent, row }) => {
    await until('it waits', async () => (await row())?.state === 'waiting');
    const { db } = database;
    await giveTurns(db, 'slow', 1);
    await db('jobs').where({ task_id: taskId }).update({ due_at: db.fn.now() });
    // If the signal was sent first, this process would fail the attempt that it started.
    const fail = async (...args: [FullActivityId, unknown]) => {
      for (let ms = 0; ms < 1_000 && world.submitted.length < 2; ms += 50) await setTimeout(50);
      return env.client.activity.fail(...args);
    };
    const client = { workflow: env.client.workflow, activity: { fail } } as never;
    const events = { attemptSilent: (id: string) => silent.push(id) } as never;
    await fulfilDue(owedTurns({ db, client, events }));
    await until('the job is placed again', () => world.submitted.length === 2);
    expect(silent).toEqual([]);
  }, firstWaitsFor('slow')),
);

test(
  'a turn whose slot has gone to another job is owed no more',
  onStage(async ({ taskId, silent, lapse, row }) => {
    await waitForTurn(database.db, { taskId, kind: 'generation' }, ['taken']);
    await giveTurns(database.db, 'taken', 1);
    await database
      .db('jobs')
      .where({ task_id: taskId })
      .update({ turn_at: database.db.raw(`now() - interval '31 seconds'`) });
    await lapse();
    expect([silent, await row()]).toMatchObject([[], { state: 'waiting', owes: null }]);
  }),
);

test(
  'an attempt that begins takes its turn over',
  onStage(async ({ taskId, row }) => {
    const job = { taskId, kind: 'generation' as const };
    await waitForTurn(database.db, job, ['begun']);
    await giveTurns(database.db, 'begun', 1);
    await beginPlacing(database.db, job);
    expect(await row()).toMatchObject({ state: 'waiting', owes: 'place' });
    // A turn that comes meanwhile needs no signal.
    await database.db('jobs').where({ task_id: taskId }).update({ turn_at: null });
    expect(await giveTurns(database.db, 'begun', 1)).toHaveLength(1);
    expect(await row()).toMatchObject({ state: 'waiting', owes: 'place' });
  }),
);

test('a job that was planned at the moment at which its task ended is closed', async () => {
  const { db } = database;
  const input = aTaskInput();
  await insertTaskRow(db, input.taskId);
  await planJob(db, { ...input, kind: 'super_resolution' });
  await db.raw(
    `update tasks set object = '{"status":"failed"}', finished_at = now() where id = ?`,
    [input.taskId],
  );
  await db('jobs').where({ task_id: input.taskId }).update({ due_at: db.fn.now() });
  await fulfilDue(lapsedPlacements({ db, client: env.client, events: {} as never }, 0));
  const row = await db('jobs').where({ task_id: input.taskId }).first('state', 'owes');
  expect(row).toEqual({ state: 'closed', owes: null });
});

test(
  'the workflow of a stranded job is told that its job can be placed',
  onStage(async ({ world, taskId, row }) => {
    await until('it waits', async () => (await row())?.state === 'waiting');
    const { db } = database;
    await releaseStranded(db, ['another']);
    expect(await row()).toMatchObject({ state: 'planned', owes: 'turn' });
    const events = {} as never;
    await fulfilDue(owedTurns({ db, client: env.client, events }));
    await until('the job is placed again', () => world.submitted.length === 2);
    expect(world.submitted[1]).toMatchObject({ taskId });
  }, firstWaitsFor('gone')),
);

test(
  'a job whose workflow has ended has no attempt to fail',
  onStage(async ({ task, silent, lapse }) => {
    await task.terminate();
    await lapse();
    expect(silent).toEqual([]);
  }),
);
