// Translates the object of a task into a `JobReading`.

import { addressOf, field, textOf, textSecondsOf } from '../http-exchange';
import { readingIn, type Statuses } from '../job-readings';
import type { JobReading } from '../provider';
import { failure } from './faults';

const statuses: Statuses = {
  submitted: 'queued',
  processing: 'running',
  succeed: 'succeeded',
  failed: 'failed',
};

export function readingOf(task: unknown): JobReading {
  const word = textOf(field(task, 'task_status')) ?? '';
  return readingIn(statuses, word, () => resultOf(task), failure);
}

function resultOf(task: unknown) {
  const videos = field(field(task, 'task_result'), 'videos');
  const video: unknown = Array.isArray(videos) ? videos[0] : undefined;
  // A job with a watermark makes two videos: `url` is the one without the mark.
  const isMarked = field(field(task, 'watermark_info'), 'enabled') === true;
  const marked = isMarked ? addressOf(field(video, 'watermark_url')) : null;
  return {
    videoUrl: marked ?? addressOf(field(video, 'url')),
    lastFrameUrl: null,
    expiresAt: null,
    durationSeconds: textSecondsOf(field(video, 'duration')),
    resolution: null,
    ratio: null,
    seed: null,
    completionTokens: null,
  };
}
