// A small world for workflow tests: the time-skipping server, one worker, and activities that
// remember what they were asked. They are typed as the real ones, so a change of a signature is a
// compile error here.

import { randomUUID } from 'node:crypto';
import { CompleteAsyncError, Context } from '@temporalio/activity';
import { ActivityNotFoundError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { createTaskActivities } from '../../activities';
import { isFinalReport } from '../../activities/service';
import type { TaskObject } from '../../src/contract/task';
import type {
  Accepted,
  ClosedTask,
  CloseTask,
  JobKind,
  JobName,
  JobOrder,
  JobReport,
  OpenedTask,
  OpenTask,
  PlacedJob,
  TaskInput,
} from '../../workflows/messages';
import { acceptUpdate, jobSignal, workflowNames } from '../../workflows/messages';
import { toldAtStart } from '../../workflows/search-attributes';
import type { CoveredWorkflows } from './coverage';
import { until } from './until';

type TaskActivities = ReturnType<typeof createTaskActivities>;

export interface World {
  readonly env: TestWorkflowEnvironment;
  readonly taskQueue: string;
  readonly opened: OpenTask[];
  readonly kept: OpenTask[];
  readonly closed: CloseTask[];
  readonly submitted: JobOrder[];
  /** The activities that wait for the end of a job, by task and kind. */
  readonly placed: Map<string, Place>;
  readonly cancelled: JobOrder[];
  readonly lookedAt: JobName[];
  /** What the next calls do; a test replaces what it cares about. */
  script: {
    open: (open: OpenTask) => OpenedTask | Promise<OpenedTask>;
    close: (close: CloseTask) => ClosedTask | Promise<ClosedTask>;
    submit: (order: JobOrder) => PlacedJob | Promise<PlacedJob>;
    read: (name: JobName) => JobReport | null;
  };
  start(input: TaskInput): Promise<TaskHandle>;
}

interface Place {
  readonly activityId: string;
  readonly channel: string;
}

export interface TaskHandle {
  readonly accepted: Promise<Accepted>;
  /** As the watcher does: the end of a job completes its activity, before it a signal tells. */
  report(report: JobReport): Promise<void>;
  /** As the watcher of an older build does. */
  signalReport(report: JobReport): Promise<void>;
  object(): Promise<TaskObject>;
  result(): Promise<TaskObject>;
  cancel(): Promise<void>;
  terminate(): Promise<void>;
  signal(name: string): Promise<void>;
  events(): Promise<number>;
  /** How many timers it has ever started. */
  timers(): Promise<number>;
}

/** Runs a test inside a world whose worker is running, and stops the worker after it. */
export async function inWorld(
  env: TestWorkflowEnvironment,
  workflows: CoveredWorkflows,
  test: (world: World) => Promise<void>,
): Promise<void> {
  const world = createWorld(env);
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: world.taskQueue,
    ...workflows,
    activities: activitiesOf(world),
  });
  await worker.runUntil(test(world));
}

function createWorld(env: TestWorkflowEnvironment): World {
  const taskQueue = `tasks-${randomUUID()}`;
  const world: World = {
    env,
    taskQueue,
    opened: [],
    kept: [],
    closed: [],
    submitted: [],
    placed: new Map(),
    cancelled: [],
    lookedAt: [],
    script: {
      open: () => ({ outcome: 'opened' }),
      close: ({ object }) => ({ object, first: true }),
      submit: ({ kind }) => ({ outcome: 'accepted', channel: 'studio', upstreamId: `job-${kind}` }),
      read: () => null,
    },
    start: (input) => startTask(world, input),
  };
  return world;
}

function activitiesOf(world: World): TaskActivities {
  return {
    async openTask(open) {
      world.opened.push(open);
      return world.script.open(open);
    },
    async keepRefusedTask(open) {
      world.kept.push(open);
      return open.object;
    },
    async closeTask(close) {
      world.closed.push(close);
      return world.script.close(close);
    },
    async submitJob(order) {
      const { activityId, heartbeatTimeoutMs } = Context.current().info;
      world.submitted.push(order);
      const placed = await world.script.submit(order);
      if (placed.outcome !== 'accepted' || heartbeatTimeoutMs) return placed;
      world.placed.set(`${order.taskId} ${order.kind}`, { activityId, channel: placed.channel });
      // The server that skips time skips none while an activity is open; here it shall.
      await world.env.connection.testService?.unlockTimeSkipping({});
      throw new CompleteAsyncError();
    },
    async readJob(name) {
      world.lookedAt.push(name);
      return world.script.read(name);
    },
    async cancelJob(order) {
      world.cancelled.push(order);
    },
  };
}

async function startTask(world: World, input: TaskInput): Promise<TaskHandle> {
  const { env, taskQueue } = world;
  const handle = await env.client.workflow.start(workflowNames.generateVideo, {
    workflowId: input.taskId,
    taskQueue,
    args: [input],
    typedSearchAttributes: toldAtStart(input),
  });
  const accepted = handle.executeUpdate<Accepted, []>(acceptUpdate, { updateId: acceptUpdate });
  accepted.catch(() => undefined); // Looked at by those tests that care.
  return {
    accepted,
    async report(report) {
      const { activityId, channel } = await placeOf(world, input.taskId, report.kind);
      const told = { ...report, channel };
      if (isFinalReport(report)) await completeJob(env, input.taskId, activityId, told);
      else await handle.signal(jobSignal, told);
    },
    signalReport: (report) => handle.signal(jobSignal, report),
    object: () => handle.query<TaskObject>('task'),
    result: () => handle.result() as Promise<TaskObject>,
    cancel: async () => void (await handle.cancel()),
    terminate: async () => void (await handle.terminate()),
    signal: (name) => handle.signal(name),
    events: async () => (await handle.fetchHistory()).events?.length ?? 0,
    timers: async () => {
      const { events } = await handle.fetchHistory();
      return (
        events?.filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length ?? 0
      );
    },
  };
}

async function placeOf({ placed }: World, taskId: string, kind: JobKind): Promise<Place> {
  const name = `${taskId} ${kind}`;
  await until('it is placed', () => placed.has(name));
  return placed.get(name) as Place;
}

async function completeJob(
  { client, connection }: TestWorkflowEnvironment,
  workflowId: string,
  activityId: string,
  report: JobReport,
): Promise<void> {
  const ended: PlacedJob = { outcome: 'ended', report };
  await connection.testService?.lockTimeSkipping({});
  try {
    await client.activity.complete({ workflowId, activityId }, ended);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
    await connection.testService?.unlockTimeSkipping({});
  }
}
