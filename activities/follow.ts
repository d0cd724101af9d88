// Looks at one job by itself, or asks for its end: for the moment a deadline is reached, a cancel,
// and the sweep. The everyday looking is the watcher's (watch.ts).

import { ApplicationFailure } from '@temporalio/activity';
import type { Job } from '../src/db/jobs';
import { findJob, sinceEndMs } from '../src/db/jobs';
import { storeReports } from '../src/db/watched-jobs';
import { statusMessages } from '../src/domain/task';
import type { JobName, JobOrder, JobReport } from '../workflows/messages';
import type { KnownChannel } from './channels';
import { findLostJob } from './lost-job';
import type { JobReading } from './service';
import { isFinalReport, UpstreamFault } from './service';
import { type SubmitDeps, sendWithinMs } from './submit';

export function createFollowActivities(deps: SubmitDeps) {
  return {
    /** Null when nothing new can be said of the job. */
    async readJob(name: JobName): Promise<JobReport | null> {
      const job = await findJob(deps.db, name);
      if (!job?.upstreamId) return null;
      if (job.report && isFinalReport(job.report)) return job.report;
      const reading = await read(deps, job, job.upstreamId);
      const report = reading && reportOf(job, job.upstreamId, reading);
      if (!report) return null;
      // The row shows a change before the workflow can.
      await storeReports(
        deps.db,
        [{ taskId: name.taskId, kind: name.kind, report }],
        statusMessages,
      );
      return report;
    },

    /** Asks the service to stop a job; one whose create may have been lost is looked up first. */
    async cancelJob(order: JobOrder): Promise<void> {
      const job = await findJob(deps.db, order);
      const found = job && deps.channels.find(job.channel);
      if (!job || !found) return;
      const started = deps.now();
      try {
        for (const id of await upstreamIdsOf(deps, order, job, found)) {
          await found.service.cancel(id);
        }
        const ms = deps.now() - started;
        deps.events.upstream(job.channel, 'cancel', 'ok', ms, undefined, order.taskId);
      } catch (error) {
        if (!(error instanceof UpstreamFault)) throw error;
        const ms = deps.now() - started;
        deps.events.upstream(job.channel, 'cancel', error.kind, ms, error.code, order.taskId);
        throw ApplicationFailure.create({
          type: 'CancelNotTaken',
          message: 'The service did not take the cancel.',
        });
      }
    },
  };
}

async function read(
  { channels, events, now }: SubmitDeps,
  { channel, taskId }: Job,
  upstreamId: string,
): Promise<JobReading | undefined> {
  const started = now();
  try {
    const reading = await channels.find(channel)?.service.read(upstreamId);
    events.upstream(channel, 'read', 'ok', now() - started, undefined, taskId);
    return reading;
  } catch (error) {
    if (error instanceof UpstreamFault) {
      events.upstream(channel, 'read', error.kind, now() - started, error.code, taskId);
    }
    throw error;
  }
}

/** The job's id, or what a lost create may have left behind when that can be told for certain. */
async function upstreamIdsOf(
  deps: SubmitDeps,
  order: JobOrder,
  job: Job,
  { channel, service }: KnownChannel,
): Promise<readonly string[]> {
  if (job.upstreamId) return [job.upstreamId];
  if (!job.sentAt) return [];
  const lost = await findLostJob(deps, order, job, service);
  if (lost.found === 'one') return [lost.upstreamId];
  // A worker may be waiting for the answer at this moment. None sends it for a task that has ended.
  const answeredMs = sendWithinMs + channel.requestTimeoutMs + channel.listLagMs;
  if ((await sinceEndMs(deps.db, order.taskId)) < answeredMs) throw stillOnItsWay();
  return [];
}

function stillOnItsWay(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'StillOnItsWay',
    message: 'The job may be accepted yet; it is looked for again.',
    category: 'BENIGN',
  });
}

export function reportOf(
  { kind, channel }: Pick<Job, 'kind' | 'channel'>,
  upstreamId: string,
  { status, result, failure }: JobReading,
): JobReport | null {
  if (status === null) return null;
  if (status === 'succeeded' && !result?.videoUrl) {
    const sentence = 'The generator reported success but gave no video.';
    return { kind, channel, upstreamId, status: 'failed', failure: { code: 'no_video', sentence } };
  }
  return {
    kind,
    channel,
    upstreamId,
    status,
    ...(result ? { result } : {}),
    ...(failure ? { failure } : {}),
  };
}
