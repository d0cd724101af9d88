// Notifies workflows about their jobs. A running job and a free slot are signals; the end of a job
// completes the activity that placed it. Notifications may be repeated. If the notification of an
// end or a free slot fails, it is sent again later. The signal of a running job is not sent again,
// because the row already shows that step.

import type { Client } from '@temporalio/client';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { giveTurns, releaseStranded, takeBackTurns } from '../../src/db/jobs/slots';
import { closeReported, type JobNews, markNotified } from '../../src/db/jobs/steps';
import { isFinalReport, type JobName, type JobReport, type PlacedJob } from '../../src/domain/job';
import { jobSignal, turnSignal } from '../../workflows/messages';
import type { JobDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';

interface NotifyDeps extends JobDeps {
  readonly client: Client;
}

/** Sixteen calls at a time, so that many ended jobs do not make a round long. */
const atOnce = 16;

export async function notifyTasks(deps: NotifyDeps, news: readonly JobNews[]): Promise<void> {
  const notified: JobNews[] = [];
  await eachAtOnce(news, atOnce, async (item) => {
    if (await notifyTask(deps, item)) notified.push(item);
  });
  await markNotified(
    deps.db,
    notified.filter(({ report }) => isFinalReport(report)),
  );
}

/**
 * Gives the free slots of a channel to waiting jobs. A paused channel gives none, so that the
 * waiting jobs can go to their other channels.
 */
export async function offerFreeSlots(deps: NotifyDeps, channel: string): Promise<void> {
  const found = deps.channels.find(channel);
  if (!found || deps.channels.restMs(channel) > 0) return;
  await signalTurns(deps, await giveTurns(deps.db, channel, found.channel.jobsInFlightMax));
}

/**
 * Ends the wait of jobs whose channels have all left the catalogue. Their activities then retry
 * until a channel is back.
 */
export async function wakeStranded(deps: NotifyDeps): Promise<void> {
  await signalTurns(deps, await releaseStranded(deps.db, deps.channels.ids()));
}

async function signalTurns({ db, client }: NotifyDeps, names: readonly JobName[]): Promise<void> {
  const failed: JobName[] = [];
  await eachAtOnce(names, atOnce, async (name) => {
    if (!(await signal(client, name.taskId, turnSignal, name.kind))) failed.push(name);
  });
  await takeBackTurns(db, failed);
}

/** False if the notification failed. */
async function notifyTask({ db, client }: NotifyDeps, news: JobNews): Promise<boolean> {
  const { taskId, activityId, report } = news;
  if (!isFinalReport(report)) return signal(client, taskId, jobSignal, report);
  try {
    await complete(client, taskId, activityId, report);
    return true;
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) return false;
    // Either the activity has ended, or its next attempt will read the stored report.
    await closeReported(db, news);
    return true;
  }
}

async function complete(
  client: Client,
  workflowId: string,
  activityId: string,
  report: JobReport,
): Promise<void> {
  const ended: PlacedJob = { outcome: 'ended', report };
  await client.activity.complete({ workflowId, activityId }, ended);
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
    // A workflow that is gone needs no signal. The reconciler closes its row.
    // Untested: the tests of the reconciler cover such workflows.
    return error instanceof WorkflowNotFoundError;
  }
}
