/*
 * All jobs and their clock. A job's state is a function of the time and of what was remembered, so
 * every reader first lets the clock catch up (`settleDue`); a single timer does the same while nobody
 * reads. Rendering itself happens elsewhere: the store says which job may start, and is told how it
 * went.
 */

import { createDueList } from './due-list';
import type { Log } from './http';
import { openJobMemory } from './job-memory';
import type { Job, JobKind, JobResult, JobStatus } from './jobs';
import { forgetAt, isFinal } from './jobs';
import { isRendered } from './script';

interface Parts {
  dataDir: string;
  log: Log;
  /** How many rendered jobs of one kind run at once; the others show as queued. */
  runningMax: number;
  onChange(job: Job): void;
  /** A rendered job has entered `running`, or is found there after a restart. */
  onStart(job: Job): void;
  onEnd(job: Job): void;
  onForget(job: Job): void;
  prepare(job: Job): JobResult;
}

export type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore(parts: Parts) {
  const memory = openJobMemory(parts.dataDir, parts.log);
  const due = createDueList();
  const waiting = new Map<JobKind, Set<Job>>([
    ['generation', new Set()],
    ['enhancement', new Set()],
  ]);
  const running = new Map<JobKind, number>([
    ['generation', 0],
    ['enhancement', 0],
  ]);
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let closed = false;

  /** Called once, when everybody who listens is ready: picks up what was under way. */
  function resume(): void {
    for (const job of memory.all()) {
      if (job.status === 'running' && isRendered(job.script)) {
        count(job.kind, +1);
        parts.onStart(job);
      }
      arm(job);
    }
    settleDue();
  }

  function accept(job: Job): void {
    memory.put(job);
    parts.onChange(job);
    arm(job);
  }

  function settleDue(now = Date.now()): void {
    for (let at = due.nextAt(); at !== undefined && at <= now; at = due.nextAt()) {
      const job = memory.get(due.pop()!.id);
      // An entry whose job has moved on meanwhile is stale: a newer one stands for it.
      if (job && nextAt(job) <= now) step(job, now);
    }
    memory.compact();
    setTimer();
  }

  function step(job: Job, now: number): void {
    for (let at = nextAt(job); at <= now; at = nextAt(job)) {
      if (isFinal(job)) {
        forget(job);
        return;
      }
      if (at === job.expiresAt) end(job, 'expired', at);
      else if (job.status === 'running') finish(job, at);
      else if (isRendered(job.script)) queue(job);
      else change(job, { status: 'running', startedAt: at, updatedAt: at });
    }
    arm(job);
  }

  /** The next moment at which this job moves by itself. */
  function nextAt(job: Job): number {
    if (isFinal(job)) return forgetAt(job);
    if (job.status === 'queued') {
      const isWaiting = waiting.get(job.kind)!.has(job);
      return isWaiting ? job.expiresAt : Math.min(job.readyAt, job.expiresAt);
    }
    const isBusy = isRendered(job.script) && !job.result && !job.failure;
    const runMs = (job.script.run_s ?? 0) * 1000;
    return isBusy ? job.expiresAt : Math.min((job.startedAt ?? 0) + runMs, job.expiresAt);
  }

  function finish(job: Job, at: number): void {
    const status = job.failure ? 'failed' : (job.script.end ?? 'succeeded');
    if (status === 'succeeded' && !job.result) job.result = parts.prepare(job);
    if (status === 'failed') job.failure ??= scriptedFailure(job);
    // A rendering ends when it is done, which may be later than the script's earliest moment.
    end(job, status, isRendered(job.script) ? Math.max(at, job.updatedAt) : at);
  }

  function end(job: Job, status: JobStatus, at: number): void {
    const held = job.status === 'running' && isRendered(job.script);
    waiting.get(job.kind)!.delete(job);
    change(job, {
      status,
      finishedAt: at,
      updatedAt: at,
      result: status === 'succeeded' ? job.result : undefined,
      failure: job.failure,
    });
    if (held) count(job.kind, -1);
    parts.onEnd(job);
    if (held) startWaiting(job.kind);
  }

  function queue(job: Job): void {
    waiting.get(job.kind)!.add(job);
    arm(job);
    startWaiting(job.kind);
  }

  function startWaiting(kind: JobKind): void {
    const line = waiting.get(kind)!;
    while (running.get(kind)! < parts.runningMax && line.size > 0 && !closed) {
      const job = [...line].reduce((first, other) => (isBefore(other, first) ? other : first));
      line.delete(job);
      count(kind, +1);
      const now = Date.now();
      change(job, { status: 'running', startedAt: now, updatedAt: now });
      arm(job);
      parts.onStart(job);
    }
  }

  /** The render room reports; a job that expired or was removed meanwhile takes no notice. */
  function rendered(job: Job, outcome: Pick<Job, 'result' | 'failure'>): void {
    if (closed || memory.get(job.id) !== job || job.status !== 'running') return;
    Object.assign(job, outcome);
    job.updatedAt = Date.now();
    step(job, job.updatedAt);
  }

  function cancel(job: Job): void {
    end(job, 'cancelled', Date.now());
    arm(job);
  }

  function forget(job: Job): void {
    memory.forget(job);
    waiting.get(job.kind)!.delete(job);
    parts.onForget(job);
  }

  function change(job: Job, fields: Partial<Job>): void {
    memory.change(job, fields);
    parts.onChange(job);
  }

  function arm(job: Job): void {
    due.push({ at: nextAt(job), id: job.id });
    setTimer();
  }

  function setTimer(): void {
    const at = due.nextAt();
    if (closed || at === undefined || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    // Node's timers overflow after 24 days; an hour is long enough to be rare.
    const wait = Math.min(Math.max(at - Date.now(), 0), 3_600_000);
    timer = setTimeout(() => {
      timerAt = Number.POSITIVE_INFINITY;
      settleDue();
    }, wait);
    timer.unref();
  }

  function count(kind: JobKind, by: number): void {
    running.set(kind, running.get(kind)! + by);
  }

  return {
    resume,
    accept,
    settleDue,
    rendered,
    cancel,
    forget,
    get: memory.get,
    byIdempotencyKey: memory.byIdempotencyKey,
    newestFirst: memory.newestFirst,
    acceptances: memory.acceptances,
    size: memory.size,
    close(): void {
      closed = true;
      clearTimeout(timer);
      memory.close();
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

function scriptedFailure(job: Job): { code: string; message: string } {
  return {
    code: job.script.code ?? 'InternalServiceError',
    message: job.script.message ?? 'The job failed because its script says so.',
  };
}
