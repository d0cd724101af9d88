// Reads a single job at the deadline or the cancel of its task, for the workflow and for the reconciler, and
// cancels single jobs for the workflow and the duty `cancel`. Regular polling is in watch-channel.ts.

import { ApplicationFailure } from '@temporalio/activity';
import { assert } from '../../src/assert';
import type { Channel } from '../../src/catalogue/catalogue.rules';
import { closeCancelled } from '../../src/jobs/cancels.rows';
import {
  isFinalReport,
  type JobInput,
  type JobName,
  type JobReport,
  type JobStatus,
} from '../../src/jobs/job.rules';
import type { LostJob } from '../../src/jobs/lost-job.rules';
import { listedAfterMs } from '../../src/jobs/placing.rules';
import type { Job, JobAtChannel } from '../../src/jobs/queries.rows';
import { findJob, hasChannel, sinceEndMs } from '../../src/jobs/queries.rows';
import { storeLate } from '../../src/jobs/steps.rows';
import type { WorkerDeps } from '../deps';
import { inTime } from '../in-time';
import type { KnownChannel } from '../providers/channels';
import { type Provider, reportOf, UpstreamFault } from '../providers/provider';
import { findLostJob } from './find-lost-job';
import { keepReports } from './keep-reports';

/** The time from the end of a task for which the service goes on looking for its job. */
export const followedForSeconds = 2 * 3_600;

type Stopping = Pick<WorkerDeps, 'db' | 'channels' | 'events'>;

type TracedJob = JobName & { readonly traceId: string };

export function createFollowActivities(deps: Stopping) {
  const findEnd = async (name: TracedJob): Promise<JobReport | null> =>
    endOf(await findJob(deps.db, name));
  return {
    /** Returns the final report if the row contains one. The provider is not asked. */
    findEnd,

    /**
     * Returns the final report if the row contains one. Otherwise reads the job at the provider and
     * returns the new report. Returns null if the job has no upstream id, or if the provider sent an
     * unknown status. Throws an error that may be retried if this worker does not know the channel.
     */
    async readJob(name: TracedJob): Promise<JobReport | null> {
      const job = await findJob(deps.db, name);
      if (!hasChannel(job) || !job.upstreamId) return null;
      const end = endOf(job);
      if (end) return end;
      const provider = deps.channels.find(job.channel)?.provider;
      if (!provider) throw unknownChannel(job.channel);
      const reading = await provider.read(job.upstreamId, name.taskId);
      const report = reportOf(job, job.upstreamId, reading);
      if (!report) return null;
      // The report is stored before the workflow gets it, so that the row is never behind the
      // workflow.
      const news = { taskId: name.taskId, kind: name.kind, report };
      const [kept] = await keepReports(deps, [news]);
      if (kept) return kept.report;
      // The watcher has stored the end meanwhile, or the task has ended.
      return (await findEnd(name)) ?? report;
    },

    cancelJob: (input: JobInput): Promise<void> => cancelJob(deps, input),
  };
}

function endOf(job: Job | null): JobReport | null {
  return job?.report && isFinalReport(job.report) ? job.report : null;
}

/**
 * Cancels a job of an ended task at the provider, and then closes the row of the job. If the
 * provider does not accept the cancel, an error is thrown and the activity is repeated.
 */
export async function cancelJob(deps: Stopping, input: JobInput): Promise<void> {
  const job = await findJob(deps.db, input);
  // Nothing is left to cancel. A request could delete the result of a job that has ended.
  if (job?.state === 'closed' && job.cancel !== 'wanted') return;
  const isUpstream = hasChannel(job) && (job.upstreamId || job.sentAt);
  const status = isUpstream ? await cancelUpstream(deps, input, job) : null;
  await closeCancelled(deps.db, { ...input, upstreamId: job?.upstreamId ?? null, status });
}

/** Returns the status of the job before its cancel; null for a job that was followed to its end. */
async function cancelUpstream(
  deps: Stopping,
  input: JobInput,
  job: JobAtChannel,
): Promise<JobStatus | null> {
  const found = deps.channels.find(job.channel);
  if (!found) throw unknownChannel(job.channel);
  try {
    if (isGone(job)) await followToEnd(deps, input, job, job.upstreamId, found.provider);
    else if (job.upstreamId) return await stopKnownJob(deps, input, job, found.provider);
    else await stopLostJob(deps, input, job, found);
    return null;
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
    throw notTaken('The provider did not take the cancel.');
  }
}

// A provider that is slow to answer does not keep its job from being cancelled. This is far less than
// what makes a cancel slow (../owed/cancel-jobs.ts), so a read without an answer does not make it slow.
const readFirstMs = 1_500;

