// What a task's workflow knows of its jobs: which is being placed, where each lies, how far it is
// reported. Reports may repeat, cross or come late; older news changes nothing.

import type { JobKind, JobReport } from './messages';

/** What a channel has taken. */
export interface UpstreamJob {
  readonly channel: string;
  readonly upstreamId: string;
}

export class TaskJobs {
  /** The job that was begun last. */
  current: JobKind | undefined;
  /** Its channel is full. */
  waitsForTurn = false;
  /** Where each was taken, in that order. */
  readonly placed = new Map<JobKind, UpstreamJob>();

  private readonly reports = new Map<JobKind, JobReport>();
  private readonly turns = new Set<JobKind>();

  /** Those of before wait for signals, in the steps that stand in their histories. */
  constructor(readonly isOfBefore: boolean) {}

  begin(kind: JobKind): void {
    this.current = kind;
    this.waitsForTurn = false;
  }

  /** Where the job of this report lies, if it is the first to say so. */
  locate({ kind, channel, upstreamId }: JobReport): UpstreamJob | undefined {
    if (!channel || this.placed.has(kind)) return undefined;
    const job = { channel, upstreamId };
    this.placed.set(kind, job);
    return job;
  }

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

  /** A channel may have it and be at it, as far as is known here. */
  mayBeOpen(kind: JobKind): boolean {
    const isBegun = this.current === kind && !this.waitsForTurn;
    return (this.isOfBefore ? this.placed.has(kind) : isBegun) && !this.finalReport(kind);
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
