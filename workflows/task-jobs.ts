// The jobs of a task as its workflow knows them: the current job, and the channel, upstream id and
// last report of each job. Reports may be repeated or arrive out of order. A report that is not
// newer than the stored report changes nothing.

import type { JobKind, JobReport, PlacementAttempt } from '../src/jobs/job.rules';

/** The channel and upstream id of an accepted job. */
export interface UpstreamJob {
  readonly channel: string;
  readonly upstreamId: string;
}

export class TaskJobs {
  /** The job that was started last. */
  current: JobKind | undefined;
  /** True if the current job waits for a slot. */
  waitsForTurn = false;
  /** The last attempt to place the current job, as far as it was told. */
  attempt: PlacementAttempt | undefined;
  /** Jobs that a channel has accepted, in the order in which the workflow learned of them. */
  readonly placed = new Map<JobKind, UpstreamJob>();

  private readonly reports = new Map<JobKind, JobReport>();
  private readonly turns = new Set<JobKind>();

  begin(kind: JobKind): void {
    this.current = kind;
    this.waitsForTurn = false;
    this.attempt = undefined;
  }

  /** A late message about an earlier attempt, or about another job, changes nothing. */
  tried(attempt: PlacementAttempt): void {
    if (attempt.kind !== this.current) return;
    if (this.attempt && this.attempt.attempt >= attempt.attempt) return;
    this.attempt = attempt;
  }

  /**
   * Stores and returns the upstream job that a report names. Returns undefined if the report names
   * no channel, or if the upstream job was stored before.
   */
  locate({ kind, channel, upstreamId }: JobReport): UpstreamJob | undefined {
    if (!channel || this.placed.has(kind)) return undefined;
    const job = { channel, upstreamId };
    this.placed.set(kind, job);
    return job;
  }

  /**
   * Stores the report and returns true. If the stored report is as new or newer, returns false and
   * stores nothing.
   */
  learn(report: JobReport): boolean {
    const known = this.reports.get(report.kind);
    if (known && rank(known) >= rank(report)) return false;
    this.reports.set(report.kind, report);
    return true;
  }

  finalReport(kind: JobKind): JobReport | undefined {
    const report = this.reports.get(kind);
    return report && rank(report) === finalRank ? report : undefined;
  }

  giveTurn(kind: JobKind): void {
    this.turns.add(kind);
  }

  /**
   * Returns true if the watcher has reserved a slot for the job. Only one call returns true for
   * each reservation.
   */
  takeTurn(kind: JobKind): boolean {
    return this.turns.delete(kind);
  }

  /**
   * Returns the current job if the workflow does not know its end. The job may wait for a slot, be
   * in placement, or run upstream.
   */
  unfinished(): JobKind | undefined {
    const kind = this.current;
    return kind && !this.finalReport(kind) ? kind : undefined;
  }
}

const finalRank = 2;

function rank(report: JobReport): number {
  if (report.status === 'queued') return 0; // Untested: the watcher reports no queued jobs.
  return report.status === 'running' ? 1 : finalRank;
}
