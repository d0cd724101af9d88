// The interface of a provider's client, the same for every protocol, and the one error class that
// clients throw. Its `kind` decides what is tried next, and whether the customer or an operator is
// informed.

import type {
  JobFailure,
  JobInput,
  JobKind,
  JobReport,
  JobResult,
  JobStatus,
  RequestedJob,
} from '../../src/domain/job';
import type { JobListing } from '../../src/domain/lost-job';

export interface ProviderAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly honoursIdempotencyKey: boolean;
  readonly hasList: boolean;
  /** Aborted shortly before the process must end. */
  readonly hurry?: AbortSignal | undefined;
}

export interface Provider {
  /** Creates a job and returns its upstream id. */
  create(input: RequestedJob, upstreamModel: string): Promise<string>;
  /** The task id is used in reports of the request only. */
  read(upstreamId: string, taskId?: string): Promise<JobReading>;
  /**
   * Reads many jobs and passes results on as they arrive, so that a slow answer does not delay the
   * others. Jobs that the provider does not list are left out.
   */
  readMany(upstreamIds: readonly string[], take: TakeReadings): Promise<void>;
  /** The longest time until the next readings of this many jobs arrive. */
  readManyMaxMs(count: number): number;
  /** The jobs in this window, compared with this job input. Null if the provider has no list. */
  list(input: JobInput, window: ListWindow): Promise<JobListing | null>;
  cancel(upstreamId: string, taskId?: string): Promise<void>;
}

/** By the clock of the database. */
export interface ListWindow {
  readonly sinceMs: number;
  readonly nowMs: number;
}

export type TakeReadings = (readings: ReadonlyMap<string, JobReading>) => Promise<void>;

export interface JobReading {
  /** Null if the provider's word is unknown. It is counted, and the job is polled again. */
  readonly status: JobStatus | null;
  readonly word: string;
  readonly result?: JobResult;
  readonly failure?: JobFailure;
}

export function reportOf(
  { kind, channel }: { readonly kind: JobKind; readonly channel: string },
  upstreamId: string,
  { status, result, failure }: JobReading,
): JobReport | null {
  if (status === null) return null;
  if (status === 'succeeded' && !result?.videoUrl) {
    const sentence = 'The generator reported success but gave no video.';
    return { kind, channel, upstreamId, status: 'failed', failure: { code: 'no_video', sentence } };
  }
  return {
    kind,
    channel,
    upstreamId,
    status,
    ...(result ? { result } : {}),
    ...(failure ? { failure } : {}),
  };
}

export type FaultKind =
  /** The caller's input was refused: the task ends, and no other channel is tried. */
  | 'caller'
  /**
   * A fault of our account or configuration there: another channel may do the job, and an operator
   * must act.
   */
  | 'operator'
  /** Certainly not accepted. */
  | 'unavailable'
  | 'busy'
  /** Possibly accepted. */
  | 'ambiguous'
  /** The provider does not know the job that was asked for. */
  | 'not_found';

interface FaultOptions extends ErrorOptions {
  readonly param?: string | undefined;
}

export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  /** The name of the field that the provider refused; for logs. */
  readonly param: string | undefined;
  constructor(
    readonly kind: FaultKind,
    /** The provider's own code if it sent one; for logs, never for customers. */
    readonly code: string,
    /** Our sentence for the customer; shown for `caller` faults only. */
    readonly sentence: string,
    readonly retryAfterMs: number | null = null,
    options?: FaultOptions,
  ) {
    super(`${kind}: ${code}`, options);
    this.param = options?.param;
  }
}
