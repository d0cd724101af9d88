/*
 * The size and length of a video as far as they follow from the order alone. They are reported for
 * jobs that are not rendered, and rendering starts from them.
 */

import type { GenerationRequest, Job, JobResult } from './job';
import type { Ratio, Size } from './models';
import { adaptiveSize, findModel, tableSize } from './models';

/** Input videos that were not opened count as four seconds each, fifteen at most. */
const UNSEEN_VIDEO_SECONDS = 4;
const INPUT_SECONDS_MAX = 15;

export function plannedResult(job: Job): JobResult {
  if (job.kind === 'enhancement') {
    const side = job.request.resolutionLimit ?? 1080;
    return {
      width: Math.round((side * 16) / 9),
      height: side,
      fps: job.request.fps ?? 24,
      durationSeconds: 5,
      inputVideoSeconds: 0,
    };
  }
  const { request } = job;
  return {
    ...plannedSize(request),
    fps: 24,
    durationSeconds: plannedSeconds(request),
    inputVideoSeconds: Math.min(request.videos.length * UNSEEN_VIDEO_SECONDS, INPUT_SECONDS_MAX),
  };
}

export function plannedSize(request: GenerationRequest, firstImage?: Size): Size {
  const model = findModel(request.model)!;
  if (request.ratio !== 'adaptive') {
    return tableSize(model, request.resolution, request.ratio as Ratio);
  }
  if (firstImage) return adaptiveSize(model, request.resolution, firstImage);
  return tableSize(model, request.resolution, '16:9');
}

/**
 * A duration of -1 becomes four to eight seconds, more for a longer prompt; every model can make
 * these.
 */
export function plannedSeconds(request: Pick<GenerationRequest, 'duration' | 'prompt'>): number {
  if (request.duration !== -1) return request.duration;
  const words = request.prompt.split(/\s+/).filter(Boolean).length;
  return Math.min(8, 4 + Math.floor(words / 8));
}
