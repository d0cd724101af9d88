// Cancels jobs that may still run at their provider after the end of their task. The workflow cancels
// most of these jobs at once. Three kinds of jobs are left: jobs of tasks that the workflow did not
// end, jobs that were stored after the end of the task, and jobs whose cancel failed or was requested
// while a create was in progress. It does no harm if a job is cancelled twice.

import { giveUpCancel } from '../../src/jobs/cancels.rows';
import { type LeftJob, listJobsOfEnded } from '../../src/tasks/reconcile.rows';
import type { WorkerDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';
import { cancelJob, followedForSeconds } from '../jobs/read-and-cancel-job';
import { inTrace } from '../task-trace';

// Eight cancels run at the same time. No cancel starts later than two minutes after the first
// cancel, because a run may take five minutes in all.
const atOnce = 8;
const stopForMs = 2 * 60_000;
const leftMax = 200;
// After this many slow cancels a channel gets no more cancels in this run. Otherwise a provider
// that does not answer would delay the cancels of other channels and the next run.
const slowMax = 3;
const slowMs = 5_000;

type Cancelling = Pick<WorkerDeps, 'db' | 'channels' | 'events'>;
type Stopping = Cancelling & Pick<WorkerDeps, 'stopping'>;

export async function stopLeftJobs(deps: Stopping, cancel = cancelJob): Promise<void> {
  const until = performance.now() + stopForMs;
  const left = await listJobsOfEnded(deps.db, leftMax);
  const slow = new Map<string | null, number>();
  await eachAtOnce(left, atOnce, async (job) => {
    const started = performance.now();
    if (deps.stopping.aborted || started > until || (slow.get(job.channel) ?? 0) >= slowMax) return;
    const cancelled = inTrace(job.traceId, () => cancel(deps, job));
    await cancelled.catch(() => giveUpLate(deps, job));
    if (performance.now() - started < slowMs) return;
    slow.set(job.channel, (slow.get(job.channel) ?? 0) + 1);
  });
}

async function giveUpLate({ db, events }: Cancelling, job: LeftJob): Promise<void> {
  // This time is longer than a create and its look-up together. If the provider refuses to cancel a
  // job for this long, the reconciler gives up, and the job runs to its end.
  if (job.endedSeconds < followedForSeconds) return;
  await giveUpCancel(db, job);
  events.cancelGivenUp(job.taskId, job.kind, 'no cancel succeeded within two hours');
}
