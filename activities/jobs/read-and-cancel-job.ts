// Reads a single job at the deadline of its task, and cancels single jobs for the workflow and the
// reconciler. Regular polling is in watch-channel.ts.

import { ApplicationFailure } from '@temporalio/activity';
import { closeCancelled } from '../../src/db/jobs/cancels';
import type { SentJob } from '../../src/db/jobs/queries';
import { findJob, sinceEndMs, wasSent } from '../../src/db/jobs/queries';
import { storeReports } from '../../src/db/jobs/steps';
import { isFinalReport, type JobInput, type JobName, type JobReport } from '../../src/domain/job';
import { settledAfterMs } from '../../src/domain/placing';
import type { WorkerDeps } from '../deps';
import type { KnownChannel } from '../upstream/channels';
import { reportOf, UpstreamFault } from '../upstream/provider';
import { findLostJob } from './find-lost-job';

type Asking = Pick<WorkerDeps, 'db' | 'channels'>;

export function createFollowActivities(deps: Asking) {
  return {
    /**
     * Returns the final report if the row contains one. Otherwise reads the job at the provider and
     * returns the new report. Returns null if the job has no upstream id, if the channel is not in
     * the catalogue, or if the provider sent an unknown status.
     */
    async readJob(name: JobName): Promise<JobReport | null> {
      const job = await findJob(deps.db, name);
      if (!wasSent(job) || !job.upstreamId) return null;
      if (job.report && isFinalReport(job.report)) return job.report;
      const provider = deps.channels.find(job.channel)?.provider;
      const reading = await provider?.read(job.upstreamId, name.taskId);
      const report = reading && reportOf(job, job.upstreamId, reading);
      if (!report) return null;
      // The report is stored before the workflow gets it, so that the row is never behind the
      // workflow.
      await storeReports(deps.db, [{ taskId: name.taskId, kind: name.kind, report }]);
      return report;
    },

    cancelJob: (input: JobInput): Promise<void> => cancelJob(deps, input),
  };
}

/**
 * Cancels a job of an ended task at the provider, and then closes the row of the job. If the
 * provider does not accept the cancel, an error is thrown and the activity is repeated.
 */
export async function cancelJob(deps: Asking, input: JobInput): Promise<void> {
  const job = await findJob(deps.db, input);
  const isUpstream = wasSent(job) && (job.upstreamId || job.sentAt);
  if (isUpstream) await cancelUpstream(deps, input, job);
  await closeCancelled(deps.db, input);
}

/**
 * Asks the provider to cancel a job. If the job has no stored upstream id, the job is looked up
 * first.
 */
async function cancelUpstream(deps: Asking, input: JobInput, job: SentJob): Promise<void> {
  const found = deps.channels.find(job.channel);
  if (!found) throw notTaken(`The channel ${job.channel} is not in the catalogue.`);
  try {
    for (const id of await upstreamIdsOf(deps, input, job, found)) {
      await found.provider.cancel(id, input.taskId);
    }
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
    throw notTaken('The provider did not take the cancel.');
  }
}

/**
 * Returns a list with the upstream id of the job. If the answer of the create was lost, the job is
 * looked up. Returns an empty list if the provider certainly has no such job. Throws an error if
 * that is not certain.
 */
async function upstreamIdsOf(
  deps: Asking,
  input: JobInput,
  job: SentJob,
  { channel, provider }: KnownChannel,
): Promise<readonly string[]> {
  if (job.upstreamId) return [job.upstreamId];
  const lost = await findLostJob(deps, input, job, provider);
  if (lost?.found === 'one') return [lost.upstreamId];
  // After the end of a task no new create is sent. But a worker may still wait for the answer of an
  // earlier create.
  const sinceEnd = await sinceEndMs(deps.db, input.taskId);
  if (sinceEnd < settledAfterMs(channel)) throw stillOnItsWay();
  if (!lost) throw notTaken('The provider has no list, so a lost job cannot be found.');
  if (lost.found === 'unclear') throw notTaken(`It is unclear which job is meant: ${lost.why}.`);
  return [];
}

function notTaken(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'CancelNotTaken', message });
}

function stillOnItsWay(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'StillOnItsWay',
    message: 'The provider may still accept the job, so the job is looked up again.',
    category: 'BENIGN',
  });
}
