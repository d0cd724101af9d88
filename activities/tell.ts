// How a task hears of its job: that it runs is a signal, its end completes the activity that placed
// it. News may be told twice; what cannot be told is told again by a later round, or is the sweep's.

import type { Client } from '@temporalio/client';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { giveTurns } from '../src/db/job-gate';
import { expectPlaced } from '../src/db/unplaced';
import { closeReported, type JobNews, markSignalled } from '../src/db/watched-jobs';
import type { JobName, JobReport, PlacedJob } from '../workflows/messages';
import { jobSignal, turnSignal } from '../workflows/messages';
import { isFinalReport } from './service';
import type { SubmitDeps } from './submit';

interface TellDeps extends SubmitDeps {
  readonly client: Client;
}

/** Sixteen at a time: a round must not wait for a crowd of ends one by one. */
const atOnce = 16;

export async function tellTasks(deps: TellDeps, news: readonly JobNews[]): Promise<void> {
  const told: JobNews[] = [];
  await eachOf(news, async (item) => {
    if (await tellTask(deps, item)) told.push(item);
  });
  await markSignalled(
    deps.db,
    told.filter(({ report }) => isFinalReport(report)),
  );
}

/** Wakes the tasks whose turn it is, in a channel with a limit. */
export async function giveWay(deps: TellDeps, channel: string): Promise<void> {
  const places = deps.channels.find(channel)?.channel.jobsInFlightMax;
  if (!places) return;
  const told: JobName[] = [];
  await eachOf(await giveTurns(deps.db, channel, places), async (name) => {
    if (await signal(deps.client, name.taskId, turnSignal, name.kind)) told.push(name);
  });
  await markSignalled(deps.db, told);
  await expectPlaced(
    deps.db,
    told.map(({ taskId }) => taskId),
  );
}

/** False when it has to be told again. */
async function tellTask({ db, client }: TellDeps, news: JobNews): Promise<boolean> {
  const { taskId, activityId, report } = news;
  if (!activityId || !isFinalReport(report)) return signal(client, taskId, jobSignal, report);
  try {
    await complete(client, taskId, activityId, report);
    return true;
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) return false;
    // The task has heard of it before, or is gone, or waits in some other way.
    if (!(await signal(client, taskId, jobSignal, report))) return false;
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
    // A workflow that is gone cannot be told: its row is the sweep's to close. Told again only now
    // and then.
    return error instanceof WorkflowNotFoundError;
  }
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items].reverse();
  const worker = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
