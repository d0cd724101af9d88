// Creates what the service needs in Temporal: search attributes, the schedules of the reconciler,
// the audit and the usage, and the watchers of each channel. Every step may be repeated, also by several
// processes at once.

import type { Client } from '@temporalio/client';
import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import type { watchChannel } from '../../workflows/loops';
import { type queuesOf, workflowNames } from '../../workflows/messages';
import { searchAttributes } from '../../workflows/search-attributes';

// INDEXED_VALUE_TYPE_KEYWORD of Temporal's API.
const keyword = 2;

/** A namespace that cannot be used. The message is for the operator. */
export class UnfitNamespace extends Error {
  override readonly name = 'UnfitNamespace';
}

export async function ensureSearchAttributes(client: Client, namespace: string): Promise<void> {
  const { operatorService } = client.connection;
  const found = (await operatorService.listSearchAttributes({ namespace })).customAttributes ?? {};
  const names = searchAttributes.map(({ name }) => name);
  // Temporal would refuse each start of a task with a value of the wrong type.
  const foreign = names.filter((name) => (found[name] ?? keyword) !== keyword);
  if (foreign.length > 0) {
    throw new UnfitNamespace(
      `The namespace ${namespace} has the search attributes ${foreign.join(', ')} with another type than Keyword: ` +
        'something else uses them. Set TEMPORAL_NAMESPACE to a namespace of its own.',
    );
  }
  const missing = names.filter((name) => !(name in found));
  if (missing.length > 0) await addSearchAttributes(client, namespace, missing);
}

export async function addSearchAttributes(
  client: Client,
  namespace: string,
  names: readonly string[],
): Promise<void> {
  await client.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(names.map((name) => [name, keyword])),
  });
}

/** Audit and usage run every hour. Each workflow also runs once its schedule is created. */
export async function ensureSchedules(
  client: Client,
  queues: ReturnType<typeof queuesOf>,
  reconcileIntervalSeconds: number,
): Promise<void> {
  const { reconcile, audit, usage } = workflowNames;
  const plans: readonly Plan[] = [
    {
      workflow: reconcile,
      everySeconds: reconcileIntervalSeconds,
      workflowExecutionTimeout: '10 min',
    },
    { workflow: audit, everySeconds: 3600, workflowExecutionTimeout: '55 min' },
    { workflow: usage, everySeconds: 3600, workflowExecutionTimeout: '55 min' },
  ];
  for (const plan of plans) await ensureSchedule(client, queues, plan);
}

interface Plan {
  readonly workflow: 'reconcile' | 'audit' | 'usage';
  readonly everySeconds: number;
  /** Ends a run that hangs, so that the next run can start. */
  readonly workflowExecutionTimeout: '10 min' | '55 min';
}

async function ensureSchedule(
  client: Client,
  queues: ReturnType<typeof queuesOf>,
  { workflow, everySeconds, workflowExecutionTimeout }: Plan,
): Promise<void> {
  const scheduleId = `${workflow}:${queues.tasks}`;
  const spec = { intervals: [{ every: everySeconds * 1000 }] };
  const action = {
    type: 'startWorkflow' as const,
    workflowType: workflow,
    workflowId: scheduleId,
    taskQueue: queues.tasks,
    workflowExecutionTimeout,
  };
  // Only one run at a time: while a run continues, the schedule skips further runs.
  const policies = { overlap: ScheduleOverlapPolicy.SKIP };
  const state = { triggerImmediately: true };
  try {
    await client.schedule.create({ scheduleId, spec, action, policies, state });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(scheduleId)
      .update((previous) => ({ ...previous, spec, action, policies }));
  }
}

/**
 * The id contains the task queue, so that two services in one namespace have their own watchers.
 */
function watcherId(queues: ReturnType<typeof queuesOf>, channel: string): string {
  return `watch:${queues.tasks}:${channel}`;
}

export async function ensureWatchers(
  client: Client,
  queues: ReturnType<typeof queuesOf>,
  channels: readonly string[],
): Promise<void> {
  for (const channel of channels) {
    try {
      await client.workflow.start<typeof watchChannel>(workflowNames.watchChannel, {
        workflowId: watcherId(queues, channel),
        workflowIdConflictPolicy: 'USE_EXISTING',
        taskQueue: queues.tasks,
        args: [{ channel }],
        staticSummary: `watches ${channel}`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}

interface Tries {
  readonly pauseMs: number;
  readonly stopping: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/**
 * Waits for the first try only. Further tries run in the background, so that the worker can already
 * run tasks. A Temporal server may need a minute after its start until it can create schedules.
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
