// Defines the interface of a provider's client, which is the same for every protocol. Also defines
// the only error class that clients throw. The `kind` of an error decides what is tried next, and
// whether the customer or an operator is informed.

import type { FaultKind } from '../../src/jobs/create-answer.rules';
import type {
  JobFailure,
  JobInput,
  JobKind,
  JobReport,
  JobResult,
  JobStatus,
  RequestedJob,
} from '../../src/jobs/job.rules';
import type { JobListing } from '../../src/jobs/lost-job.rules';

export interface ProviderAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly honoursIdempotencyKey: boolean;
  readonly hasList: boolean;
  /** The dialect that the channel names. */
  readonly profile?: string | null;
  /** Aborted shortly before the process must end. */
  readonly hurry?: AbortSignal | undefined;
}

export interface Provider {
  /**
   * True if the provider recognises a repeated create of the same task, so that a repetition makes
   * no second job.
   */
  readonly repeatsAreSafe: boolean;
  /** The number of jobs that the watcher passes to `readMany` at once. */
  readonly idsPerRead: number;
  /** The number of jobs that one request of `readMany` reads. */
  readonly idsPerRequest: number;
  /** The number of `readMany` calls that may run at once. */
  readonly readsAtOnce: number;
  /** The name of the model for an enhancement; null if the provider enhances no videos. */
  readonly enhancementModel: string | null;
  /**
   * Creates a job and returns its upstream id. If the connection is made after `sendBy`, a time of
   * the monotonic clock, nothing is sent.
   */
  create(input: RequestedJob, upstreamModel: string, sendBy?: number): Promise<string>;
  /** The task id is used only to report the request to logs and metrics. */
  read(upstreamId: string, taskId?: string): Promise<JobReading>;
  /**
   * Reads many jobs and passes readings to `take` as they arrive, so that a slow answer does not
   * delay the others. Jobs that the provider does not list are left out.
   */
  readMany(upstreamIds: readonly string[], take: TakeReadings): Promise<void>;
  /** Returns the longest possible time without a call of `take` while this many jobs are read. */
  readManyMaxMs(count: number): number;
  /**
   * Lists the jobs in this time window. Marks each listed job that differs from this job input, and
   * if the list shows names of ours, which job is ours. Returns null if the provider has no list, or
   * a list that can show neither that a job is ours nor that there is none.
   */
  list(input: JobInput, window: ListWindow): Promise<JobListing | null>;
  cancel(upstreamId: string, taskId?: string): Promise<void>;
  /**
   * Returns the headers with which a result is read, if its address is one of the provider's own;
   * null for all other addresses. The headers contain the key, so they are never sent after a
   * redirect. Absent if the provider's results need no key.
   */
  readonly resultHeaders?: (url: string) => Readonly<Record<string, string>> | null;
}

/** Both times are read from the clock of the database. */
export interface ListWindow {
  readonly sinceMs: number;
  readonly nowMs: number;
}

export type TakeReadings = (readings: ReadonlyMap<string, JobReading>) => Promise<void>;

export interface JobReading {
  /**
   * Null if the provider sent a status that we do not know. Such a status is counted, and the job
   * is polled again.
   */
  readonly status: JobStatus | null;
  readonly word: string;
  readonly result?: JobResult;
  readonly failure?: JobFailure;
}

interface ReportedJob {
  readonly kind: JobKind;
  readonly channel: string;
  readonly upstreamModel: string;
}

/**
 * Translates a reading into a report. Returns null if the provider sent a status that we do not
 * know. A success without a video counts as a failure.
 */
export function reportOf(
  { kind, channel, upstreamModel }: ReportedJob,
  upstreamId: string,
  { status, result, failure }: JobReading,
): JobReport | null {
  if (status === null) return null;
  const job = { kind, channel, upstreamModel, upstreamId };
  if (status === 'succeeded' && !result?.videoUrl) {
    const sentence = 'The generator reported success but gave no video.';
    return { ...job, status: 'failed', failure: { code: 'no_video', sentence } };
  }
  return {
    ...job,
    status,
    ...(result ? { result } : {}),
    ...(failure ? { failure } : {}),
  };
}

interface FaultOptions extends ErrorOptions {
  readonly param?: string | undefined;
}

export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  /** The name of the field that the provider refused; for logs. */
  readonly param: string | undefined;
  constructor(
    readonly kind: FaultKind,
    /** For logs only: the provider's error code, or our own code if the provider sent none. */
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
