// A job: one piece of work at a channel. Storage, activities and workflows share these types.
// Workflow histories and database rows contain values of these types.

import type { VideoRequest } from '../contract/request';
import type { RemovedBecause } from '../files/results.rules';
import type { Plan } from '../planning/plan-types.rules';

export type JobKind = 'generation' | 'super_resolution';

/** The last job of the plan: it makes the video of the task. */
export const lastJobOf = ({ enhancement }: Pick<Plan, 'enhancement'>): JobKind =>
  enhancement ? 'super_resolution' : 'generation';

/**
 * The state of a job here: planned → sending → open → reported → closed. If a channel is full and no
 * other takes the job, it is `waiting` before it is `sending`. `sending` is stored before the create is
 * sent.
 */
export type JobState = 'planned' | 'waiting' | 'sending' | 'open' | 'reported' | 'closed';

/** The state of a job at its provider, with the same names for every protocol. */
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

export interface JobReport {
  readonly kind: JobKind;
  /** The channel that has the job; absent if no channel accepted it. */
  readonly channel?: string;
  /** The name of the model at the channel. A plan may name a channel twice, with two models. */
  readonly upstreamModel?: string;
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
  /** The length of the reference videos that the provider counted; absent if it reports none. */
  readonly inputSeconds?: number | null;
  readonly resolution: string | null;
  readonly ratio: string | null;
  readonly seed: number | null;
  /** Set if a create of the protocol has the seed of the plan. A task then shows that one if none is reported. */
  readonly seedIsSent?: true;
  readonly completionTokens: number | null;
}

/** The reason why a job failed, in our own words. The provider's texts are not passed on. */
export interface JobFailure {
  readonly code: string;
  readonly sentence: string;
  /**
   * True if the service failed the job itself, for example because a lost job cannot be identified.
   */
  readonly ours?: true;
  /** True if the provider's code may stand for a file that it could not fetch. */
  readonly mayBeMedia?: true;
}

/** The reason why an attempt to place a job failed, in our own words. */
export type PlacementTrouble = 'no clear answer' | 'unavailable' | 'busy' | 'account' | 'fault';

/** One attempt to place a job. `trouble` is null if a channel accepted the job. */
export interface PlacementAttempt {
  readonly kind: JobKind;
  readonly attempt: number;
  readonly trouble: PlacementTrouble | null;
}

/**
 * The input of `runJob`. The caller's request and the video to enhance are not part of it; the
 * activity reads them from the database.
 */
export interface JobInput {
  readonly taskId: string;
  readonly accountId: string;
  readonly kind: JobKind;
  readonly plan: Plan;
  /** The trace to which the job's requests belong. */
  readonly traceId: string;
}

/** A job together with the caller's request, as a channel gets it. */
export interface RequestedJob extends JobInput {
  readonly request: VideoRequest;
  /** The time of the task's create. */
  readonly createdAt: Date;
  /** The video to enhance; null for a generation. */
  readonly videoUrl: string | null;
  /** The time from the create to the deadline of the task; absent before the create. */
  readonly secondsLeft?: number;
  /** The files whose bytes are sent inside the create. */
  readonly inlineFiles?: readonly InlineFile[];
  /** Set if an input file was removed after the create. The job must not be sent then. */
  readonly inputIsGone?: RemovedBecause;
}

/** A file that is sent inside a create. In the request, the mark stands for its bytes in base64. */
export interface InlineFile {
  /** A random text, so no caller can write it. */
  readonly mark: string;
  readonly bytes: number;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

export type PlacedJob =
  /**
   * `ended`: the job has ended at its provider. The activity `runJob` stays open until then.
   * `rejected`: the provider refused the create, or it stays unknown whether the create arrived.
   * The task then fails.
   */
  | { readonly outcome: 'ended'; readonly report: JobReport }
  | { readonly outcome: 'rejected'; readonly report: JobReport }
  /**
   * No channel of the job takes it, and one is full. A watcher signals `turn` when one of them has a free
   * slot.
   */
  | { readonly outcome: 'waiting' };

export interface JobName {
  readonly taskId: string;
  readonly kind: JobKind;
}

/** The failure of a job whose report or refusal cannot be stored. */
export const unreadable: JobFailure = {
  code: 'unreadable_report',
  sentence: 'The answer of the generator could not be stored.',
  ours: true,
};

/** Replaces a report that cannot be stored, so that its task ends. */
export function unreadableReport(report: JobReport): JobReport {
  const { kind, channel, upstreamModel, upstreamId } = report;
  return {
    kind,
    ...(channel === undefined ? {} : { channel }),
    ...(upstreamModel === undefined ? {} : { upstreamModel }),
    upstreamId,
    status: 'failed',
    failure: unreadable,
  };
}

export function isFinalReport({ status }: Pick<JobReport, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
