// One worker process: three Temporal workers on one connection. Tasks' workflows with their
// activities, the loops (watchers and the sweep), and callbacks each have a queue and slots of
// their own, so that a flood of slow callbacks cannot hold up a task. docs/decisions.md, 12, says
// why.

import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Knex } from 'knex';
import {
  type CallbackDeps,
  createCallbackActivities,
  createLoopActivities,
  createTaskActivities,
} from '../activities';
import { createChannels } from '../activities/channels';
import type { ActivityEvents } from '../activities/events';
import { beatsPassedOnEvery } from '../activities/heartbeat';
import { traced } from '../activities/tracing';
import { audit } from './db/ledger-audit';
import type { Catalogue } from './domain/catalogue';
import type { KeepSpan } from './domain/trace';
import {
  ensureReconcileSchedule,
  ensureSearchAttributes,
  ensureWatchers,
  queuesOf,
  tryUntilDone,
} from './temporal-setup';

export interface WorkerSettings {
  readonly temporal: {
    readonly address: string;
    readonly namespace: string;
    readonly tls: boolean;
    readonly apiKey: string | null;
    readonly taskQueue: string;
  };
  readonly workflowBundle: { readonly codePath: string } | { readonly workflowsPath: string };
  readonly cachedWorkflowsMax: number;
  readonly activitySlots: number;
  readonly callbackSlots: number;
  readonly reconcileIntervalSeconds: number;
  readonly deployment: { readonly name: string; readonly buildId: string } | null;
}

interface WorkerParts {
  readonly db: Knex;
  readonly catalogue: () => Catalogue;
  readonly channelKeys: (envName: string) => string | undefined;
  readonly events: ActivityEvents;
  /** Told of each failed try to start the loops; they are tried again. */
  readonly onSetupFault: (error: unknown) => void;
  readonly callbacks: Omit<CallbackDeps, 'db' | 'keepSpan'>;
  /** Absent: no traces are kept. */
  readonly keepSpan?: KeepSpan;
}

