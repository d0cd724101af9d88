// Translates Ark's answer about one job into a `JobReading`.

import { addressOf, field, numberOf, textOf, unixSecondsOf } from '../http-exchange';
import { readingIn, type Statuses } from '../job-readings';
import type { JobReading } from '../provider';
import { failureOf } from './faults';

const statuses: Statuses = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
};

export function readingOf(item: unknown): JobReading {
  const word = textOf(field(item, 'status')) ?? '';
  return readingIn(
    statuses,
    word,
    () => resultOf(item),
    (status) => failureOf(status, field(item, 'error')),
  );
}

function resultOf(item: unknown) {
  const content = field(item, 'content');
  const finishedAt = unixSecondsOf(field(item, 'updated_at'));
  return {
    videoUrl: addressOf(field(content, 'video_url')),
    lastFrameUrl: addressOf(field(content, 'last_frame_url')),
    expiresAt: finishedAt === null ? null : finishedAt + linkLifeSeconds,
    durationSeconds: numberOf(field(item, 'duration')),
    resolution: textOf(field(item, 'resolution')),
    ratio: textOf(field(item, 'ratio')),
    seed: wholeOf(field(item, 'seed')),
    completionTokens: tokensOf(field(field(item, 'usage'), 'completion_tokens')),
  };
}

// The provider signs its links for 24 hours from the end of the job.
const linkLifeSeconds = 24 * 3600;

function wholeOf(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

// This number is hundreds of times higher than the token count of the longest and largest video.
const tokensMax = 1_000_000_000;

/** Returns the count of tokens. Returns null if the count is missing or not plausible. */
function tokensOf(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return null;
  return value >= 0 && value <= tokensMax ? value : null;
}
