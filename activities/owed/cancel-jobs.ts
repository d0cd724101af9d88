// Jobs owe `cancel` if they may still run at their provider after the end of their task. The workflow
// cancels most of these jobs at once. Three kinds of jobs are left: jobs of tasks that the workflow did
// not end, jobs that were stored after the end of the task, and jobs whose cancel failed or was
// requested while a create was in progress. It does no harm if a job is cancelled twice.

import { setTimeout as pause } from 'node:timers/promises';
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

// A channel has so many cancels at once, so that one that has just fallen silent leaves places for the
// others. The next cancel waits for a second, and then until its lease ends.
const atOnceOfChannel = 3;
const waitsMs = 1_000;

type Cancelling = Pick<WorkerDeps, 'db' | 'channels' | 'events'>;

export function jobCancels(deps: Cancelling, cancel = cancelJob): Duty<LeftJob> {
  const slow = new Map<string | null, number[]>();
  const isSlow = (channel: string | null): boolean => {
    const lately = (slow.get(channel) ?? []).filter((at) => performance.now() - at < slowForMs);
    slow.set(channel, lately);
    return lately.length >= slowMax;
  };
  const running = new Map<string | null, number>();
  const runningAt = (channel: string | null) => running.get(channel) ?? 0;
  const isFull = (channel: string | null) => runningAt(channel) >= atOnceOfChannel;
  return {
    name: 'cancel',
    atOnce: 8,
    idleMs: 5_000,
    claim: claimCancels(deps.db),
    async fulfil(job) {
      const { channel } = job;
      const due = performance.now();
      while (isFull(channel) && !isSlow(channel) && performance.now() - due < waitsMs)
        await pause(20);
      if (isFull(channel) || isSlow(channel)) return true;
      running.set(channel, runningAt(channel) + 1);
      const started = performance.now();
      try {
        const cancelled = inTrace(job.traceId, () => cancel(deps, job));
        await cancelled.catch(() => giveUpLate(deps, job));
      } finally {
        running.set(channel, runningAt(channel) - 1);
      }
      const now = performance.now();
      if (now - started >= slowMs) slow.get(channel)?.push(now);
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
