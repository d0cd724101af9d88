// Runs the three Temporal workers of a worker process on one connection. They are for tasks, for the
// activities of loops (watchers, reconciler and audit), and for callbacks. Each worker has its own
// queue and slots, so slow callbacks cannot delay a task (docs/decisions.md, 12).

import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Knex } from 'knex';
import {
  createCallbackActivities,
  createLoopActivities,
  createTaskActivities,
  type WorkerDeps,
} from '../../activities';
import { createHostShare } from '../../activities/callbacks/per-host-limit';
import type { ActivityEvents } from '../../activities/events';
import { beatsPassedOnEvery } from '../../activities/heartbeat';
import { startOwedWork } from '../../activities/owed/start-loops';
import { createChannels } from '../../activities/providers/channels';
import { keepFaults } from '../../activities/providers/kept-faults';
import { traced } from '../../activities/task-trace';
import { queuesOf } from '../../workflows/messages';
import type { Catalogue } from '../catalogue/catalogue.rules';
import { connectTo, type TemporalAccess } from './connections';
import { createHealth, identity, type WorkerHealth } from './health';
import { encryptionWith } from './payload-codec';
import { ensureSchedules, ensureSearchAttributes, ensureWatchers, tryUntilDone } from './setup';
import { startDelivery } from './start-delivery';
import { startTask } from './submit-task';

export interface WorkerSettings {
  readonly temporal: TemporalAccess;
  readonly workflowBundle: { readonly codePath: string } | { readonly workflowsPath: string };
  readonly cachedWorkflowsMax: number;
  readonly activitySlots: number;
  readonly callbackSlots: number;
  readonly reconcileIntervalSeconds: number;
  readonly activities: WorkerDeps['settings'];
  readonly deployment: { readonly name: string; readonly buildId: string } | null;
}

interface WorkerParts {
  readonly db: Knex;
  readonly catalogue: () => Catalogue;
  readonly channelKeys: (envName: string) => string | undefined;
  readonly events: ActivityEvents;
  /** Called for each failed try to start the loops. Another try follows. */
  readonly onSetupFault: (error: unknown) => void;
  readonly storage: WorkerDeps['storage'];
}

