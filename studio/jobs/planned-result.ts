/*
 * Computes the size and length of a video from its request alone. Jobs that are not rendered report
 * these values. A rendering makes a video with this size and length.
 */

import type { GenerationRequest, Job, JobResult } from './job';
import type { Ratio, Size } from './models';
import { adaptiveSize, FPS, findModel } from './models';

/**
 * Jobs that are not rendered do not open their input videos. Each of these videos counts as four
 * seconds.
 */
const UNSEEN_VIDEO_SECONDS = 4;

export function plannedResult(job: Job): JobResult {
  if (job.kind === 'enhancement') {
    const side = job.request.resolutionLimit ?? 1080;
    return {
      width: Math.round((side * 16) / 9),
      height: side,
      fps: job.request.fps ?? FPS,
      // The length of a generated video of five seconds, which has one frame more.
      durationSeconds: 5.042,
      inputVideoSeconds: 0,
    };
  }
  const { request } = job;
  return {
    ...plannedSize(request),
    fps: FPS,
    durationSeconds: plannedSeconds(request),
    inputVideoSeconds: request.videos.length * UNSEEN_VIDEO_SECONDS,
  };
}

export function plannedSize(request: GenerationRequest, firstImage?: Size): Size {
  const sizes = findModel(request.model)!.sizes[request.resolution];
  if (request.ratio !== 'adaptive') return sizes[request.ratio as Ratio];
  return firstImage ? adaptiveSize(sizes, firstImage) : sizes['16:9'];
}

/**
 * Returns the length in seconds. A duration of -1 becomes four to eight seconds, depending on the
 * length of the prompt. Every model can make these lengths.
 */
export function plannedSeconds(request: GenerationRequest): number {
  if (request.duration !== -1) return request.duration;
  const words = request.prompt.split(/\s+/).filter(Boolean).length;
  return Math.min(8, 4 + Math.floor(words / 8));
}
