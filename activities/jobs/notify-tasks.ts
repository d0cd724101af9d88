// Notifies workflows about their jobs. A workflow gets a signal if its job runs or can have a free
// slot. The end of a job completes the activity that placed the job. Notifications may be repeated.
// If the notification about an end or a free slot fails, the notification is sent again later. The
// signal of a running job is not sent again, because the row already shows that the job runs.

import type { Client } from '@temporalio/client';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { isFinalReport, type JobName, type PlacedJob } from '../../src/jobs/job.rules';
import { giveTurns, takeBackTurns } from '../../src/jobs/slots.rows';
import { closeReported, type JobNews, markNotified } from '../../src/jobs/steps.rows';
import { jobSignal, turnSignal } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';

type Notifier = Pick<WorkerDeps, 'db' | 'channels' | 'client'>;

/** Sixteen calls run at the same time, so that a round stays short if many jobs end. */
const atOnce = 16;
// A task whose workflow Temporal does not know is notified so much later than others, because nothing
// may come of it.
const unknownForSeconds = 60;

export async function notifyTasks(deps: Notifier, news: readonly JobNews[]): Promise<void> {
  const notified: JobNews[] = [];
  const unknown: JobNews[] = [];
  await eachAtOnce(news, atOnce, async (item) => {
    const outcome = await notifyTask(deps, item);
    if (outcome === 'notified') notified.push(item);
    if (outcome === 'unknown') unknown.push(item);
  });
  const isEnd = ({ report }: JobNews) => isFinalReport(report);
  await markNotified(deps.db, notified.filter(isEnd), 0);
  await markNotified(deps.db, unknown.filter(isEnd), unknownForSeconds);
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

/** `unknown`: Temporal does not know the workflow of the task, or the workflow has ended. */
type Outcome = 'notified' | 'unknown' | 'failed';

async function notifyTask({ db, client }: Notifier, news: JobNews): Promise<Outcome> {
  const { taskId, report } = news;
  if (!isFinalReport(report)) {
    return (await signal(client, taskId, jobSignal, report)) ? 'notified' : 'failed';
  }
  try {
    await complete(client, news);
    return 'notified';
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) return 'failed';
    return notifyWithoutActivity({ db, client }, news);
  }
}

/**
 * Notifies a task if no activity of the job waits for a report. The activity has ended, or its next
 * attempt will read the stored report. Or the workflow waits for a slot, although an attempt that
 * was given up has placed the job; with a turn, the workflow starts an activity that reads the
 * report. A turn that is not needed does no harm.
 *
 * If Temporal does not know the workflow, the report is kept: this worker may have the address of
 * another Temporal. If the workflow is really gone, the reconciler ends the task.
 */
async function notifyWithoutActivity(
  { db, client }: Pick<Notifier, 'db' | 'client'>,
  news: JobNews,
): Promise<Outcome> {
  try {
    await client.workflow.getHandle(news.taskId).signal(turnSignal, news.kind);
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'unknown' : 'failed';
  }
  await closeReported(db, news);
  return 'notified';
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
