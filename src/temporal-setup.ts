// What has to exist in the workflow engine before tasks can live there: the search attributes, the
// schedule of the reconciler, one watcher per channel. Every step may be repeated by any number of
// processes at once.

import type { Client } from '@temporalio/client';
import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { workflowNames } from '../workflows/messages';
import type { reconcile } from '../workflows/reconcile';
import { searchAttributes } from '../workflows/search-attributes';
import type { watchChannel } from '../workflows/watch-channel';

interface Queues {
  readonly tasks: string;
  readonly loops: string;
  readonly callbacks: string;
}

/**
 * The task queues, from the one name that is configured. Recorded in histories: add, never rename.
 */
export function queuesOf(taskQueue: string): Queues {
  return { tasks: taskQueue, loops: `${taskQueue}-loops`, callbacks: `${taskQueue}-callbacks` };
}

// The engine's own numbers: 2 is a keyword in its IndexedValueType.
const keyword = 2;

export async function ensureSearchAttributes(client: Client, namespace: string): Promise<void> {
  const { operatorService } = client.connection as unknown as OperatorConnection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributes.filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  await addSearchAttributes(
    client,
    namespace,
    missing.map(({ name }) => name),
  );
}

export async function addSearchAttributes(
  client: Client,
  namespace: string,
  names: readonly string[],
): Promise<void> {
  const { operatorService } = client.connection as unknown as OperatorConnection;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(names.map((name) => [name, keyword])),
  });
}

/** The part of the connection that the client's own interface leaves out. */
interface OperatorConnection {
  readonly operatorService: {
    listSearchAttributes(request: { namespace: string }): Promise<{
      customAttributes?: Record<string, unknown> | null;
    }>;
    addSearchAttributes(request: {
      namespace: string;
      searchAttributes: Record<string, number>;
    }): Promise<unknown>;
  };
}

export async function ensureReconcileSchedule(
  client: Client,
  queues: Queues,
  intervalSeconds: number,
): Promise<void> {
  const scheduleId = `reconcile:${queues.tasks}`;
  const spec = { intervals: [{ every: intervalSeconds * 1000 }] };
  const action = {
    type: 'startWorkflow' as const,
    workflowType: workflowNames.reconcile,
    workflowId: scheduleId,
    taskQueue: queues.tasks,
    args: [{ taskQueue: queues.loops }] as Parameters<typeof reconcile>,
    // A sweep that hangs must not keep the next ones from starting.
    workflowExecutionTimeout: '10 min' as const,
  };
  // One at a time: a sweep that takes longer than the interval makes the next one wait for its
  // turn.
  const policies = { overlap: ScheduleOverlapPolicy.SKIP };
  try {
    await client.schedule.create({ scheduleId, spec, action, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(scheduleId)
      .update((previous) => ({ ...previous, spec, action, policies }));
  }
}

/**
 * Named after the queue, so that two services may share a namespace and neither misses its
 * watchers.
 */
function watcherId(queues: Queues, channel: string, shard: number, shards: number): string {
  const name = `watch:${queues.tasks}:${channel}`;
  return shards === 1 ? name : `${name}:${shard}`;
}

export async function ensureWatchers(
  client: Client,
  queues: Queues,
  channels: readonly { readonly id: string; readonly watchers: number }[],
): Promise<void> {
  for (const { id: channel, watchers: shards } of channels) {
    for (let shard = 0; shard < shards; shard += 1) {
      try {
        await client.workflow.start<typeof watchChannel>(workflowNames.watchChannel, {
          workflowId: watcherId(queues, channel, shard, shards),
          workflowIdConflictPolicy: 'USE_EXISTING',
          taskQueue: queues.tasks,
          args: [{ channel, shard, shards, taskQueue: queues.loops }],
          staticSummary: `watches ${channel}`,
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    }
  }
}

interface Tries {
  readonly pauseMs: number;
  readonly stopping: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/**
 * Waits for the first try only, and goes on in the background: an engine that has just come back
 * may take a minute until it can tell of its schedules, and gives out tasks long before.
 */
export async function tryUntilDone(work: () => Promise<void>, tries: Tries): Promise<void> {
  const { pauseMs, stopping, onFault } = tries;
  try {
    await work();
  } catch (error) {
    if (stopping.aborted) return;
    onFault(error);
    setTimeout(() => void tryUntilDone(work, tries), pauseMs).unref();
  }
}
