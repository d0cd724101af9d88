/* A generation as replies show it. */

import type { GenerationJob } from '../jobs/job';
import { nearestRatio } from '../jobs/models';
import type { ResultFiles } from '../media/result-files';
import { countTokens } from './count-tokens';

/** The status of a job; a script may ask that every second reading says `queued`. */
export function createStatusWords() {
  const readings = new WeakMap<GenerationJob, number>();

  function after(more: 0 | 1, job: GenerationJob): string {
    if (!job.script.backwards || job.status !== 'running') return job.status;
    const count = (readings.get(job) ?? 0) + more;
    readings.set(job, count);
    return count % 2 === 0 ? 'queued' : 'running';
  }

  return {
    read: (job: GenerationJob) => after(1, job),
    /** Does not count as a reading. */
    peek: (job: GenerationJob) => after(0, job),
  };
}

export function viewGeneration(job: GenerationJob, status: string, files: ResultFiles): object {
  const { request, result } = job;
  const succeeded = job.status === 'succeeded' && result !== undefined;
  return {
    id: job.id,
    model: request.model,
    status,
    error: job.failure && job.status === 'failed' ? job.failure : null,
    created_at: Math.floor(job.createdAt / 1000),
    updated_at: Math.floor(job.updatedAt / 1000),
    ...(succeeded ? { content: links(job, files) } : {}),
    ...(succeeded && job.script.usage !== false ? { usage: usage(job) } : {}),
    seed: request.seed,
    resolution: request.resolution,
    ratio: succeeded && request.ratio === 'adaptive' ? nearestRatio(result) : request.ratio,
    duration: result ? Math.floor(result.durationSeconds) : request.duration,
    framespersecond: 24,
    generate_audio: request.generateAudio,
    draft: request.draft,
    // JSON leaves undefined fields out, so these appear only if they were sent.
    tools: request.tools,
    safety_identifier: request.safetyIdentifier,
    service_tier: 'default',
    execution_expires_after: request.executionExpiresAfter,
    priority: request.priority,
  };
}

function links(job: GenerationJob, files: ResultFiles): object {
  if (job.script.url === false) return {};
  const hasLastFrame = job.request.returnLastFrame && job.result?.hasLastFrame;
  return {
    video_url: files.url(job, 'video.mp4'),
    ...(hasLastFrame ? { last_frame_url: files.url(job, 'last-frame.png') } : {}),
  };
}

function usage(job: GenerationJob): object {
  const tokens = job.script.tokens ?? tokensOf(job);
  const search = job.request.tools ? { tool_usage: { web_search: 1 } } : {};
  return { completion_tokens: tokens, total_tokens: tokens, ...search };
}

function tokensOf({ request, result }: GenerationJob): number {
  if (!result) return 0;
  return countTokens({
    width: result.width,
    height: result.height,
    outputSeconds: result.durationSeconds,
    inputVideoSeconds: result.inputVideoSeconds,
    hasInputVideo: request.videos.length > 0,
    isDraft: request.draft,
    hasAudio: request.generateAudio,
  });
}
