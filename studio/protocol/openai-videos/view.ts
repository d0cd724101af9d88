/* Builds the video object that replies show. The object has neither a link nor a usage. */

import type { GenerationJob, JobStatus } from '../../jobs/job';
import { resultsExpireAt } from '../../jobs/job-times';
import { findModel, type Ratio } from '../../jobs/models';

const WORDS: Record<JobStatus, string> = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
};

export function viewVideo(job: GenerationJob): object {
  const { request, status, finishedAt } = job;
  const { width, height } = findModel(request.model)!.sizes[request.resolution][
    request.ratio as Ratio
  ];
  return {
    id: job.id,
    object: 'video',
    model: request.model,
    status: WORDS[status],
    progress: status === 'succeeded' ? 100 : 0,
    created_at: seconds(job.createdAt),
    completed_at: status === 'succeeded' && finishedAt ? seconds(finishedAt) : null,
    expires_at: status === 'succeeded' ? seconds(resultsExpireAt(job)) : null,
    error: WORDS[status] === 'failed' ? errorOf(job) : null,
    prompt: request.prompt,
    remixed_from_video_id: null,
    seconds: String(request.duration),
    size: `${width}x${height}`,
  };
}

function errorOf({ status, failure }: GenerationJob): object {
  if (status === 'failed' && failure) return { code: failure.code, message: failure.message };
  return { code: status, message: `The video is ${status}.` };
}

const seconds = (ms: number) => Math.floor(ms / 1000);
