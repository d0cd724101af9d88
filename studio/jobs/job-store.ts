/*
 * All jobs and the clock that moves them. A job's state follows from its record and the time, so
 * every request first applies the moves that are due (`advanceDue`); a timer does the same between
 * requests. Rendering is done elsewhere.
 */

import type { Log } from '../http';
import { createDueTimer } from './due-timer';
import { isRendered } from './fault-script';
import type { Job, Outcome } from './job';
import { openJobRecords } from './job-records';
import type { Listeners } from './job-transitions';
import { createTransitions } from './job-transitions';

interface Parts extends Listeners {
  dataDir: string;
  log: Log;
  /** Rendered jobs of one kind that run at once; the others stay queued. */
  runningMax: number;
}

export type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore(parts: Parts) {
  const records = openJobRecords(parts.dataDir, parts.log);
  const dueTimer = createDueTimer(advanceDue);
  const transitions = createTransitions({ ...parts, records, dueTimer });
  let closed = false;

  /** Called once at the start, after all parts exist: continues the jobs of the journal. */
  function resume(): void {
    for (const job of records.jobs.all()) {
      if (job.status === 'running' && isRendered(job.script)) {
        transitions.rejoin(job);
        parts.onStart(job);
      }
      transitions.schedule(job);
    }
    advanceDue();
  }

  function advanceDue(): void {
    const now = Date.now();
    for (const id of dueTimer.takeDue(now)) {
      const job = records.jobs.get(id);
      // The entry is stale if the job has moved since; then a newer entry exists.
      if (job && transitions.isDue(job, now)) transitions.advance(job, now);
    }
    records.compact();
    dueTimer.startTimer();
  }

  function accept(job: Job): void {
    records.put(job);
    transitions.schedule(job);
  }

  /** Takes the outcome of a rendering, unless the job has expired or was deleted meanwhile. */
  function rendered(job: Job, outcome: Outcome): void {
    if (closed || records.jobs.get(job.id) !== job || job.status !== 'running') return;
    job.updatedAt = Date.now();
    Object.assign(job, outcome);
    transitions.advance(job, job.updatedAt);
  }

  function cancel(job: Job): void {
    transitions.end(job, 'cancelled', Date.now());
    transitions.schedule(job);
  }

  function close(): void {
    closed = true;
    transitions.close();
    dueTimer.close();
    records.close();
  }

  const { jobs, acceptances } = records;
  const moves = { resume, advanceDue, accept, rendered, cancel, forget: transitions.forget };
  return { ...moves, jobs, acceptances, close };
}
