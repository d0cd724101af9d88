// A harness for workflow tests: workers with activities that record their calls. The activities
// have the types of the real ones, so a changed signature is a compile error here.

import { randomUUID } from 'node:crypto';
import { CompleteAsyncError } from '@temporalio/activity';
import { ActivityNotFoundError } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { createCallbackActivities, createTaskActivities } from '../../activities';
import type { TaskObject } from '../../src/contract/task';
import type { KeptResults, StoredResults, StoreResults } from '../../src/files/results.rules';
import {
  isFinalReport,
  type JobInput,
  type JobKind,
  type JobName,
  type JobReport,
  type PlacedJob,
} from '../../src/jobs/job.rules';
import type {
  ClosedTask,
  CloseTask,
  OpenedTask,
  TaskInput,
} from '../../src/tasks/task-transactions.rules';
import type { CallbackAttempt, CallbackOutcome, ToldTask } from '../../workflows/messages';
import { jobSignal, taskQuery, workflowNames } from '../../workflows/messages';
import { attributesAtStart } from '../../workflows/search-attributes';
import type { CoveredWorkflows } from './coverage';
import { until } from './until';

type TaskActivities = ReturnType<typeof createTaskActivities>;
type CallbackActivities = ReturnType<typeof createCallbackActivities>;

export interface World {
  readonly env: TestWorkflowEnvironment;
  readonly taskQueue: string;
  readonly opened: TaskInput[];
  readonly closed: CloseTask[];
  readonly submitted: JobInput[];
  readonly stored: StoreResults[];
  /** The channels of the placed jobs, by task and kind. */
  readonly placed: Map<string, string>;
  readonly cancelled: JobInput[];
  readonly lookedAt: JobName[];
  readonly announced: CallbackAttempt[];
  /** True if the tasks of this world have a callback. */
  hasCallback: boolean;
  /** Functions that return the results of the activities. A test replaces those that it needs. */
  script: {
    open: (input: TaskInput) => OpenedTask | Promise<OpenedTask>;
    close: (close: CloseTask) => ClosedTask | Promise<ClosedTask>;
    submit: (order: JobInput) => Submitted | Promise<Submitted>;
    store: (results: StoreResults) => StoredResults | Promise<StoredResults>;
    read: (name: JobName) => JobReport | null;
    /** The end that the row of the job has. */
    end: (name: JobName) => JobReport | null | Promise<JobReport | null>;
    cancel: (order: JobInput) => void;
    announce: (attempt: CallbackAttempt) => CallbackOutcome | Promise<CallbackOutcome>;
  };
  /** Starts a task. Its creation time is the server's current time if none is given. */
  start(input: TaskInput, createdAtMs?: number): Promise<TaskHandle>;
}

/** The result of placing a job. For `open`, the activity then waits for the end of the job. */
export type Submitted =
  | PlacedJob
  | { readonly outcome: 'open'; readonly channel: string; readonly upstreamId: string };

export interface TaskHandle {
  /** Waits until the task is opened, or has ended instead. */
  admitted(): Promise<void>;
  /**
   * Reports like the watcher: a final report completes the activity, any other report is a signal.
   */
  report(report: JobReport): Promise<void>;
  told(): Promise<ToldTask>;
  result(): Promise<TaskObject>;
  cancel(): Promise<void>;
  terminate(): Promise<void>;
  events(): Promise<readonly string[]>;
  /** The number of timers that the workflow has started. */
  timers(): Promise<number>;
}

export interface Worlds {
  /** Runs a test in a new world. */
  run(test: (world: World) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Starts a worker for tasks and one for callbacks. All worlds share them. */
export async function openWorlds(
  env: TestWorkflowEnvironment,
  workflows: CoveredWorkflows,
): Promise<Worlds> {
  const common = { connection: env.nativeConnection };
  const taskQueue = `tasks-${randomUUID()}`;
  const worlds: WorldsByTask = new Map();
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue, ...workflows, activities: activitiesOf(worlds) }),
    Worker.create({
      ...common,
      taskQueue: `${taskQueue}-callbacks`,
      activities: callbackActivitiesOf(worlds),
    }),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  const stopped = running.then(() => {
    throw new Error('The workers have stopped.');
  });
  stopped.catch(() => undefined);
  return {
    run: (test) => Promise.race([test(createWorld(env, taskQueue, worlds)), stopped]),
    async close() {
      for (const worker of workers) worker.shutdown();
      await running;
    },
  };
}

/** Runs one test with workers of its own. Stops the workers afterwards. */
export async function inWorld(
  env: TestWorkflowEnvironment,
  workflows: CoveredWorkflows,
  test: (world: World) => Promise<void>,
): Promise<void> {
  const worlds = await openWorlds(env, workflows);
  try {
    await worlds.run(test);
  } finally {
    await worlds.close();
  }
}

type WorldsByTask = Map<string, World>;

function worldOf(worlds: WorldsByTask, { taskId }: { readonly taskId: string }): World {
  const world = worlds.get(taskId);
  if (!world) throw new Error(`The task ${taskId} is of no world.`);
  return world;
}

/** A link of this service for each source. */
export function ourLinks({ sources }: StoreResults): KeptResults['links'] {
  return Object.fromEntries(
    sources.map(({ role, url }) => [role, `https://api.example.com/files/of?${url}`]),
  );
}

