// A job: one piece of work at a channel. These shapes are shared by storage, activities and
// workflows; they are recorded in histories and rows.

import type { VideoRequest } from '../contract/request';
import type { Plan } from './plan-types';

export type JobKind = 'generation' | 'super_resolution';

/** The state of an upstream job, in our words for every protocol. */
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

export interface JobReport {
  readonly kind: JobKind;
  /** The channel that has the job; absent if no channel accepted it. */
  readonly channel?: string;
  readonly upstreamId: string;
  readonly status: JobStatus;
  readonly result?: JobResult;
  readonly failure?: JobFailure;
}

export interface JobResult {
  readonly videoUrl: string | null;
  readonly lastFrameUrl: string | null;
  /** Unix seconds after which the links have expired. */
  readonly expiresAt: number | null;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly ratio: string | null;
  readonly seed: number | null;
  readonly completionTokens: number | null;
}

/** The reason why a job failed, in our own words: upstream texts are not passed on. */
export interface JobFailure {
  readonly code: string;
  readonly sentence: string;
  /** True if we failed the job ourselves, for example because a lost job cannot be identified. */
  readonly ours?: true;
}

/**
 * The work, its channels and its task: the input of `submitJob`. The caller's request and the video
 * to enhance are read from the database.
 */
export interface JobInput {
  readonly taskId: string;
  readonly accountId: string;
  readonly kind: JobKind;
  readonly plan: Plan;
  /** The trace that the job's requests belong to. */
  readonly traceId: string;
}

/** An order with the caller's request, in the form in which a channel gets it. */
export interface RequestedJob extends JobInput {
  readonly request: VideoRequest;
  /** The video to enhance; null for a generation. */
  readonly videoUrl: string | null;
  /** An input file was removed after the create, so the job must not be sent. */
  readonly inputIsGone?: true;
}

export type PlacedJob =
  /** The job has ended, after any length of time. */
  | { readonly outcome: 'ended'; readonly report: JobReport }
  | { readonly outcome: 'rejected'; readonly report: JobReport }
  /** All its channels are full; a watcher signals `turn` when one has a free slot. */
  | { readonly outcome: 'waiting' };

export interface JobName {
  readonly taskId: string;
  readonly kind: JobKind;
}

export function isFinalReport({ status }: Pick<JobReport, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
