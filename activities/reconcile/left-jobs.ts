// Jobs that outlive their task. The transaction that ends a task marks them, and its workflow cancels
// them at once. Here the rest is cancelled: jobs of tasks that ended without their workflow, jobs that
// were stored after the end, and jobs whose cancel failed or met a create in progress. A job that is
// cancelled twice does no harm.

import { giveUpCancel } from '../../src/db/jobs/cancels';
import { type LeftJob, listJobsOfEnded } from '../../src/db/reconcile';
import type { JobInput } from '../../src/domain/job';
import type { JobDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';

export interface StopDeps extends JobDeps {
  readonly cancelJob: (input: JobInput) => Promise<void>;
}

// Eight at a time, for at most two of the five minutes of a run, so that a silent provider does not
// hold up the next run.
const atOnce = 8;
const stopForMs = 2 * 60_000;
const leftMax = 200;
// Longer than the request and the look-up of a create can take. A provider that refuses to cancel a
// job for this long finishes it.
const givenUpSeconds = 2 * 3_600;

export async function stopLeftJobs(deps: StopDeps): Promise<void> {
  const until = performance.now() + stopForMs;
  const left = await listJobsOfEnded(deps.db, leftMax);
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
    await giveUpCancel(deps.db, { taskId, kind });
    deps.events.cancelGivenUp(taskId, kind, 'no cancel succeeded in the time for it');
  }
}
