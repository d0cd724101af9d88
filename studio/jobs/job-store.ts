/*
 * Stores all jobs and advances them. The state of a job depends on its record and on the time.
 * Every protocol call therefore first applies the transitions that are due (`advanceDue`). A timer
 * does the same between these calls. rendering/pool.ts renders the videos.
 */

import TinyQueue from 'tinyqueue';
import type { Log } from '../http';
import { isRendered } from './fault-script';
import type { Job, Outcome } from './job';
import { openJobRecords } from './job-records';
import type { Due, Listeners } from './job-transitions';
import { createTransitions } from './job-transitions';

interface Parts extends Listeners {
  dataDir: string;
  log: Log;
  /** Maximum number of rendered jobs of one kind that run at the same time. Others stay queued. */
  runningMax: number;
}

export type JobStore = ReturnType<typeof createJobStore>;

/**
 * The interval of the timer. With the timer, a job starts and ends on time even without requests.
 * Each check reads only the first entry of the heap, so a short interval costs little.
 */
const ADVANCE_MS = 50;

export function createJobStore(parts: Parts) {
  const records = openJobRecords(parts.dataDir, parts.log);
  const dueJobs = new TinyQueue<Due>([], (a, b) => a.at - b.at);
  const transitions = createTransitions({ ...parts, records, dueJobs });
  const timer = setInterval(advanceDue, ADVANCE_MS).unref();
  let closed = false;

  /**
   * Continues the jobs that were read from the journal. Called exactly once, at the start, after
   * all parts were created.
   */
  function resume(): void {
    for (const job of records.jobs.values()) {
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
    for (let next = dueJobs.peek(); next && next.at <= now; next = dueJobs.peek()) {
      dueJobs.pop();
      const job = records.jobs.get(next.id);
      // If the job changed after this entry was made, the entry is outdated and a newer one exists.
      if (job && transitions.isDue(job, now)) transitions.advance(job, now);
    }
  }

  function accept(job: Job): void {
    records.put(job);
    transitions.schedule(job);
  }

  /** Stores the outcome of a rendering, unless the job has ended or was deleted in the meantime. */
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
    clearInterval(timer);
    records.close();
  }

  const { jobs, acceptances } = records;
  const moves = { resume, advanceDue, accept, rendered, cancel, forget: transitions.forget };
  return { ...moves, jobs, acceptances, close };
}
