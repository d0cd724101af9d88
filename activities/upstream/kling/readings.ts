// Translates the object of a task into a `JobReading`.

import type { JobStatus } from '../../../src/domain/job';
import { field, textOf } from '../http-exchange';
import { type JobReading, statusIn } from '../provider';
import { failure } from './faults';

const statuses: Readonly<Record<string, JobStatus>> = {
  submitted: 'queued',
  processing: 'running',
  succeed: 'succeeded',
  failed: 'failed',
};

export function readingOf(task: unknown): JobReading {
  const word = textOf(field(task, 'task_status')) ?? '';
  const status = statusIn(statuses, word);
  if (status === 'succeeded') return { status, word, result: resultOf(task) };
  return status === 'failed' ? { status, word, failure: failure() } : { status, word };
}

function resultOf(task: unknown) {
  const videos = field(field(task, 'task_result'), 'videos');
  const video: unknown = Array.isArray(videos) ? videos[0] : undefined;
  return {
    videoUrl: textOf(field(video, 'url')),
    lastFrameUrl: null,
    expiresAt: null,
    durationSeconds: secondsOf(field(video, 'duration')),
    resolution: null,
    ratio: null,
    seed: null,
    completionTokens: null,
  };
}

/** The length is a text such as "5" or "5.1". */
function secondsOf(value: unknown): number | null {
  const isText = typeof value === 'string' && /^\d{1,4}(\.\d{1,3})?$/.test(value);
  return isText ? Number(value) : null;
}
