/*
 * The types of a job. A job is one accepted order for a generation or an enhancement. The journal
 * stores its record in this form, and a restart needs nothing else. Times are milliseconds since
 * 1970 here and seconds in replies.
 */

import type { Script } from './fault-script';
import type { Resolution } from './models';

export const JOB_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export type ImageRole = 'first_frame' | 'middle_frame' | 'last_frame' | 'reference_image';

export interface GenerationRequest {
  model: string;
  prompt: string;
  images: { url: string; role: ImageRole }[];
  videos: string[];
  audios: string[];
  resolution: Resolution;
  ratio: string;
  /** The length in seconds; -1 means that the studio chooses the length. */
  duration: number;
  seed: number;
  watermark: boolean;
  generateAudio: boolean;
  draft: boolean;
  returnLastFrame: boolean;
  executionExpiresAfter: number;
  safetyIdentifier?: string | undefined;
  priority?: number | undefined;
}

export interface EnhancementRequest {
  videoUrl: string;
  resolution?: string | undefined;
  resolutionLimit?: number | undefined;
  toolVersion: string;
  fps?: number | undefined;
}

export interface JobResult {
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  inputVideoSeconds: number;
}

/** The fields that generations and enhancements have in common. */
export interface JobRecord {
  id: string;
  status: JobStatus;
  createdAt: number;
  updatedAt: number;
  /** The earliest time at which the job may leave the queue. */
  readyAt: number;
  /** The time at which the job expires, even if the job is still in the queue. */
  expiresAt: number;
  startedAt?: number | undefined;
  finishedAt?: number | undefined;
  script: Script;
  clientRequestId?: string | undefined;
  idempotencyKey?: string | undefined;
  /** What the protocol of the job keeps with it, for example the name of the model at its provider. */
  kept?: Readonly<Record<string, string>> | undefined;
  result?: JobResult | undefined;
  failure?: { code: string; message: string } | undefined;
}

export interface GenerationJob extends JobRecord {
  kind: 'generation';
  request: GenerationRequest;
}

export interface EnhancementJob extends JobRecord {
  kind: 'enhancement';
  request: EnhancementRequest;
}

export type Job = GenerationJob | EnhancementJob;
export type JobKind = Job['kind'];

/** The outcome of a rendering: a result or a failure. */
export type Outcome = Pick<Job, 'result' | 'failure'>;

const FINAL: readonly JobStatus[] = ['succeeded', 'failed', 'cancelled', 'expired'];

export function isFinal(job: Job): boolean {
  return FINAL.includes(job.status);
}
