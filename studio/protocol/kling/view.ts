/* Builds the object of a task that replies show. */

import type { GenerationJob, JobStatus } from '../../jobs/job';
import type { ResultFiles } from '../../media/result-files';

const WORDS: Record<JobStatus, string> = {
  queued: 'submitted',
  running: 'processing',
  succeeded: 'succeed',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
};

export function viewTask(job: GenerationJob, files: ResultFiles): object {
  const { status, result, script, kept, failure } = job;
  const seconds = script.reported_s ?? Math.floor(result?.durationSeconds ?? 0);
  const url = files.url(job, 'video.mp4');
  const { watermark } = job.request;
  // The provider makes a second video without the mark at `url`. The studio makes only one.
  const video = { id: `${job.id}-1`, ...(watermark ? { url: '', watermark_url: url } : { url }) };
  const length = script.usage === false ? {} : { duration: String(seconds) };
  return {
    task_id: job.id,
    task_status: WORDS[status],
    ...(WORDS[status] === 'failed' ? { task_status_msg: failure?.message ?? status } : {}),
    watermark_info: { enabled: watermark },
    task_info: kept?.external ? { external_task_id: kept.external } : {},
    created_at: job.createdAt,
    updated_at: job.updatedAt,
    ...(status === 'succeeded'
      ? {
          task_result: { videos: [{ ...video, ...length }] },
          final_unit_deduction: String(seconds / 5),
        }
      : {}),
  };
}
