/*
 * How one job moves: from the queue into running, to its end, out of memory. What it may do at
 * which moment follows from its record; every move is remembered and told.
 */

import type { createAlarm } from './alarm';
import type { JobMemory } from './job-memory';
import { nextMove } from './job-times';
import type { Job, JobStatus } from './jobs';
import { isFinal } from './jobs';
import { prepareResult } from './prepared-result';
import { createRenderLine } from './render-line';
import { isRendered } from './script';

export interface Listeners {
  onChange(job: Job): void;
  /** A rendered job has entered `running`, or is found there after a restart. */
  onStart(job: Job): void;
  onEnd(job: Job): void;
  onForget(job: Job): void;
}

interface Parts extends Listeners {
  memory: JobMemory;
  alarm: ReturnType<typeof createAlarm>;
  runningMax: number;
}

export function createJobLife(parts: Parts) {
  const line = createRenderLine(parts.runningMax, (job) => {
    run(job, Date.now());
    arm(job);
    parts.onStart(job);
  });
  const nextAt = (job: Job) => nextMove(job, line.isWaiting(job));
  const isDue = (job: Job, now: number) => nextAt(job) <= now;
  const arm = (job: Job) => parts.alarm.set(nextAt(job), job.id);

  /** Makes every move that is due by now. */
  function advance(job: Job, now: number): void {
    for (let at = nextAt(job); at <= now; at = nextAt(job)) {
      if (isFinal(job)) {
        forget(job);
        return;
      }
      if (at === job.expiresAt) end(job, 'expired', at);
      else if (job.status === 'running') finish(job, at);
      else if (isRendered(job.script)) line.join(job);
      else run(job, at);
    }
    arm(job);
  }

  function run(job: Job, at: number): void {
    change(job, { status: 'running', startedAt: at, updatedAt: at });
  }

  function finish(job: Job, at: number): void {
    const status = job.failure ? 'failed' : (job.script.end ?? 'succeeded');
    if (status === 'succeeded') job.result ??= prepareResult(job);
    if (status === 'failed') job.failure ??= scriptedFailure(job);
    // A rendering ends when it is done, which may be later than the script's earliest moment.
    end(job, status, isRendered(job.script) ? Math.max(at, job.updatedAt) : at);
  }

  function end(job: Job, status: JobStatus, at: number): void {
    const result = status === 'succeeded' ? job.result : undefined;
    change(job, { status, finishedAt: at, updatedAt: at, result, failure: job.failure });
    parts.onEnd(job);
    line.leave(job);
  }

  function forget(job: Job): void {
    parts.memory.forget(job);
    line.leave(job);
    parts.onForget(job);
  }

  function change(job: Job, fields: Partial<Job>): void {
    parts.memory.change(job, fields);
    parts.onChange(job);
  }

  return { isDue, advance, arm, end, forget, rejoin: line.rejoin, close: line.close };
}

function scriptedFailure(job: Job): { code: string; message: string } {
  return {
    code: job.script.code ?? 'InternalServiceError',
    message: job.script.message ?? 'The job failed because its script says so.',
  };
}
