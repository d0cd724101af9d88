/* Builds the task object that replies show. */

import type { Job } from '../../jobs/job';
import { nearestRatio } from '../../jobs/models';
import type { ResultFiles } from '../../media/result-files';
import { codeOf } from './refusal';
import { WORDS } from './request';

export const taskTypeOf = ({ kind }: Job) =>
  kind === 'generation' ? 'generation' : 'regeneration';
export const modelOf = (job: Job) => (job.kind === 'generation' ? job.request.model : 'MiniMax-H3');

export function viewTask(job: Job, files: ResultFiles): object {
  const { result, script, status } = job;
  const isDone = status === 'succeeded' && result !== undefined;
  const seconds = script.reported_s ?? Math.floor(result?.durationSeconds ?? 0);
  const asked = job.kind === 'generation' ? job.request : undefined;
  return {
    id: job.id,
    model: modelOf(job),
    status,
    created_at: Math.floor(job.createdAt / 1000),
    updated_at: Math.floor(job.updatedAt / 1000),
    ...(isDone ? { content: { url: files.url(job, 'video.mp4') } } : {}),
    ...(status === 'failed' ? { error: errorOf(job) } : {}),
    resolution: asked ? WORDS[asked.resolution] : WORDS['2k'],
    duration: isDone ? seconds : asked?.duration,
    ratio: isDone ? nearestRatio(result) : asked?.ratio,
    task_type: taskTypeOf(job),
    modality: 'video',
    usage: isDone && script.usage !== false ? usageOf(job, seconds) : {},
  };
}

function usageOf(job: Job, outputSeconds: number): object {
  const inputSeconds = Math.ceil(job.result?.inputVideoSeconds ?? 0);
  // The real provider counts tokens by a formula that it does not publish.
  const tokens = job.script.tokens ?? outputSeconds * 52_078;
  return {
    total_seconds: inputSeconds + outputSeconds,
    input_seconds: inputSeconds,
    output_seconds: outputSeconds,
    input_image_count: job.kind === 'generation' ? job.request.images.length : 0,
    total_tokens: tokens,
    prompt_tokens: 0,
    completion_tokens: tokens,
  };
}

function errorOf({ failure }: Job): object {
  return { code: codeOf(failure?.code ?? '') ?? '1000', message: failure?.message ?? '' };
}
