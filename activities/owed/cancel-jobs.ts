// Jobs owe `cancel` if they may still run at their provider after the end of their task. The workflow
// cancels most of these jobs at once. Three kinds of jobs are left: jobs of tasks that the workflow did
// not end, jobs that were stored after the end of the task, and jobs whose cancel failed or was
// requested while a create was in progress. It does no harm if a job is cancelled twice.

import { claimCancels, giveUpCancel, type LeftJob } from '../../src/jobs/cancels.rows';
import type { Duty } from '../../src/owed/loop';
import type { WorkerDeps } from '../deps';
import { cancelJob, followedForSeconds } from '../jobs/read-and-cancel-job';
import { inTrace } from '../task-trace';

// After this many slow cancels a channel gets no more cancels for a minute. Otherwise a provider that
// does not answer would delay the cancels of other channels.
const slowMax = 3;
const slowMs = 5_000;
const slowForMs = 60_000;

type Cancelling = Pick<WorkerDeps, 'db' | 'channels' | 'events'>;

export function jobCancels(deps: Cancelling, cancel = cancelJob): Duty<LeftJob> {
  const slow = new Map<string | null, number[]>();
  const isSlow = (channel: string | null): boolean => {
    const lately = (slow.get(channel) ?? []).filter((at) => performance.now() - at < slowForMs);
    slow.set(channel, lately);
    return lately.length >= slowMax;
  };
  return {
    name: 'cancel',
    atOnce: 8,
    idleMs: 5_000,
    claim: claimCancels(deps.db),
    async fulfil(job) {
      if (isSlow(job.channel)) return true;
      const started = performance.now();
      const cancelled = inTrace(job.traceId, () => cancel(deps, job));
      await cancelled.catch(() => giveUpLate(deps, job));
      const now = performance.now();
      if (now - started >= slowMs) slow.get(job.channel)?.push(now);
      return true;
    },
  };
}

async function giveUpLate({ db, events }: Cancelling, job: LeftJob): Promise<void> {
  // This time is longer than a create and its look-up together. If the provider refuses to cancel a
  // job for this long, it is given up, and the job runs to its end.
  if (job.endedSeconds < followedForSeconds) return;
  if (!(await giveUpCancel(db, job))) return;
  events.cancelGivenUp(job.taskId, job.kind, 'no cancel succeeded within two hours');
}
