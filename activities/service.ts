// What the rest of the activities know of an upstream service, whichever protocol it speaks, and
// the one kind of error a service client throws. `kind` decides everything that follows: who is
// told, and what may be tried next.

import type { JobFailure, JobOrder, JobReport, JobResult, JobStatus } from '../workflows/messages';

export interface JobService {
  /** Places a job and answers its upstream id. */
  create(order: JobOrder, upstreamModel: string): Promise<string>;
  read(upstreamId: string): Promise<JobReading>;
  /** Many at once; a job the service does not list is absent from the answer. */
  readMany(upstreamIds: readonly string[]): Promise<ReadonlyMap<string, JobReading>>;
  /**
   * Ids of jobs made since then that could be this order's; null where the service cannot be asked.
   */
  findLost(order: JobOrder, upstreamModel: string, since: Date): Promise<readonly string[] | null>;
  cancel(upstreamId: string): Promise<void>;
}

export interface JobReading {
  /** Null: a word we do not know. It is counted and the job is asked about again. */
  readonly status: JobStatus | null;
  readonly word: string;
  readonly result?: JobResult;
  readonly failure?: JobFailure;
}

export function isFinalReport(report: JobReport): boolean {
  return report.status !== 'queued' && report.status !== 'running';
}

export type FaultKind =
  /** The caller's input was refused: the task ends, no other channel is tried. */
  | 'caller'
  /** Our account or configuration there: another channel may do it, and an operator must look. */
  | 'operator'
  /** Known to have been turned away before anything was accepted. */
  | 'unavailable'
  | 'busy'
  /** It may have been accepted. */
  | 'ambiguous'
  /** Asked about a job the service does not know. */
  | 'not_found';

export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  constructor(
    readonly kind: FaultKind,
    /** The service's own code where it gave one; goes to logs, never to customers. */
    readonly code: string,
    /** Our sentence for the customer; only `caller` faults are ever shown. */
    readonly sentence: string,
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(`${kind}: ${code}`, options);
  }
}
