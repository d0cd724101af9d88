// Notifies workflows about their jobs. A workflow gets a signal if its job runs or can have a free
// slot. The end of a job completes the activity that placed the job. Notifications may be repeated.
// An end that could not be told stays owed; a turn that could not be told is taken back, and a later round
// gives it again. The signal of a running job is not sent again, because the row already shows that the
// job runs.

import type { Client } from '@temporalio/client';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { isFinalReport, type JobName, type PlacedJob } from '../../src/jobs/job.rules';
import { tellSoon } from '../../src/jobs/owed.rows';
import { giveTurns, takeBackTurns } from '../../src/jobs/slots.rows';
import { closeReported, type JobNews } from '../../src/jobs/steps.rows';
import { jobSignal, turnSignal } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';

type Notifier = Pick<WorkerDeps, 'db' | 'channels' | 'client'>;

/** Sixteen calls run at the same time, so that a round stays short if many jobs end. */
const atOnce = 16;

/** Tells workflows what has just been stored. An end that cannot be told stays owed. */
export async function notifyTasks(deps: Notifier, news: readonly JobNews[]): Promise<void> {
  const failed: JobNews[] = [];
  await eachAtOnce(news, atOnce, async (item) => {
    if (!(await notifyTask(deps, item))) failed.push(item);
  });
  await tellSoon(
    deps.db,
    failed.filter(({ report }) => isFinalReport(report)),
  );
}

/** Offers the free slots of a channel to waiting jobs. */
export async function offerFreeSlots(deps: Notifier, channel: string): Promise<void> {
  const found = deps.channels.find(channel);
  if (!found) return;
  await signalTurns(deps, await giveTurns(deps.db, channel, found.channel.jobsInFlightMax));
}

async function signalTurns({ db, client }: Notifier, names: readonly JobName[]): Promise<void> {
  const failed: JobName[] = [];
  await eachAtOnce(names, atOnce, async (name) => {
    if (!(await offerTurn(client, name))) failed.push(name);
  });
  await takeBackTurns(db, failed);
}

/** Tells the workflow that its job can be placed. Returns false if the signal failed. */
export function offerTurn(client: Client, { taskId, kind }: JobName): Promise<boolean> {
  return signal(client, taskId, turnSignal, kind);
}

/** Returns false if Temporal did not answer. */
async function notifyTask(deps: Notifier, news: JobNews): Promise<boolean> {
  const { taskId, report } = news;
  if (!isFinalReport(report)) return signal(deps.client, taskId, jobSignal, report);
  try {
    await tellEnd(deps, news);
    return true;
  } catch {
    return false;
  }
}

/**
 * Completes the activity that placed the job. If no activity waits for a report, the activity has ended,
 * or its next attempt will read the stored report. Or the workflow waits for a slot, although an attempt
 * that was given up has placed the job; with a turn, the workflow starts an activity that reads the
 * report. A turn that is not needed does no harm.
 *
 * If Temporal does not know the workflow, the end stays owed: this worker may have the address of
 * another Temporal. If the workflow is really gone, the reconciler ends the task.
 */
export async function tellEnd(
  { db, client }: Pick<Notifier, 'db' | 'client'>,
  news: JobNews,
): Promise<void> {
  try {
    await complete(client, news);
    return;
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
  try {
    await client.workflow.getHandle(news.taskId).signal(turnSignal, news.kind);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return;
    throw error;
  }
  await closeReported(db, news);
}

async function complete(client: Client, { taskId, kind, report }: JobNews): Promise<void> {
  const ended: PlacedJob = { outcome: 'ended', report };
  await client.activity.complete({ workflowId: taskId, activityId: kind }, ended);
}

async function signal(
  client: Client,
  taskId: string,
  name: string,
  argument: unknown,
): Promise<boolean> {
  try {
    await client.workflow.getHandle(taskId).signal(name, argument);
    return true;
  } catch (error) {
    // If the workflow is gone, no signal is needed, because the reconciler closes the task.
    // Untested: the tests of the reconciler cover such workflows.
    return error instanceof WorkflowNotFoundError;
  }
}
