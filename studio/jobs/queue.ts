/*
 * The render queue. It limits how many rendered jobs of each kind run at the same time. Further
 * rendered jobs wait here as `queued`, in the order in which they joined.
 */

import type { Job, JobKind } from './job';

export function createRenderQueue(runningMax: number, onTurn: (job: Job) => void) {
  const waiting = { generation: new Set<Job>(), enhancement: new Set<Job>() };
  const running = { generation: new Set<Job>(), enhancement: new Set<Job>() };
  let closed = false;

  function join(job: Job): void {
    waiting[job.kind].add(job);
    admit(job.kind);
  }

  /** After a restart, gives a running job its slot back. */
  function rejoin(job: Job): void {
    running[job.kind].add(job);
  }

  /** Removes a job. If the job had a slot, the next job in the queue gets that slot. */
  function leave(job: Job): void {
    waiting[job.kind].delete(job);
    if (running[job.kind].delete(job)) admit(job.kind);
  }

  function admit(kind: JobKind): void {
    for (const job of waiting[kind]) {
      if (closed || running[kind].size >= runningMax) return;
      waiting[kind].delete(job);
      running[kind].add(job);
      onTurn(job);
    }
  }

  return {
    join,
    rejoin,
    leave,
    isWaiting: (job: Job): boolean => waiting[job.kind].has(job),
    /** After this call no job gets a slot. */
    close(): void {
      closed = true;
    },
  };
}
