/*
 * The render queue. A limited number of rendered jobs of one kind run at once; the others wait here
 * as `queued`, ordered by priority.
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

  /** Gives a job its slot back that was running before a restart. */
  function rejoin(job: Job): void {
    running[job.kind].add(job);
  }

  /** A slot that becomes free goes to the next job in the queue. */
  function leave(job: Job): void {
    waiting[job.kind].delete(job);
    if (running[job.kind].delete(job)) admit(job.kind);
  }

  function admit(kind: JobKind): void {
    const queue = waiting[kind];
    while (running[kind].size < runningMax && queue.size > 0 && !closed) {
      const job = [...queue].reduce((first, other) => (isBefore(other, first) ? other : first));
      queue.delete(job);
      running[kind].add(job);
      onTurn(job);
    }
  }

  return {
    join,
    rejoin,
    leave,
    isWaiting: (job: Job): boolean => waiting[job.kind].has(job),
    /** No job gets a slot after this. */
    close(): void {
      closed = true;
    },
  };
}

/** Higher priority first, then older first. */
function isBefore(a: Job, b: Job): boolean {
  const byPriority = priority(b) - priority(a);
  return byPriority < 0 || (byPriority === 0 && a.createdAt < b.createdAt);
}

function priority(job: Job): number {
  return job.kind === 'generation' ? (job.request.priority ?? 0) : 0;
}
