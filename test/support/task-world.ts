// A small world for workflow tests: the time-skipping server, one worker, and activities that
// remember what they were asked. They are typed as the real ones, so a change of a signature is a
// compile error here.

import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { createTaskActivities } from '../../activities';
import type { TaskObject } from '../../src/contract/task';
import type {
  Accepted,
  ClosedTask,
  CloseTask,
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

type TaskActivities = ReturnType<typeof createTaskActivities>;

export interface World {
  readonly env: TestWorkflowEnvironment;
  readonly taskQueue: string;
  readonly opened: OpenTask[];
  readonly kept: OpenTask[];
  readonly closed: CloseTask[];
  readonly submitted: JobOrder[];
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

export interface TaskHandle {
  readonly accepted: Promise<Accepted>;
  report(report: JobReport): Promise<void>;
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
  return {
    env,
    taskQueue,
    opened: [],
    kept: [],
    closed: [],
    submitted: [],
    cancelled: [],
    lookedAt: [],
    script: {
      open: () => ({ outcome: 'opened' }),
      close: ({ object }) => ({ object, first: true }),
      submit: ({ kind }) => ({ outcome: 'accepted', channel: 'studio', upstreamId: `job-${kind}` }),
      read: () => null,
    },
    start: (input) => startTask(env, taskQueue, input),
  };
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
      world.submitted.push(order);
      return world.script.submit(order);
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

async function startTask(
  env: TestWorkflowEnvironment,
  taskQueue: string,
  input: TaskInput,
): Promise<TaskHandle> {
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
    report: (report) => handle.signal(jobSignal, report),
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
