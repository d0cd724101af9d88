// A worker that dies over a create: the activity stays open as one whose job takes days would, so
// the watchers have to tell the two apart. On the real engine, with workers that fall silent.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ActivityEvents } from '../../activities/events';
import { lookAfterUnplaced } from '../../activities/unplaced';
import { aTaskInput } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { inWorld, type TaskHandle, type World } from '../support/task-world';
import { realEnvironment, workflowBundle } from '../support/temporal';
import { until } from '../support/until';

let env: TestWorkflowEnvironment;
let database: TestDatabase;
beforeAll(async () => {
  [env, database] = await Promise.all([realEnvironment(), createTestDatabase()]);
});
afterAll(async () => {
  await env?.teardown();
  await database?.drop();
});

interface Stage {
  readonly world: World;
  readonly taskId: string;
  readonly task: TaskHandle;
  /** Ids of tasks whose attempt was ended. */
  readonly silent: string[];
  /** The next look, now. */
  look(): Promise<void>;
  row(): Promise<object | undefined>;
}

/** A task whose attempt has begun; nobody beats for it, as if its worker had died. */
function onStage(play: (stage: Stage) => Promise<void>, begin?: (world: World) => void) {
  return () =>
    inWorld(env, { workflowBundle: workflowBundle() }, async (world) => {
      begin?.(world);
      const input = aTaskInput();
      const { taskId } = input;
      const { db } = database;
      await db.raw('insert into unplaced (task_id) values (?)', [taskId]);
      const task = await world.start(input);
      await task.accepted;
      await until('an attempt has begun', () => world.submitted.length > 0);
      const silent: string[] = [];
      const events = { attemptSilent: (id: string) => silent.push(id) } as never as ActivityEvents;
      const row = async () => (await db('unplaced').where({ task_id: taskId }))[0];
      const look = async () => {
        await db('unplaced').where({ task_id: taskId }).update({ look_at: db.fn.now() });
        await lookAfterUnplaced({ db, client: env.client, events });
      };
      await play({ world, taskId, task, silent, look, row });
      await task.terminate().catch(() => undefined);
      await db('unplaced').where({ task_id: taskId }).delete();
    });
}

test(
  'an attempt that was silent between two looks is ended, and the next one begins',
  onStage(async ({ world, taskId, silent, look }) => {
    await look();
    expect(silent).toEqual([]);
    await look();
    expect(silent).toEqual([taskId]);
    await until('it was tried again', () => world.submitted.length === 2);
    // The new one is given its time as well.
    await look();
    expect(silent).toEqual([taskId]);
  }),
);

test(
  'an attempt that beats is left alone, however long it takes',
  onStage(async ({ world, taskId, silent, look }) => {
    const { activityId } = world.placed.get(`${taskId} generation`) ?? { activityId: '' };
    for (let n = 0; n < 4; n += 1) {
      await look();
      await env.client.activity.heartbeat({ workflowId: taskId, activityId });
    }
    expect(silent).toEqual([]);
  }),
);

test(
  'an attempt that waits for its next try is left to the engine',
  onStage(
    async ({ silent, look, row }) => {
      for (let n = 0; n < 3; n += 1) await look();
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
  'a task whose job a channel has is looked after no more',
  onStage(async ({ taskId, silent, look, row }) => {
    await aJob(taskId, 'open');
    await look();
    await look();
    expect(silent).toEqual([]);
    expect(await row()).toBeUndefined();
  }),
);

test(
  'a task in line for a place is let be, until it is given its turn',
  onStage(async ({ taskId, silent, look, row }) => {
    await aJob(taskId, 'waiting');
    for (let n = 0; n < 3; n += 1) await look();
    expect(silent).toEqual([]);
    expect(await row()).toMatchObject({ seen: null });
    await database.db('jobs').update({ signalled_at: database.db.fn.now() });
    for (let n = 0; n < 2; n += 1) await look();
    expect(silent).toEqual([taskId]);
  }),
);

test(
  'a task whose workflow has ended is the sweep’s',
  onStage(async ({ task, silent, look, row }) => {
    await task.terminate();
    await look();
    expect(silent).toEqual([]);
    expect(await row()).toBeUndefined();
  }),
);

test('a task the engine does not know is the sweep’s as well', async () => {
  const { db } = database;
  await db.raw(`insert into unplaced (task_id, look_at) values ('task_lost', now())`);
  await lookAfterUnplaced({ db, client: env.client, events: {} as ActivityEvents });
  expect(await db('unplaced').where({ task_id: 'task_lost' })).toEqual([]);
});

async function aJob(taskId: string, state: string): Promise<void> {
  const { db } = database;
  await db.raw(
    `insert into accounts (id, name) values ('acct_test', 'test') on conflict (id) do nothing`,
  );
  await db.raw(
    `insert into tasks (id, account_id, model, status, version, object, request, plan,
                        request_hash, trace_id, created_at, deadline_at)
     values (?, 'acct_test', 'm', 'submitted', 1, '{}', '{}', '{}', 'h', 't', now(), now())`,
    [taskId],
  );
  await db.raw(
    `insert into jobs (task_id, kind, account_id, channel, upstream_model, state)
     values (?, 'generation', 'acct_test', 'studio', 'm', ?)`,
    [taskId, state],
  );
}
