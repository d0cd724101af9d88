/*
 * All jobs and their clock. A job's state is a function of the time and of what was remembered, so
 * every reader first lets the clock catch up (`settleDue`); a single timer does the same while
 * nobody reads. Rendering itself happens elsewhere: the store says which job may start, and is told
 * how it went.
 */

import { createAlarm } from './alarm';
import type { Log } from './http';
import type { Listeners } from './job-life';
import { createJobLife } from './job-life';
import { openJobMemory } from './job-memory';
import type { Job, Outcome } from './jobs';
import { isRendered } from './script';

interface Parts extends Listeners {
  dataDir: string;
  log: Log;
  /** How many rendered jobs of one kind run at once; the others show as queued. */
  runningMax: number;
}

export type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore(parts: Parts) {
  const memory = openJobMemory(parts.dataDir, parts.log);
  const alarm = createAlarm(settleDue);
  const life = createJobLife({ ...parts, memory, alarm });
  let closed = false;

  /** Called once, when everybody who listens is ready: picks up what was under way. */
  function resume(): void {
    for (const job of memory.jobs.all()) {
      if (job.status === 'running' && isRendered(job.script)) {
        life.rejoin(job);
        parts.onStart(job);
      }
      life.arm(job);
    }
    settleDue();
  }

  function settleDue(): void {
    const now = Date.now();
    for (const id of alarm.takeDue(now)) {
      const job = memory.jobs.get(id);
      // A moment whose job has moved on meanwhile is stale: a newer one stands for it.
      if (job && life.isDue(job, now)) life.advance(job, now);
    }
    memory.compact();
    alarm.wind();
  }

  function accept(job: Job): void {
    memory.put(job);
    parts.onChange(job);
    life.arm(job);
  }

  /** The render room reports; a job that expired or was removed meanwhile takes no notice. */
  function rendered(job: Job, outcome: Outcome): void {
    if (closed || memory.jobs.get(job.id) !== job || job.status !== 'running') return;
    job.updatedAt = Date.now();
    Object.assign(job, outcome);
    life.advance(job, job.updatedAt);
  }

  function cancel(job: Job): void {
    life.end(job, 'cancelled', Date.now());
    life.arm(job);
  }

  function close(): void {
    closed = true;
    life.close();
    alarm.close();
    memory.close();
  }

  const { jobs, acceptances } = memory;
  const moves = { resume, settleDue, accept, rendered, cancel, forget: life.forget };
  return { ...moves, jobs, acceptances, close };
}
