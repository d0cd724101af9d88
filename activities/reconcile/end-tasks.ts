// Ends tasks whose workflow cannot end them: the workflow was terminated, Temporal has lost it, or
// it does not run although the deadline has long passed. The task fails, its hold is returned, its
// jobs are marked to be cancelled, and its callback is due at once. Only a task whose workflow may still
// run gets its last job read before: without a workflow, a made video would be stored by nobody.

import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { isRetryable } from '../../src/database/database';
import { lastJobOf } from '../../src/jobs/job.rules';
import { findJob } from '../../src/jobs/queries.rows';
import { billing } from '../../src/planning/pricing.rules';
import {
  findOpenRows,
  isLossConfirmed,
  isStillOverdue,
  listOverdue,
  nextSlice,
  type OpenRow,
} from '../../src/tasks/reconcile.rows';
import { expiredMessage, failedObject, stoppedMessage } from '../../src/tasks/task.rules';
import { areTooManyUnknown } from '../../src/tasks/unknown-tasks.rules';
import { workflowNames } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { unlessStopping } from '../handing-over';
import { inTime } from '../in-time';
import { createFollowActivities } from '../jobs/read-and-cancel-job';
import { closeTask } from '../money/billing';
import { describeWorkflow, repeatEnded } from './describe-workflow';
import { oneByOne } from './one-by-one';

type Ending = Pick<WorkerDeps, 'db' | 'client' | 'events' | 'now' | 'stopping'>;

// Within this time after the deadline the workflow itself ends the task, unless the workflow cannot
// run. A task whose video is made gets more time: it may take ten minutes to store the video, and
// all workers may be away.
const grace = { graceSeconds: 300, madeGraceSeconds: 2 * 3_600 };

// A provider that does not answer must not hold up the refunds. A read waits this long for its answer.
const readWithinMs = 5_000;
// After this many reads without an answer, the run ends the other tasks of the channel without reading
// their jobs.
const unansweredMax = 2;

/**
 * Ends tasks that are long past their deadline. Their workflows evidently do not work any more, so
 * they are terminated first. After an outage a video may be made that no watcher has seen yet: then
 * the task is left to its workflow. Returns the ids of the ended tasks.
 */
export async function endOverdue(
  deps: Ending & Pick<WorkerDeps, 'channels'>,
  withinMs = readWithinMs,
): Promise<string[]> {
  const ended: string[] = [];
  const overdue = await listOverdue(deps.db, grace);
  const read = readsOfJobs(deps, withinMs);
  const stop = async (row: OpenRow): Promise<void> => {
    await read(row);
    if (!(await isStillOverdue(deps.db, row.id, grace))) return;
    await terminate(deps.client, row.id);
    if (await endTask(deps, row)) ended.push(row.id);
  };
  await oneByOne(deps.stopping, overdue, stop, ({ id }) => {
    deps.events.finding('stuck', id, 'its workflow could not be terminated');
  });
  return ended;
}

/** Returns a function that reads the last job of a task and stores what it finds. */
function readsOfJobs(deps: Pick<WorkerDeps, 'db' | 'channels' | 'events'>, withinMs: number) {
  const { readJob } = createFollowActivities(deps);
  const unanswered = new Map<string, number>();
  return async ({ id: taskId, task: { plan, traceId } }: OpenRow): Promise<void> => {
    const kind = lastJobOf(plan);
    const channel = (await findJob(deps.db, { taskId, kind }))?.channel ?? '';
    const before = unanswered.get(channel) ?? 0;
    if (before >= unansweredMax) return;
    // A fault is an answer too: the task expires, as at its deadline.
    const answer = readJob({ taskId, kind, traceId }).catch(() => undefined);
    await inTime(answer, withinMs).catch(() => unanswered.set(channel, before + 1));
  };
}

async function terminate(client: Client, taskId: string): Promise<void> {
  try {
    await client.workflow.getHandle(taskId).terminate('past its deadline');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

// Temporal updates its visibility store with a delay. Ten minutes cover this delay and one or two
// missed runs of the reconciler.
const visibilityWindowMs = 10 * 60_000;
const terminatedMax = 2_000;

/**
 * Ends tasks whose workflow ended lately without ending its task. Usually the workflow was
 * terminated. Temporal's visibility store lists such workflows soon, so these tasks need not wait
 * for their slice. Returns the ids of the ended tasks.
 */
export async function endTerminated(deps: Ending): Promise<string[]> {
  const rows = await findOpenRows(deps.db, await listTerminated(deps));
  // The list may show an old workflow although a newer workflow of the same task runs.
  const states = await statesOf(deps, rows);
  return endAll(
    deps,
    rows.filter(({ id }) => states.get(id) === 'ended'),
  );
}

/** Lists only ids. The client would also decrypt the rows, and one row may be of another key. */
async function listTerminated({ client, now }: Ending): Promise<string[]> {
  const since = new Date(now() - visibilityWindowMs).toISOString();
  const query =
    `WorkflowType = '${workflowNames.generateVideo}' and CloseTime > '${since}' and ` +
    `ExecutionStatus in ('Terminated', 'Failed', 'TimedOut', 'Canceled')`;
  const ids: string[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      ...{ namespace: client.options.namespace, query, pageSize: 200 },
      ...(nextPageToken ? { nextPageToken } : {}),
    });
    ids.push(...page.executions.map(({ execution }) => execution?.workflowId ?? ''));
    nextPageToken = page.nextPageToken;
    // Untested: two thousand terminations in ten minutes.
  } while (nextPageToken.length > 0 && ids.length < terminatedMax);
  return ids;
}

