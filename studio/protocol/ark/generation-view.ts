/* Builds the object that replies show for a generation. */

import type { GenerationJob, JobResult } from '../../jobs/job';
import { FPS, nearestRatio } from '../../jobs/models';
import type { ResultFiles } from '../../media/result-files';
import { countTokens } from './count-tokens';

export function viewGeneration(job: GenerationJob, files: ResultFiles): object {
  const { request, result, script } = job;
  const succeeded = job.status === 'succeeded' && result !== undefined;
  return {
    id: job.id,
    model: request.model,
    status: job.status,
    error: job.failure && job.status === 'failed' ? job.failure : null,
    created_at: Math.floor(job.createdAt / 1000),
    updated_at: Math.floor(job.updatedAt / 1000),
    ...(succeeded ? { content: links(job, files) } : {}),
    ...(succeeded && script.usage !== false ? { usage: usage(job, result) } : {}),
    seed: request.seed,
    resolution: request.resolution,
    ratio: succeeded && request.ratio === 'adaptive' ? nearestRatio(result) : request.ratio,
    duration: result ? (script.reported_s ?? Math.floor(result.durationSeconds)) : request.duration,
    framespersecond: FPS,
    generate_audio: request.generateAudio,
    draft: request.draft,
    service_tier: 'default',
    execution_expires_after: request.executionExpiresAfter,
    // JSON omits undefined fields, so the reply has these two fields only if the caller sent them.
    safety_identifier: request.safetyIdentifier,
    priority: request.priority,
  };
}

function links(job: GenerationJob, files: ResultFiles): object {
  return {
    video_url: files.url(job, 'video.mp4'),
    ...(job.request.returnLastFrame ? { last_frame_url: files.url(job, 'last-frame.png') } : {}),
  };
}

function usage({ request, script }: GenerationJob, result: JobResult): object {
  const counted = countTokens({
    width: result.width,
    height: result.height,
    outputSeconds: result.durationSeconds,
    inputVideoSeconds: result.inputVideoSeconds,
    hasInputVideo: request.videos.length > 0,
    isDraft: request.draft,
    hasAudio: request.generateAudio,
  });
  const tokens = script.tokens ?? counted;
  return { completion_tokens: tokens, total_tokens: tokens };
}
