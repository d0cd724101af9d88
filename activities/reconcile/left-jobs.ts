// Jobs whose task ended without its workflow, or that were stored after its end. Their channels are
// asked to cancel them; then they are closed, so that they take no slot. A cancel that fails, or
// meets a create in progress, is repeated by the next run.

import { closeJob } from '../../src/db/jobs/cancels';
import { type LeftJob, listJobsOfEnded } from '../../src/db/reconcile';
import type { JobInput, JobName } from '../../src/domain/job';
import type { JobDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';

export interface StopDeps extends JobDeps {
  readonly cancelJob: (input: JobInput) => Promise<void>;
  readonly giveUpCancel: (name: JobName) => Promise<void>;
}

// Eight at a time, for at most two of the five minutes of a run, so that a silent provider does not
// hold up the next run.
const atOnce = 8;
const stopForMs = 2 * 60_000;
// A workflow cancels the jobs of its own task; for this long they are left to it.
const ownedSeconds = 15 * 60;
const leftMax = 200;
// Longer than the request and the look-up of a create can take. A provider that refuses to cancel a
// job for this long finishes it.
const givenUpSeconds = 2 * 3_600;

export async function stopLeftJobs(deps: StopDeps): Promise<void> {
  const until = performance.now() + stopForMs;
  const left = await listJobsOfEnded(deps.db, ownedSeconds, leftMax);
  await eachAtOnce(left, atOnce, async (job) => {
    if (performance.now() < until) await stop(deps, job);
  });
}

async function stop(deps: StopDeps, job: LeftJob): Promise<void> {
  const { taskId, kind } = job;
  try {
    await deps.cancelJob(job);
  } catch {
    if (job.endedSeconds < givenUpSeconds) return;
    await deps.giveUpCancel({ taskId, kind });
  }
  await closeJob(deps.db, { taskId, kind });
}
