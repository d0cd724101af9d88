/*
 * The transitions of one job: queued, running, ended, deleted. The job's record says which
 * transitions are due. Every transition is written to the journal.
 */

import type TinyQueue from 'tinyqueue';
import { isRendered } from './fault-script';
import type { Job, JobStatus } from './job';
import { isFinal } from './job';
import type { JobRecords } from './job-records';
import { nextMove } from './job-times';
import { plannedResult } from './planned-result';
import { createRenderQueue } from './queue';

export interface Listeners {
  /**
   * Called when a rendered job becomes `running`. After a restart, called for each rendered job
   * that is still `running`.
   */
  onStart(job: Job): void;
  onEnd(job: Job): void;
  onForget(job: Job): void;
}

/** An entry for the time at which a job has its next transition. */
export interface Due {
  at: number;
  id: string;
}

interface Parts extends Listeners {
  records: JobRecords;
  dueJobs: TinyQueue<Due>;
  runningMax: number;
}

export function createTransitions(parts: Parts) {
  const { change } = parts.records;
  const queue = createRenderQueue(parts.runningMax, (job) => {
    run(job, Date.now());
    schedule(job);
    parts.onStart(job);
  });
  const nextAt = (job: Job) => nextMove(job, queue.isWaiting(job));
  const isDue = (job: Job, now: number) => nextAt(job) <= now;
  const schedule = (job: Job) => parts.dueJobs.push({ at: nextAt(job), id: job.id });

  /** Applies every transition of the job that is due at `now`. */
  function advance(job: Job, now: number): void {
    for (let at = nextAt(job); at <= now; at = nextAt(job)) {
      if (isFinal(job)) {
        forget(job);
        return;
      }
      if (at === job.expiresAt) end(job, 'expired', at);
      else if (job.status === 'running') finish(job, at);
      else if (isRendered(job.script)) queue.join(job);
      else run(job, at);
    }
    schedule(job);
  }

  function run(job: Job, at: number): void {
    change(job, { status: 'running', startedAt: at, updatedAt: at });
  }

  function finish(job: Job, at: number): void {
    const status = job.failure ? 'failed' : (job.script.end ?? 'succeeded');
    if (status === 'succeeded') job.result ??= plannedResult(job);
    if (status === 'failed') job.failure ??= scriptedFailure(job);
    // A rendering may take longer than the `run_s` seconds of the script.
    end(job, status, isRendered(job.script) ? Math.max(at, job.updatedAt) : at);
  }

  function end(job: Job, status: JobStatus, at: number): void {
    const result = status === 'succeeded' ? job.result : undefined;
    change(job, { status, finishedAt: at, updatedAt: at, result, failure: job.failure });
    parts.onEnd(job);
    queue.leave(job);
  }

  function forget(job: Job): void {
    parts.records.forget(job);
    queue.leave(job);
    parts.onForget(job);
  }

  return { isDue, advance, schedule, end, forget, rejoin: queue.rejoin, close: queue.close };
}

function scriptedFailure(job: Job): { code: string; message: string } {
  return {
    code: job.script.code ?? 'InternalServiceError',
    message: job.script.message ?? 'The job failed because its script says so.',
  };
}
