/*
 * The nouns of the studio. A job is one accepted order, for a generation or for an enhancement; its
 * record is everything that must survive a restart, and it is written to the journal as it stands
 * here. Times are milliseconds since 1970 inside, seconds on the wire.
 */

import type { Resolution } from './models';
import type { Script } from './script';

export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

export type ImageRole = 'first_frame' | 'middle_frame' | 'last_frame' | 'reference_image';

export interface GenerationOrder {
  model: string;
  prompt: string;
  images: { url: string; role: ImageRole }[];
  videos: string[];
  audios: string[];
  draftTaskId?: string | undefined;
  resolution: Resolution;
  ratio: string;
  /** -1: the studio picks. Absent when the length was given in frames. */
  duration?: number | undefined;
  frames?: number | undefined;
  seed: number;
  watermark: boolean;
  generateAudio: boolean;
  draft: boolean;
  returnLastFrame: boolean;
  serviceTier: 'default' | 'flex';
  executionExpiresAfter: number;
  tools?: { type: string }[] | undefined;
  safetyIdentifier?: string | undefined;
  priority?: number | undefined;
}

export interface EnhancementOrder {
  videoUrl: string;
  resolution?: string | undefined;
  resolutionLimit?: number | undefined;
  scene: string;
  toolVersion: string;
  fps?: number | undefined;
  bitrateLevel: string;
  callbackArgs?: string | undefined;
}

export interface JobResult {
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  inputVideoSeconds: number;
  hasLastFrame: boolean;
}

/** What every job has, whatever it is about. */
export interface JobRecord {
  id: string;
  status: JobStatus;
  createdAt: number;
  updatedAt: number;
  /** When it may leave the queue at the earliest. */
  readyAt: number;
  /** When it is given up, queue time included. */
  expiresAt: number;
  startedAt?: number | undefined;
  finishedAt?: number | undefined;
  script: Script;
  clientRequestId?: string | undefined;
  idempotencyKey?: string | undefined;
  callbackUrl?: string | undefined;
  result?: JobResult | undefined;
  failure?: { code: string; message: string } | undefined;
}

export interface GenerationJob extends JobRecord {
  kind: 'generation';
  order: GenerationOrder;
}

export interface EnhancementJob extends JobRecord {
  kind: 'enhancement';
  order: EnhancementOrder;
}

export type Job = GenerationJob | EnhancementJob;
export type JobKind = Job['kind'];

/** What a rendering ends with: one of the two. */
export type Outcome = Pick<Job, 'result' | 'failure'>;

const FINAL: readonly JobStatus[] = ['succeeded', 'failed', 'cancelled', 'expired'];

export function isFinal(job: Job): boolean {
  return FINAL.includes(job.status);
}
