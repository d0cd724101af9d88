/*
 * The line in front of the render room. So many rendered jobs of one kind run at once; the others
 * wait here, the more important ones first, and show as queued meanwhile.
 */

import type { Job, JobKind } from './jobs';

export function createRenderLine(runningMax: number, onTurn: (job: Job) => void) {
  const waiting = { generation: new Set<Job>(), enhancement: new Set<Job>() };
  const running = { generation: new Set<Job>(), enhancement: new Set<Job>() };
  let closed = false;

  function join(job: Job): void {
    waiting[job.kind].add(job);
    admit(job.kind);
  }

  /** It was running before a restart, and keeps its place. */
  function rejoin(job: Job): void {
    running[job.kind].add(job);
  }

  /** A place that becomes free goes to the next in line. */
  function leave(job: Job): void {
    waiting[job.kind].delete(job);
    if (running[job.kind].delete(job)) admit(job.kind);
  }

  function admit(kind: JobKind): void {
    const line = waiting[kind];
    while (running[kind].size < runningMax && line.size > 0 && !closed) {
      const job = [...line].reduce((first, other) => (isBefore(other, first) ? other : first));
      line.delete(job);
      running[kind].add(job);
      onTurn(job);
    }
  }

  return {
    join,
    rejoin,
    leave,
    isWaiting: (job: Job): boolean => waiting[job.kind].has(job),
    /** From now on nobody gets a turn. */
    close(): void {
      closed = true;
    },
  };
}

/** Higher priority first, then first come, first served. */
function isBefore(a: Job, b: Job): boolean {
  const byPriority = priority(b) - priority(a);
  return byPriority < 0 || (byPriority === 0 && a.createdAt < b.createdAt);
}

function priority(job: Job): number {
  return job.kind === 'generation' ? (job.order.priority ?? 0) : 0;
}
