// A worker that dies during a create leaves its activity open, like a job that takes days. The
// checks must distinguish the two cases. These tests use a real Temporal server, and attempts that
// send no heartbeat.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ActivityEvents } from '../../../activities/events';
import { recoverStalledPlacements } from '../../../activities/jobs/recover-stalled-placements';
import { endLost } from '../../../activities/reconcile/end-tasks';
import { giveTurns, releaseStranded } from '../../../src/jobs/slots.rows';
import { waitForTurn } from '../../../src/jobs/steps.rows';
import { stopping } from '../../support/activity-settings';
import { aSuccess, aTaskInput } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import {
  openWorlds,
  placedAt,
  type TaskHandle,
  type World,
  type Worlds,
} from '../../support/task-world';
import { realEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/until';
import { insertTaskRow, planJob } from '../../support/upstream';

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
  /** Ids of tasks whose attempt was failed by a check. */
  readonly silent: string[];
  /** Runs the next check now. */
  check(): Promise<void>;
  row(): Promise<object | undefined>;
}

/** Runs `play` on a task whose attempt has begun. It sends no heartbeat, like a dead worker's. */
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
      const check = async () => {
        await db('jobs')
          .where({ task_id: taskId })
          .whereRaw(`check_at <> 'infinity'`)
          .update({ check_at: db.fn.now() });
        await recoverStalledPlacements({ db, client: env.client, events });
      };
      await play({ world, taskId, task, silent, check, row });
      await task.terminate().catch(() => undefined);
      await db('jobs').where({ task_id: taskId }).delete();
    });
}

test(
  'a check fails a placement that has sent no heartbeat since the previous check, and the next attempt begins',
  onStage(async ({ world, taskId, silent, check }) => {
    await check();
    expect(silent).toEqual([]);
    await check();
    expect(silent).toEqual([taskId]);
    await until('it was tried again', () => world.submitted.length === 2);
    // The new attempt gets its full time too: the first check after its start does not fail it.
    await check();
    expect(silent).toEqual([taskId]);
  }),
);

test(
  'a placement that sends heartbeats is not failed by the checks, however long it takes',
  onStage(async ({ world, taskId, silent, check }) => {
    await placedAt(world, taskId, 'generation');
    for (let n = 0; n < 4; n += 1) {
      await check();
      await env.client.activity.heartbeat({ workflowId: taskId, activityId: 'generation' });
    }
    expect(silent).toEqual([]);
  }),
);

test(
  'a placement that waits for its retry is not failed by the checks',
  onStage(
    async ({ taskId, silent, check, row }) => {
      await until('Temporal has the failure', async () => {
        const { raw } = await env.client.workflow.getHandle(taskId).describe();
        return raw.pendingActivities?.[0]?.lastFailure != null;
      });
      for (let n = 0; n < 3; n += 1) await check();
      expect(silent).toEqual([]);
      expect(await row()).toMatchObject({ seen: null });
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
  'a job that a channel has accepted is not checked any more',
  onStage(async ({ taskId, silent, check, row }) => {
    await database.db('jobs').where({ task_id: taskId }).update({ channel: 'x', state: 'open' });
    await check();
    await check();
    expect(silent).toEqual([]);
    expect(await row()).toMatchObject({ seen: null });
  }),
);

test(
  'a job that waits for a slot is not checked until it gets its turn',
  onStage(async ({ taskId, silent, check, row }) => {
    await waitForTurn(database.db, { taskId, kind: 'generation' }, ['full']);
    for (let n = 0; n < 3; n += 1) await check();
    expect(silent).toEqual([]);
    expect(await row()).toMatchObject({ seen: null });
    await giveTurns(database.db, 'full', 1);
    for (let n = 0; n < 2; n += 1) await check();
    expect(silent).toEqual([taskId]);
  }),
);

test(
  'a check repeats the signal of a stranded job whose worker died before it sent the signal',
  onStage(
    async ({ world, taskId, check, row }) => {
      await until('it waits', async () => {
        return ((await row()) as { state: string }).state === 'waiting';
      });
      const released = await releaseStranded(database.db, ['another']);
      expect(released.map((job) => job.taskId)).toEqual([taskId]);
      await until('the job is placed again', async () => {
        await check();
        return world.submitted.length === 2;
      });
    },
    (world) => {
      world.script.submit = async (job) => {
        if (world.submitted.length > 1) return { outcome: 'open', channel: 'x', upstreamId: '1' };
        await waitForTurn(database.db, job, ['gone']);
        return { outcome: 'waiting' };
      };
    },
  ),
);

test(
  'a job whose workflow has ended is not failed by the checks',
  onStage(async ({ task, silent, check, row }) => {
    await task.terminate();
    for (let n = 0; n < 2; n += 1) await check();
    expect(silent).toEqual([]);
    expect(await row()).toMatchObject({ seen: null });
  }),
);