function callbackActivitiesOf(worlds: WorldsByTask): CallbackActivities {
  return {
    async attemptCallback(attempt) {
      const world = worldOf(worlds, attempt);
      world.announced.push(attempt);
      return world.script.announce(attempt);
    },
    stopCallback: async () => undefined,
    testWebhook: async () => null,
  };
}

function createWorld(env: TestWorkflowEnvironment, taskQueue: string, worlds: WorldsByTask): World {
  const world: World = {
    env,
    taskQueue,
    opened: [],
    closed: [],
    submitted: [],
    stored: [],
    placed: new Map(),
    cancelled: [],
    lookedAt: [],
    announced: [],
    hasCallback: false,
    script: {
      open: () => ({ outcome: 'opened' }),
      close: ({ object }) => ({ object, first: true, hasCallback: world.hasCallback }),
      submit: ({ kind }) => ({ outcome: 'open', channel: 'studio', upstreamId: `job-${kind}` }),
      store: (results) => ({ links: ourLinks(results), expiresAt: 2_000_000_000, stored: true }),
      read: () => null,
      end: () => null,
      cancel: () => undefined,
      announce: () => ({ state: 'delivered', status: 204, error: null, nextInMs: null }),
    },
    start: (input, createdAtMs) => {
      worlds.set(input.taskId, world);
      return startTask(world, input, createdAtMs);
    },
  };
  return world;
}

function activitiesOf(worlds: WorldsByTask): TaskActivities {
  return {
    async openTask(input) {
      const world = worldOf(worlds, input);
      world.opened.push(input);
      return world.script.open(input);
    },
    async closeTask(close) {
      const world = worldOf(worlds, close);
      world.closed.push(close);
      return world.script.close(close);
    },
    async runJob(order) {
      const world = worldOf(worlds, order);
      world.submitted.push(order);
      const placed = await world.script.submit(order);
      if (placed.outcome !== 'open') return placed;
      world.placed.set(`${order.taskId} ${order.kind}`, placed.channel);
      // The time-skipping server skips no time while an activity is open. The activity stays open
      // here, so the test unlocks the skipping.
      await world.env.connection.testService?.unlockTimeSkipping({});
      throw new CompleteAsyncError();
    },
    async storeResults(results) {
      const world = worldOf(worlds, results);
      world.stored.push(results);
      return world.script.store(results);
    },
    async readJob(name) {
      const world = worldOf(worlds, name);
      world.lookedAt.push(name);
      return world.script.read(name);
    },
    async findEnd(name) {
      return worldOf(worlds, name).script.end(name);
    },
    async cancelJob(order) {
      const world = worldOf(worlds, order);
      world.cancelled.push(order);
      return world.script.cancel(order);
    },
  };
}

async function startTask(world: World, asked: TaskInput, storedAtMs?: number): Promise<TaskHandle> {
  const { env, taskQueue } = world;
  // The time of the time-skipping server is ahead of this process.
  const createdAtMs = storedAtMs ?? Math.floor(await env.currentTimeMs());
  const deadlineAtMs = createdAtMs + asked.plan.expiresAfterSeconds * 1_000;
  const input = { ...asked, createdAtMs, deadlineAtMs };
  const handle = await env.client.workflow.start(workflowNames.generateVideo, {
    workflowId: input.taskId,
    taskQueue,
    args: [input],
    typedSearchAttributes: attributesAtStart(input),
  });
  const told = () => handle.query<ToldTask>(taskQuery);
  return {
    admitted: () => until('it is admitted', async () => (await told()).stage !== 'accepted'),
    async report(report) {
      const channel = await placedAt(world, input.taskId, report.kind);
      const reported = { ...report, channel };
      if (isFinalReport(report)) await completeJob(env, input.taskId, reported);
      else await handle.signal(jobSignal, reported);
    },
    told,
    result: () => handle.result() as Promise<TaskObject>,
    cancel: async () => void (await handle.cancel()),
    terminate: async () => void (await handle.terminate()),
    events: async () => ((await handle.fetchHistory()).events ?? []).map(nameOfEvent),
    timers: async () => {
      const { events } = await handle.fetchHistory();
      return (
        events?.filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length ?? 0
      );
    },
  };
}

/** Waits until a job is placed, and returns its channel. */
export async function placedAt({ placed }: World, taskId: string, kind: JobKind): Promise<string> {
  const name = `${taskId} ${kind}`;
  await until('it is placed', () => placed.has(name));
  return placed.get(name) as string;
}

async function completeJob(
  { client, connection }: TestWorkflowEnvironment,
  taskId: string,
  report: JobReport,
): Promise<void> {
  const ended: PlacedJob = { outcome: 'ended', report };
  await connection.testService?.lockTimeSkipping({});
  try {
    await client.activity.complete({ workflowId: taskId, activityId: report.kind }, ended);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
    await connection.testService?.unlockTimeSkipping({});
  }
}

function nameOfEvent({ eventType }: { readonly eventType?: unknown }): string {
  return temporal.api.enums.v1.EventType[eventType as number]?.replace('EVENT_TYPE_', '') ?? '';
}