export interface RunningWorker {
  /** Resolves when the worker has stopped, rejects when it could not go on. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export async function startWorker(
  settings: WorkerSettings,
  parts: WorkerParts,
): Promise<RunningWorker> {
  const { temporal } = settings;
  const engine = await connectTo(temporal);
  const stopping = new AbortController();

  await engine.setUp(() => ensureSearchAttributes(engine.client, temporal.namespace));
  const activities = composeActivities(settings, parts, engine.client, stopping.signal);
  const workers = await createWorkers(settings, engine.native, activities);
  const running = workers.map((worker) => worker.run());
  await tryUntilDone(() => engine.setUp(() => ensureLoops(settings, parts, engine.client)), {
    pauseMs: setupPauseMs,
    stopping: stopping.signal,
    onFault: parts.onSetupFault,
  });

  const done = Promise.all(running).then(() => engine.close());
  // If one of the three fails, the others stop too and the process ends: half a worker is a riddle.
  for (const run of running) run.catch(() => stopAll(workers, stopping));
  return {
    done,
    async stop() {
      stopAll(workers, stopping);
      await done;
    },
  };
}

const setupMs = 10_000;
const setupPauseMs = 5_000;

/** Two connections: one that the workers take their tasks from, one for calls of our own. */
async function connectTo(temporal: WorkerSettings['temporal']) {
  const access = {
    address: temporal.address,
    tls: temporal.tls,
    ...(temporal.apiKey ? { apiKey: temporal.apiKey } : {}),
  };
  const native = await NativeConnection.connect(access);
  const connection = await Connection.connect(access);
  return {
    native,
    client: new Client({ connection, namespace: temporal.namespace }),
    setUp: (work: () => Promise<void>) => connection.withDeadline(Date.now() + setupMs, work),
    async close() {
      await connection.close();
      await native.close();
    },
  };
}

/** The watchers and the sweep, which the engine keeps going from then on. */
async function ensureLoops(
  { temporal, reconcileIntervalSeconds }: WorkerSettings,
  { catalogue }: WorkerParts,
  client: Client,
): Promise<void> {
  const queues = queuesOf(temporal.taskQueue);
  await ensureWatchers(client, queues, Object.values(catalogue().channels));
  await ensureReconcileSchedule(client, queues, reconcileIntervalSeconds);
}

// Running activities get ten seconds to finish before they are cancelled and retried elsewhere;
// their requests end a second earlier, so that what those leave open can still be stored.
const requestsEndAfterMs = 9_000;
const gracefully = { shutdownGraceTime: '10 s', shutdownForceTime: '14 s' } as const;

function createWorkers(
  settings: WorkerSettings,
  connection: NativeConnection,
  activities: ReturnType<typeof composeActivities>,
): Promise<Worker[]> {
  const { namespace, taskQueue } = settings.temporal;
  const queues = queuesOf(taskQueue);
  const common = { connection, namespace, ...gracefully };
  return Promise.all([
    Worker.create({
      ...common,
      taskQueue: queues.tasks,
      ...bundleOf(settings),
      ...versioningOf(settings),
      activities: activities.tasks,
      maxCachedWorkflows: settings.cachedWorkflowsMax,
      maxConcurrentActivityTaskExecutions: settings.activitySlots,
      defaultHeartbeatThrottleInterval: beatsPassedOnEvery,
      // As many doors at once as the pool has connections twice over: a queue here is shorter than
      // one in the pool.
      maxConcurrentLocalActivityExecutions: 20,
      workflowTaskPollerBehavior: { type: 'autoscaling', minimum: 4, initial: 8, maximum: 32 },
      activityTaskPollerBehavior: { type: 'autoscaling', minimum: 2, initial: 4, maximum: 16 },
    }),
    Worker.create({
      ...common,
      taskQueue: queues.loops,
      activities: activities.loops,
      maxConcurrentActivityTaskExecutions: 200,
    }),
    Worker.create({
      ...common,
      taskQueue: queues.callbacks,
      activities: activities.callbacks,
      maxConcurrentActivityTaskExecutions: settings.callbackSlots,
    }),
  ]);
}

function composeActivities(
  { temporal }: WorkerSettings,
  parts: WorkerParts,
  client: Client,
  stopping: AbortSignal,
) {
  const { db, events, catalogue } = parts;
  const now = () => Date.now();
  const queues = queuesOf(temporal.taskQueue);
  const lastSeconds = lastSecondsOf(stopping);
  const channelsOf = () => createChannels(catalogue, parts.channelKeys, now, lastSeconds);
  const submit = { db, events, now, channels: channelsOf() };
  const keepSpan = parts.keepSpan ?? null;
  const tasks = traced(createTaskActivities(submit), keepSpan);
  const loops = createLoopActivities({
    ...submit,
    // A channel that takes no new jobs for a while may well answer about those it has.
    channels: channelsOf(),
    client,
    stopping,
    taskQueue: queues.tasks,
    closeTask: tasks.closeTask,
    cancelJob: tasks.cancelJob,
    ensureWatchers: (inUse) => {
      const { channels } = catalogue();
      const gone = inUse.filter((id) => !channels[id]).map((id) => ({ id, watchers: 1 }));
      return ensureWatchers(client, queues, [...Object.values(channels), ...gone]);
    },
    countAuditDifferences: async () => (await audit(db)).differences.length,
  });
  return {
    tasks,
    loops,
    callbacks: createCallbackActivities({ db, keepSpan, ...parts.callbacks }),
  };
}

/**
 * Aborted when requests must end, so that what they leave open is resolved by the next attempt and
 * not by force.
 */
function lastSecondsOf(stopping: AbortSignal): AbortSignal {
  const lastSeconds = new AbortController();
  stopping.addEventListener('abort', () => {
    setTimeout(() => lastSeconds.abort(), requestsEndAfterMs).unref();
  });
  return lastSeconds.signal;
}

function bundleOf({ workflowBundle }: WorkerSettings): Partial<WorkerOptions> {
  return 'codePath' in workflowBundle ? { workflowBundle } : workflowBundle;
}

/**
 * With a build id, tasks that began on this build stay on it, so that a deploy cannot break one
 * that lives two days.
 */
function versioningOf({ deployment }: WorkerSettings): Partial<WorkerOptions> {
  if (!deployment) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: deployment.name, buildId: deployment.buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

function stopAll(workers: readonly Worker[], stopping: AbortController): void {
  stopping.abort();
  for (const worker of workers) {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}
