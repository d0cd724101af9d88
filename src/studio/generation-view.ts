/*
 * A generation as callers are told of it, in replies and in callbacks.
 */

import type { GenerationJob } from './jobs';
import { nearestRatio } from './models';
import type { ResultFiles } from './result-files';
import { countTokens } from './usage';

/** The status words; a script may ask for one that goes back, on every second reading. */
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
    /** Without counting as a reading. */
    peek: (job: GenerationJob) => after(0, job),
  };
}

export function viewGeneration(job: GenerationJob, status: string, files: ResultFiles): object {
  const { order, result } = job;
  const succeeded = job.status === 'succeeded' && result !== undefined;
  return {
    id: job.id,
    model: order.model,
    status,
    error: job.failure && job.status === 'failed' ? job.failure : null,
    created_at: Math.floor(job.createdAt / 1000),
    updated_at: Math.floor(job.updatedAt / 1000),
    ...(succeeded ? { content: links(job, files) } : {}),
    ...(succeeded && job.script.usage !== false ? { usage: usage(job) } : {}),
    seed: order.seed,
    resolution: order.resolution,
    ratio: succeeded && order.ratio === 'adaptive' ? nearestRatio(result) : order.ratio,
    ...length(job),
    framespersecond: 24,
    generate_audio: order.generateAudio,
    draft: order.draft,
    // What was not sent is not told: JSON leaves it out.
    draft_task_id: order.draftTaskId,
    tools: order.tools,
    safety_identifier: order.safetyIdentifier,
    service_tier: order.serviceTier,
    execution_expires_after: order.executionExpiresAfter,
    priority: order.priority,
  };
}

function links(job: GenerationJob, files: ResultFiles): object {
  if (job.script.url === false) return {};
  const hasLastFrame = job.order.returnLastFrame && job.result?.hasLastFrame;
  return {
    video_url: files.url(job, 'video.mp4'),
    ...(hasLastFrame ? { last_frame_url: files.url(job, 'last-frame.png') } : {}),
  };
}

function usage(job: GenerationJob): object {
  const tokens = job.script.tokens ?? tokensOf(job);
  const search = job.order.tools ? { tool_usage: { web_search: 1 } } : {};
  return { completion_tokens: tokens, total_tokens: tokens, ...search };
}

function tokensOf({ order, result }: GenerationJob): number {
  if (!result) return 0;
  return countTokens({
    width: result.width,
    height: result.height,
    outputSeconds: result.durationSeconds,
    inputVideoSeconds: result.inputVideoSeconds,
    hasInputVideo: order.videos.length > 0,
    isDraft: order.draft,
    hasAudio: order.generateAudio,
  });
}

function length({ order, result }: GenerationJob): object {
  if (order.frames !== undefined) return { frames: order.frames };
  return { duration: result ? Math.floor(result.durationSeconds) : order.duration };
}
