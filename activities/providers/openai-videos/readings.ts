// Translates a video object into a `JobReading`. The object has neither a link nor a usage: the
// bytes are read with the key of the channel, and a meter of the catalogue counts the tokens.

import { field, numberOf, textOf, textSecondsOf, unixSecondsOf } from '../http-exchange';
import { readingIn, type Statuses } from '../job-readings';
import type { JobReading } from '../provider';
import { failureOf } from './faults';
import type { Profile } from './profiles';

// The protocol has four words; the others are words of gateways and of self-hosted servers.
const statuses: Statuses = {
  queued: 'queued',
  pending: 'queued',
  in_progress: 'running',
  processing: 'running',
  completed: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  deleted: 'cancelled',
};

export function readingOf(
  item: unknown,
  contentUrl: string,
  { takesSeed }: Pick<Profile, 'takesSeed'>,
): JobReading {
  const word = textOf(field(item, 'status')) ?? '';
  return readingIn(
    statuses,
    word,
    () => ({ ...resultOf(item, contentUrl), ...(takesSeed ? { seedIsSent: true as const } : {}) }),
    (status) => failureOf(status, field(item, 'error')),
  );
}

function resultOf(item: unknown, contentUrl: string) {
  return {
    videoUrl: contentUrl,
    lastFrameUrl: null,
    expiresAt: unixSecondsOf(field(item, 'expires_at')),
    durationSeconds: secondsOf(field(item, 'seconds')),
    resolution: null,
    ratio: null,
    seed: null,
    completionTokens: null,
  };
}

/** The protocol sends the length as a text; some servers send a number. */
export function secondsOf(value: unknown): number | null {
  return textSecondsOf(value) ?? numberOf(value);
}
