// Checks if a worker is ready. A worker is ready if Temporal lists recent polls of this process and
// the database answers. It is also shown if every channel with open jobs was polled recently. That
// is no condition, because a fault of a provider would keep a release from replacing the workers.

import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import type { Knex } from 'knex';
import { queuesOf } from '../../workflows/messages';
import { listUnwatched } from '../jobs/watchers.rows';

export interface WorkerHealth {
  readonly ready: boolean;
  readonly parts: {
    readonly polls: boolean;
    readonly database: boolean;
    readonly watchers: boolean;
  };
}

interface Checked {
  readonly client: Client;
  readonly temporal: { readonly namespace: string; readonly taskQueue: string };
  readonly workers: readonly Worker[];
  readonly db: Knex;
}

/** The identity of this process in Temporal's list of pollers. */
export const identity = `${process.pid}@${hostname()}`;

// This limit is below the five seconds of a container's health check.
const askMs = 3_000;
// An idle worker polls again every minute. Two missed polls mean that the worker is not polling.
const pollSilentMs = 150_000;
// If the worker of a watcher dies, another worker continues the watcher within 15 s. So 120 s
// without a poll mean a fault.
const watcherSilentSeconds = 120;
// Several probes within this time share one check.
const freshForMs = 2_000;

const workflowTasks = 1;
const activityTasks = 2;

export function createHealth(deps: Checked): () => Promise<WorkerHealth> {
  let asked: Promise<WorkerHealth> | undefined;
  let askedAt = 0;
  return () => {
    if (asked && performance.now() - askedAt < freshForMs) return asked;
    askedAt = performance.now();
    asked = ask(deps);
    return asked;
  };
}

async function ask(deps: Checked): Promise<WorkerHealth> {
  const { db, temporal, workers } = deps;
  const queues = queuesOf(temporal.taskQueue);
  // A worker does not poll while all its slots are in use. So a worker that runs an activity counts
  // as polling.
  const isBusy = (queue: string) =>
    workers.some(
      (worker) =>
        worker.options.taskQueue === queue && worker.getStatus().numInFlightActivities > 0,
    );
  const [workflows, loops, callbacks, silent] = await Promise.all([
    within(polls(deps, queues.tasks, workflowTasks)),
    isBusy(queues.loops) || within(polls(deps, queues.loops, activityTasks)),
    isBusy(queues.callbacks) || within(polls(deps, queues.callbacks, activityTasks)),
    within(listUnwatched(db, watcherSilentSeconds)),
  ]);
  const polling = [workflows, loops, callbacks].every((seen) => seen === true);
  const database = silent !== null;
  const parts = { polls: polling, database, watchers: silent?.length === 0 };
  return { ready: polling && database, parts };
}

/** True if Temporal has recently received a poll of this process for the queue. */
async function polls(deps: Checked, name: string, taskQueueType: number): Promise<boolean> {
  const { client, temporal } = deps;
  const { namespace } = temporal;
  const { connection } = client;
  const { pollers } = await connection.withDeadline(Date.now() + askMs, () =>
    client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType }),
  );
  return (pollers ?? []).some(({ identity: whose, lastAccessTime }) => {
    const seenAt = Number(lastAccessTime?.seconds ?? 0) * 1000;
    return whose === identity && Date.now() - seenAt < pollSilentMs;
  });
}

/** Returns the answer; null if the call fails or the answer does not arrive in time. */
async function within<T>(answer: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, askMs, null).unref());
  return Promise.race([answer.catch(() => null), late]);
}