/**
 * Reads the job once, and cancels it unless it has ended. So the cost of a video that is made already is
 * known: some providers forget an ended job that is cancelled. One that runs cannot be stopped by most
 * providers, so its cost stays unknown. A job that could not be read may run.
 */
async function stopKnownJob(
  { db }: Stopping,
  { taskId, kind }: JobInput,
  { channel, upstreamModel, upstreamId }: JobAtChannel,
  provider: Provider,
): Promise<JobStatus> {
  assert(upstreamId, 'a known job has an id');
  const reading = await inTime(provider.read(upstreamId, taskId), readFirstMs).catch(() => null);
  const report = reading && reportOf({ kind, channel, upstreamModel }, upstreamId, reading);
  if (report?.status === 'succeeded') await storeLate(db, { taskId, kind, report });
  if (!report || !isFinalReport(report)) await provider.cancel(upstreamId, taskId);
  return report?.status ?? 'running';
}

/**
 * Looks for the job of a create whose answer was lost, and follows it to its end: a provider may not
 * stop a job that runs, and a video that was made after all is reported to the operator. Returns if the
 * provider certainly has no such job. Throws an error if that is not certain, or if the job still
 * runs.
 */
async function stopLostJob(
  deps: Stopping,
  input: JobInput,
  job: JobAtChannel,
  { channel, provider }: KnownChannel,
): Promise<void> {
  // The time is read before the list: a list proves nothing of what arrives after it was made.
  const sinceEnd = await sinceEndMs(deps.db, input.taskId);
  const lost = await findLostJob(deps, input, job, { channel, provider });
  if (lost?.found !== 'one') return expectNone(channel, lost, sinceEnd);
  await followToEnd(deps, input, job, lost.upstreamId, provider);
}

/**
 * True if the task was failed because the provider did not know the job: only then is the cancel of a
 * job with a final report wanted. The provider may know the job again.
 */
function isGone(job: JobAtChannel): job is JobAtChannel & { readonly upstreamId: string } {
  return job.upstreamId !== null && endOf(job) !== null;
}

async function followToEnd(
  deps: Stopping,
  input: JobInput,
  job: JobAtChannel,
  upstreamId: string,
  provider: Provider,
): Promise<void> {
  if (await hasEnded(deps, input, job, upstreamId, provider)) return;
  await provider.cancel(upstreamId, input.taskId);
  if (await hasEnded(deps, input, job, upstreamId, provider)) return;
  throw benign('StillRuns', 'The provider does not stop the job, so it is read again.');
}

/**
 * Tells if the job has ended. A video that was made for the failed task is stored with its cost, and
 * counted. A job that is gone counts as ended only after two hours, because its provider may know it
 * again.
 */
async function hasEnded(
  { db, events }: Stopping,
  { taskId, kind }: JobInput,
  job: JobAtChannel,
  upstreamId: string,
  provider: Provider,
): Promise<boolean> {
  const { channel, upstreamModel } = job;
  const reading = await provider.read(upstreamId, taskId).catch((error: unknown) => {
    if (error instanceof UpstreamFault && error.kind === 'not_found') return null;
    throw error;
  });
  if (!reading) return !isGone(job) || (await sinceEndMs(db, taskId)) >= followedForSeconds * 1000;
  const report = reportOf({ kind, channel, upstreamModel }, upstreamId, reading);
  if (!report || !isFinalReport(report)) return false;
  const isMade = report.status === 'succeeded';
  if (isMade && (await storeLate(db, { taskId, kind, report }))) {
    events.lateSuccess(channel, taskId, upstreamId);
  }
  return true;
}

/** Throws unless the provider certainly has no job of this create, and gets none any more. */
function expectNone(channel: Channel, lost: LostJob | null, sinceEnd: number): void {
  // After the end of a task no new create is sent. But a worker may still wait for the answer of an
  // earlier create.
  if (sinceEnd < listedAfterMs(channel)) {
    throw benign('StillOnItsWay', 'The provider may still accept the job; it is looked up again.');
  }
  if (!lost) throw notTaken('Nothing at the provider shows whether it has the lost job.');
  if (lost.found === 'unclear') throw notTaken(`It is unclear which job is meant: ${lost.why}.`);
}

/** Another worker may have a newer catalogue, which contains the channel. */
function unknownChannel(channel: string): ApplicationFailure {
  const message = `The channel ${channel} is not in the catalogue of this worker.`;
  return ApplicationFailure.create({ type: 'UnknownChannel', message });
}

function notTaken(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'CancelNotTaken', message });
}

function benign(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, category: 'BENIGN' });
}