export interface RunningWorker {
  /** Resolves when the worker has stopped; rejects if the worker fails. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
  health(): Promise<WorkerHealth>;
}

export async function startWorker(
  settings: WorkerSettings,
  parts: WorkerParts,
): Promise<RunningWorker> {
  const { temporal } = settings;
  const connections = await connectTo(temporal);
  const stopping = new AbortController();
  // Each watcher that pauses adds a listener to this signal. Node would warn from the eleventh
  // listener on.
  setMaxListeners(0, stopping.signal);

  await ensureSearchAttributes(connections.client, temporal.namespace);
  const deps = composeDeps(settings, parts, connections.client, stopping.signal);
  const activities = createActivities(deps);
  const workers = await createWorkers(settings, connections.native, activities);
  // The workers run only after this, so a process that is stopped while it starts has no work.
  await tryUntilDone(() => ensureLoops(settings, parts, connections.client), {
    pauseMs: setupPauseMs,
    stopping: stopping.signal,
    onFault: parts.onSetupFault,
  });

  const running = workers.map((worker) => worker.run());
  const owed = startOwedWork(deps);
  stopping.signal.addEventListener('abort', () => void owed.close());
  const done = Promise.all(running).then(async () => {
    await owed.close();
    await connections.close();
  });
  // If one worker fails, all are stopped: a partly running process is hard to diagnose.
  for (const run of running) run.catch(() => stopAll(workers, stopping));
  return {
    done,
    async stop() {
      stopAll(workers, stopping);
      await done;
    },
    health: createHealth({ client: connections.client, temporal, workers, db: parts.db }),
  };
}

const setupPauseMs = 5_000;

/** Starts watchers, reconciler, audit and usage. Temporal then keeps them running. */
async function ensureLoops(
  { temporal, reconcileIntervalSeconds }: WorkerSettings,
  { catalogue }: WorkerParts,
  client: Client,
): Promise<void> {
  const queues = queuesOf(temporal.taskQueue);
  await ensureWatchers(client, queues, Object.keys(catalogue().channels));
  await ensureSchedules(client, queues, reconcileIntervalSeconds);
}

// A stopping worker cancels its activities after ten seconds, and another worker retries them. The
// requests of these activities are aborted one second earlier. So an activity can still store what
// is known about its request.
const requestsEndAfterMs = 9_000;
const beats = {
  defaultHeartbeatThrottleInterval: beatsPassedOnEvery,
  maxHeartbeatThrottleInterval: beatsPassedOnEvery,
} as const;
const gracefully = { shutdownGraceTime: '10 s', shutdownForceTime: '14 s' } as const;

function createWorkers(
  settings: WorkerSettings,
  connection: NativeConnection,
  activities: ReturnType<typeof createActivities>,
): Promise<Worker[]> {
  const { namespace, taskQueue, encryptionKeys } = settings.temporal;
  const queues = queuesOf(taskQueue);
  const encryption = encryptionWith(encryptionKeys);
  const common = { connection, namespace, identity, ...encryption, ...gracefully, ...beats };
  return Promise.all([
    Worker.create({
      ...common,
      taskQueue: queues.tasks,
      ...bundleOf(settings),
      ...versioningOf(settings),
      activities: activities.tasks,
      maxCachedWorkflows: settings.cachedWorkflowsMax,
      maxConcurrentActivityTaskExecutions: settings.activitySlots,
      // Local activities run the transactions of tasks. The limit is twice the default size of the
      // database pool. Further transactions wait in the worker, not in the pool for a connection.
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

function composeDeps(
  settings: WorkerSettings,
  parts: WorkerParts,
  client: Client,
  stopping: AbortSignal,
): WorkerDeps {
  const { db, storage, events, catalogue } = parts;
  const queues = queuesOf(settings.temporal.taskQueue);
  const hurry = lastSecondsOf(stopping);
  const allowHosts = settings.activities.dangerouslyAllowProviderHosts;
  const more = { events, hurry, allowHosts, onFault: keepFaults(db) };
  // Pauses of channels are measured by a monotonic clock.
  const sinceStart = () => performance.now();
  return {
    db,
    client,
    channels: createChannels(catalogue, parts.channelKeys, sinceStart, more),
    storage,
    events,
    now: () => Date.now(),
    stopping,
    startTask: (input) => startTask(client, queues.tasks, input),
    startDelivery: (input) => startDelivery(client, queues.tasks, input),
    ensureWatchers: (inUse) => {
      const channels = new Set([...Object.keys(catalogue().channels), ...inUse]);
      return ensureWatchers(client, queues, [...channels]);
    },
    hostShare: createHostShare(sinceStart),
    settings: settings.activities,
  };
}

function createActivities(deps: WorkerDeps) {
  return {
    tasks: traced(createTaskActivities(deps)),
    loops: createLoopActivities(deps),
    callbacks: createCallbackActivities(deps),
  };
}

/**
 * Returns a signal that aborts when the requests of a stopping worker must end. The next attempt of
 * the activity finds out what an aborted request has done.
 */
function lastSecondsOf(stopping: AbortSignal): AbortSignal {
  const lastSeconds = new AbortController();
  // Each request in progress adds a listener to this signal. Node would warn from the eleventh
  // listener on.
  setMaxListeners(0, lastSeconds.signal);
  stopping.addEventListener('abort', () => {
    setTimeout(() => lastSeconds.abort(), requestsEndAfterMs).unref();
  });
  return lastSeconds.signal;
}

function bundleOf({ workflowBundle }: WorkerSettings): Partial<WorkerOptions> {
  return 'codePath' in workflowBundle ? { workflowBundle } : workflowBundle;
}

/** With a build id, tasks stay on the build on which they began. So no deploy breaks open tasks. */
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
