// Reads or cancels a single job: at the deadline, for a cancel, and for the reconciler. Regular
// polling is in watch-channel.ts.

import { ApplicationFailure } from '@temporalio/activity';
import { closeCancelled } from '../../src/db/jobs/cancels';
import type { SentJob } from '../../src/db/jobs/queries';
import { findJob, sinceEndMs, wasSent } from '../../src/db/jobs/queries';
import { storeReports } from '../../src/db/jobs/steps';
import { isFinalReport, type JobInput, type JobName, type JobReport } from '../../src/domain/job';
import type { JobDeps } from '../deps';
import type { KnownChannel } from '../upstream/channels';
import { reportOf, UpstreamFault } from '../upstream/provider';
import { findLostJob } from './find-lost-job';
import { settledAfterMs } from './place-job';

export function createFollowActivities(deps: JobDeps) {
  return {
    /** Null if there is nothing new. */
    async readJob(name: JobName): Promise<JobReport | null> {
      const job = await findJob(deps.db, name);
      if (!wasSent(job) || !job.upstreamId) return null;
      if (job.report && isFinalReport(job.report)) return job.report;
      const provider = deps.channels.find(job.channel)?.provider;
      const reading = await provider?.read(job.upstreamId, name.taskId);
      const report = reading && reportOf(job, job.upstreamId, reading);
      if (!report) return null;
      // Stored before the workflow learns of it, so that the row is never behind.
      await storeReports(deps.db, [{ taskId: name.taskId, kind: name.kind, report }]);
      return report;
    },

    /** Cancels a job of an ended task. A cancel that is not accepted throws, and is repeated. */
    async cancelJob(input: JobInput): Promise<void> {
      const job = await findJob(deps.db, input);
      const isUpstream = wasSent(job) && (job.upstreamId || job.sentAt);
      if (isUpstream) await cancelUpstream(deps, input, job);
      await closeCancelled(deps.db, input);
    },
  };
}

/** Asks the provider to cancel a job; one whose create may be lost is looked up first. */
async function cancelUpstream(deps: JobDeps, input: JobInput, job: SentJob): Promise<void> {
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

/** The upstream id of the job, looked up if its create was lost. */
async function upstreamIdsOf(
  deps: JobDeps,
  input: JobInput,
  job: SentJob,
  { channel, provider }: KnownChannel,
): Promise<readonly string[]> {
  if (job.upstreamId) return [job.upstreamId];
  const lost = await findLostJob(deps, input, job, provider);
  if (lost?.found === 'one') return [lost.upstreamId];
  // A worker may still wait for the answer of a create. After the end of the task none is sent any
  // more.
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
    message: 'The job may be accepted yet; it is looked for again.',
    category: 'BENIGN',
  });
}
