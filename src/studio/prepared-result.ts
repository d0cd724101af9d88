/*
 * What is told about a job that is not rendered: the size, length and usage a rendering would have
 * had, as far as they are known without looking at any media.
 */

import type { Job, JobResult } from './jobs';
import { pickSeconds, plannedSize } from './plan';

/** Unseen input videos count as four seconds each, within the protocol's fifteen. */
const UNSEEN_VIDEO_SECONDS = 4;
const INPUT_SECONDS_MAX = 15;

export function prepareResult(job: Job): JobResult {
  if (job.kind === 'enhancement') {
    const side = job.order.resolutionLimit ?? 1080;
    return {
      width: Math.round((side * 16) / 9),
      height: side,
      fps: job.order.fps ?? 24,
      durationSeconds: 5,
      inputVideoSeconds: 0,
      hasLastFrame: false,
    };
  }
  const { order } = job;
  const seconds = order.frames === undefined ? pickSeconds(order) : order.frames / 24;
  return {
    ...plannedSize(order),
    fps: 24,
    durationSeconds: seconds,
    inputVideoSeconds: Math.min(order.videos.length * UNSEEN_VIDEO_SECONDS, INPUT_SECONDS_MAX),
    hasLastFrame: order.returnLastFrame,
  };
}
