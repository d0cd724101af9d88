/* Builds the replies about a task. Times have no zone; they are those of Beijing, as in China. */

import type { GenerationJob, JobResult, JobStatus } from '../../jobs/job';
import { nearestRatio } from '../../jobs/models';
import type { ResultFiles } from '../../media/result-files';

const WORDS: Record<JobStatus, string> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
  expired: 'FAILED',
};

export const wordOf = ({ status }: GenerationJob): string => WORDS[status];

export function viewTask(job: GenerationJob, files: ResultFiles): object {
  const { result, request, status, script } = job;
  const isDone = status === 'succeeded' && result !== undefined;
  return {
    output: {
      task_id: job.id,
      task_status: wordOf(job),
      submit_time: timeOf(job.createdAt),
      scheduled_time: timeOf(job.startedAt),
      end_time: timeOf(job.finishedAt),
      ...(isDone ? { orig_prompt: request.prompt, ...videoOf(job, files) } : {}),
      ...failureOf(job),
    },
    ...(isDone && script.usage !== false ? { usage: usageOf(job, result) } : {}),
  };
}

/** With a watermark, the models of Kling have a second video, which the studio does not make. */
function videoOf(job: GenerationJob, files: ResultFiles): object {
  const url = files.url(job, 'video.mp4');
  const hasTwo = job.request.watermark && job.kept?.model?.startsWith('kling/');
  return hasTwo ? { video_url: '', watermark_video_url: url } : { video_url: url };
}

/** Models up to Wan 2.5 report other names than the newer ones. */
function usageOf({ request, script, kept }: GenerationJob, result: JobResult): object {
  const seconds = script.reported_s ?? Math.floor(result.durationSeconds);
  const ratio = request.ratio === 'adaptive' ? nearestRatio(result) : request.ratio;
  const SR = Number.parseInt(request.resolution, 10);
  if (/^wanx?2\.[0-5]/.test(kept?.model ?? '')) {
    return { video_duration: seconds, video_ratio: ratio, SR, video_count: 1 };
  }
  return {
    duration: seconds + result.inputVideoSeconds,
    input_video_duration: result.inputVideoSeconds,
    output_video_duration: seconds,
    SR,
    fps: result.fps,
    size: `${result.width}*${result.height}`,
    ratio,
    video_count: 1,
  };
}

function failureOf({ status, failure }: GenerationJob): object {
  if (status === 'expired')
    return { code: 'InternalError.Timeout', message: 'The task timed out.' };
  if (status !== 'failed' || !failure) return {};
  const isOurs = failure.code === 'InternalServiceError';
  return { code: isOurs ? 'InternalError' : failure.code, message: failure.message };
}

const BEIJING_MS = 8 * 3_600_000;

function timeOf(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return new Date(ms + BEIJING_MS).toISOString().replace('T', ' ').replace('Z', '');
}
