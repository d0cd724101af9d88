// What a task's workflow knows of its jobs: which is being placed, where each lies, how far it is
// reported. Reports may repeat, cross or come late; older news changes nothing.

import type { JobKind, JobReport, PlacedJob } from './messages';

/** What a channel has taken. */
export type UpstreamJob = Extract<PlacedJob, { outcome: 'accepted' }>;

export class TaskJobs {
  /** The job that was begun last. */
  current: JobKind | undefined;
  /** Where each was taken, in that order. */
  readonly placed = new Map<JobKind, UpstreamJob>();

  private readonly reports = new Map<JobKind, JobReport>();
  private readonly turns = new Set<JobKind>();

  /** False for news that is no newer than what is known. */
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

  /** True once for each turn the watcher has given. */
  takeTurn(kind: JobKind): boolean {
    return this.turns.delete(kind);
  }

  isOpen(kind: JobKind): boolean {
    return this.placed.has(kind) && !this.finalReport(kind);
  }

  /**
   * The job that may still be running upstream; one that was being placed counts, for it may have
   * arrived.
   */
  unfinished(): JobKind | undefined {
    const kind = this.current;
    return kind && !this.finalReport(kind) ? kind : undefined;
  }
}

const finalRank = 2;

function rank(report: JobReport): number {
  if (report.status === 'queued') return 0;
  return report.status === 'running' ? 1 : finalRank;
}