// 200 describe calls per run are about 3 per second. A Temporal server that also runs the tasks can
// answer about ten times as many.
const sliceSize = 200;

/**
 * Asks Temporal about a slice of the open tasks, because a run has no time for all open tasks. Ends
 * the tasks whose workflow has ended or is lost, and reports stuck workflows. If too many tasks of
 * the slice are unknown to Temporal, the worker probably has a wrong Temporal address or namespace.
 * Then no unknown task is ended until an operator confirms the loss.
 */
export async function endLost(
  deps: Ending,
): Promise<{ checked: number; closed: string[]; stuck: string[] }> {
  const slice = await nextSlice(deps.db, sliceSize);
  const states = await statesOf(deps, slice);
  const inState = (state: WorkflowState) => slice.filter(({ id }) => states.get(id) === state);
  const [stuck, untaken] = [inState('stuck'), inState('untaken')];
  for (const { id } of stuck) deps.events.finding('stuck', id, 'its workflow tasks keep failing');
  for (const { id } of untaken) {
    deps.events.finding('stuck', id, 'no worker takes its workflow tasks');
  }
  const unknown = inState('unknown');
  // The unknown tasks of the whole slice are counted before any of them is ended.
  const mayEnd = await mayEndUnknown(deps, unknown.length, slice.length);
  const closed = await endAll(deps, [...inState('ended'), ...(mayEnd ? unknown : [])]);
  const stopped = [...stuck, ...untaken].map(({ id }) => id);
  return { checked: slice.length, closed, stuck: stopped };
}

async function mayEndUnknown(
  { db, events }: Ending,
  unknown: number,
  described: number,
): Promise<boolean> {
  if (!areTooManyUnknown({ unknown, described })) return true;
  if (await isLossConfirmed(db)) return true;
  const why = `Temporal does not know ${unknown} of ${described} open tasks; none of them is closed`;
  events.finding('unknown_to_temporal', '', why);
  return false;
}

/**
 * `live`: the workflow is open and runs. `stuck`: the workflow is open, but its workflow task keeps
 * failing. `untaken`: no worker takes its workflow task, for example because no worker of its build
 * runs. `ended`: the workflow has ended. `unknown`: Temporal lost the workflow, or removed the
 * workflow after the retention period.
 */
type WorkflowState = 'live' | 'stuck' | 'untaken' | 'ended' | 'unknown';

/** The states of the workflows of these tasks, without those that could not be described. */
async function statesOf(
  { client, events, now, stopping }: Ending,
  rows: readonly OpenRow[],
): Promise<ReadonlyMap<string, WorkflowState>> {
  const states = new Map<string, WorkflowState>();
  const describe = async ({ id, areJobsClosed }: OpenRow): Promise<void> => {
    const found = await describeWorkflow(client, id);
    const state = stateOf(found, now());
    states.set(id, state);
    if (found && state === 'live' && areJobsClosed) await repeatEnded(client, id, found);
  };
  await oneByOne(stopping, rows, describe, ({ id }) => {
    events.finding('stuck', id, 'its workflow could not be described');
  });
  return states;
}

// After this many failed attempts of its workflow task, a workflow counts as stuck. Then an
// operator must deploy other code or reset the workflow.
const attemptsBeforeStuck = 4;
// Workers that were away need a while for all tasks. So the time counts from the start of this one.
const takenWithinMs = 15 * 60_000;

function stateOf(found: WorkflowExecutionDescription | undefined, nowMs: number): WorkflowState {
  if (!found) return 'unknown';
  // An operator may pause a workflow; the deadline still ends its task. Untested: the tests’ server cannot.
  if (found.status.name === 'PAUSED') return 'live';
  if (found.status.name !== 'RUNNING') return 'ended';
  const { attempt, scheduledTime, startedTime } = found.raw.pendingWorkflowTask ?? {};
  if ((attempt ?? 0) >= attemptsBeforeStuck) return 'stuck';
  if (!scheduledTime || startedTime) return 'live';
  const sinceMs = Math.max(Number(scheduledTime.seconds) * 1_000, performance.timeOrigin);
  return nowMs - sinceMs > takenWithinMs ? 'untaken' : 'live';
}

async function endAll(deps: Ending, rows: readonly OpenRow[]): Promise<string[]> {
  const ended: string[] = [];
  for (const row of rows) {
    unlessStopping(deps.stopping);
    if (await endTask(deps, row)) ended.push(row.id);
  }
  return ended;
}

/**
 * Returns true if the task was still open and is now ended. If the row cannot be read, an operator
 * is informed and false is returned. So the other tasks are still ended.
 */
export async function endTask(deps: Ending, row: OpenRow): Promise<boolean> {
  try {
    return await fail(deps, row);
  } catch (error) {
    // Untested: the database becomes unavailable during a run; the next run starts over.
    if (isRetryable(error)) throw error;
    deps.events.finding('unreadable', row.id, String(error));
    return false;
  }
}

async function fail(deps: Ending, row: OpenRow): Promise<boolean> {
  const { task, nowMs } = row;
  const { plan } = task;
  const message =
    nowMs > row.deadlineAtMs ? expiredMessage(plan.expiresAfterSeconds) : stoppedMessage;
  const bill = billing(plan, { lines: [], final: true });
  const object = failedObject(task, message, Math.floor(nowMs / 1000), bill);
  const heldMicros = plan.hold.amountMicros;
  const { first } = await closeTask(deps, { taskId: row.id, object, heldMicros, charge: [] });
  if (!first) return false; // Untested: the workflow ended the task at the same moment.
  deps.events.finding('closed', row.id, message);
  return true;
}
