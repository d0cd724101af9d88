// The jobs of a task as its workflow knows them: the job being placed, the channel and upstream id
// of each, and its last report. Reports may be repeated or arrive out of order; older ones change
// nothing.

import type { JobKind, JobReport } from '../src/domain/job';

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
  /** Accepted jobs, in the order of acceptance. */
  readonly placed = new Map<JobKind, UpstreamJob>();

  private readonly reports = new Map<JobKind, JobReport>();
  private readonly turns = new Set<JobKind>();

  begin(kind: JobKind): void {
    this.current = kind;
    this.waitsForTurn = false;
  }

  /** Returns the upstream job of this report if it was not known before. */
  locate({ kind, channel, upstreamId }: JobReport): UpstreamJob | undefined {
    if (!channel || this.placed.has(kind)) return undefined;
    const job = { channel, upstreamId };
    this.placed.set(kind, job);
    return job;
  }

  /** False if the report is not newer than the known one. */
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

  /** True once for each turn given by the watcher. */
  takeTurn(kind: JobKind): boolean {
    return this.turns.delete(kind);
  }

  /** True if a channel may be working on the job, as far as the workflow knows. */
  mayBeOpen(kind: JobKind): boolean {
    return this.current === kind && !this.waitsForTurn && !this.finalReport(kind);
  }

  /**
   * The job that may still run upstream. A job that was being placed counts too, because its create
   * may have arrived.
   */
  unfinished(): JobKind | undefined {
    const kind = this.current;
    return kind && !this.finalReport(kind) ? kind : undefined;
  }
}

const finalRank = 2;

function rank(report: JobReport): number {
  if (report.status === 'queued') return 0; // Untested: the watcher does not pass on such reports.
  return report.status === 'running' ? 1 : finalRank;
}
