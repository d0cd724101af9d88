// Translates the answer about a task into a `JobReading`. Times in this answer have no zone, so the
// expiry of the link is read from the link itself.

import { addressOf, field, numberOf, textOf } from '../http-exchange';
import { readingIn, type Statuses } from '../job-readings';
import type { JobReading } from '../provider';
import { failureOf } from './faults';

const statuses: Statuses = {
  PENDING: 'queued',
  SUSPENDED: 'queued',
  RUNNING: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'cancelled',
};

/** The word for a task that does not exist, or that is older than a day. */
export const unknownTask = 'UNKNOWN';

export function readingOf(json: unknown): JobReading {
  const output = field(json, 'output');
  const word = textOf(field(output, 'task_status')) ?? '';
  return readingIn(
    statuses,
    word,
    () => resultOf(output, json),
    (status) => failureOf(status, output),
  );
}

function resultOf(output: unknown, json: unknown) {
  const usage = field(json, 'usage');
  // The models of Kling make two videos if a watermark was asked for.
  const marked = addressOf(field(output, 'watermark_video_url'));
  const videoUrl = marked ?? addressOf(field(output, 'video_url'));
  const figure = (name: string) => numberOf(field(usage, name));
  return {
    videoUrl,
    lastFrameUrl: null,
    expiresAt: expiryOf(videoUrl),
    // `duration` includes the seconds of the reference videos, so it comes last.
    durationSeconds:
      figure('output_video_duration') ?? figure('video_duration') ?? figure('duration'),
    inputSeconds: figure('input_video_duration'),
    resolution: tierOf(figure('SR')),
    ratio: ratioOf(field(usage, 'ratio')),
    seed: null,
    seedIsSent: true as const,
    completionTokens: null,
  };
}

function expiryOf(url: string | null): number | null {
  const seconds = /[?&]Expires=(\d{10})(?:&|$)/.exec(url ?? '')?.[1];
  return seconds === undefined ? null : Number(seconds);
}

function tierOf(lines: number | null): string | null {
  return lines === null ? null : `${lines}p`;
}

function ratioOf(value: unknown): string | null {
  const ratio = textOf(value);
  return ratio !== null && /^\d{1,2}:\d{1,2}$/.test(ratio) ? ratio : null;
}
