// Finds jobs that must be placed and that nobody places. There are two cases. The worker of an
// attempt has died: the activity stays open until the job has ended, so Temporal cannot distinguish
// a dead worker from a job that takes days. A live attempt sends heartbeats while it places the job.
// If no heartbeat arrived between two checks, this file fails the attempt, and Temporal starts the
// next attempt (docs/decisions.md, 29). Or no attempt exists, because the worker that gave the job
// its turn died before it sent the signal. Then this file repeats the signal.

import { ApplicationFailure } from '@temporalio/activity';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { claimChecks, type PlacementCheck, storeSeen } from '../../src/jobs/checks.rows';
import type { WorkerDeps } from '../deps';
import { silentAfterSeconds } from '../heartbeat';
import { offerTurn } from './notify-tasks';

type Recovery = Pick<WorkerDeps, 'db' | 'events' | 'client'>;

type Attempt = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

const atOnce = 50;
// A watcher also has to poll its jobs, so its checks stop after this time. The other checks stay due.
const roundMs = 5_000;
const hourSeconds = 3_600;
// The state STARTED of a pending activity in Temporal's API: a worker runs the activity, and no
// cancel was requested.
const started = 2;

export async function recoverStalledPlacements(deps: Recovery): Promise<void> {
  const until = performance.now() + roundMs;
  while (performance.now() < until) {
    const due = await claimChecks(deps.db, atOnce);
    // If a check fails, the check of this job is soon due again.
    await Promise.allSettled(due.map((job) => check(deps, job)));
    if (due.length < atOnce) return;
  }
}

async function check({ db, client, events }: Recovery, job: PlacementCheck): Promise<void> {
  const { taskId, seen } = job;
  const live = await describeWorkflow(client, taskId);
  // Either the reconciler will end the task, or this worker has the address of another Temporal.
  if (!live) return;
  if (live.status.name === 'PAUSED') return; // Untested: the tests’ server pauses no workflows.
  // The workflow has ended. The reconciler closes the task and its jobs, so the next check can be
  // late.
  if (live.status.name !== 'RUNNING') return storeSeen(db, job, null, hourSeconds);
  if (awaitsTurn(live)) return void (await offerTurn(client, job));
  const attempt = runningAttempt(live);
  if (!attempt) return;
  const found = lifeSign(attempt);
  if (found !== seen) return storeSeen(db, job, found, silentAfterSeconds);
  events.attemptSilent(taskId);
  const why = 'The worker that placed the job died or fell silent.';
  await fail(client, taskId, attempt.activityId ?? '', why);
}

/** Returns undefined if Temporal does not know the workflow of the task. */
export async function describeWorkflow(
  client: Client,
  taskId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(taskId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error; // Untested: Temporal is unavailable; the next check or run tries again.
  }
}

/**
 * Returns true if the workflow waits for a signal: no activity of the job exists, and no worker has
 * to run the workflow now. A signal that was not needed only causes one more attempt.
 */
function awaitsTurn({ raw }: WorkflowExecutionDescription): boolean {
  return !raw.pendingWorkflowTask && !raw.pendingActivities?.some(placesJob);
}

/**
 * Returns the attempt that a worker is running now; undefined if there is none. If the job is a
 * super-resolution whose generation was not acknowledged yet, this is the activity of the generation.
 * It may be ended too: its next attempt returns the stored report.
 */
function runningAttempt({ raw }: WorkflowExecutionDescription): Attempt | undefined {
  return raw.pendingActivities?.find((one) => placesJob(one) && one.state === started);
}

/**
 * The activity of a job stays open although its row is closed if Temporal has lost its last seconds,
 * in which the activity had ended. Nobody will complete it again. Its next attempt reads the report
 * in the row.
 */
export async function repeatEnded(
  client: Client,
  workflowId: string,
  live: WorkflowExecutionDescription,
): Promise<void> {
  const activityId = runningAttempt(live)?.activityId;
  if (activityId) await fail(client, workflowId, activityId, 'The job has ended.');
}

function placesJob({ activityType }: Attempt): boolean {
  return activityType?.name === 'runJob';
}

/**
 * Returns a text that changes with each attempt and each heartbeat. The text is only compared with
 * the previous text, so a wrong clock does no harm.
 */
function lifeSign({ attempt, lastStartedTime, lastHeartbeatTime }: Attempt): string {
  const { seconds, nanos } = lastHeartbeatTime ?? lastStartedTime ?? {};
  return [attempt, seconds, nanos].join(' ');
}

async function fail(
  client: Client,
  workflowId: string,
  activityId: string,
  message: string,
): Promise<void> {
  const failure = ApplicationFailure.create({ type: 'WorkerSilent', message });
  try {
    await client.activity.fail({ workflowId, activityId }, failure);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error; // The attempt ended meanwhile.
  }
}
