// Translates a video object into a `JobReading`. The object has neither a link nor a usage: the
// bytes are read with the key of the channel, and a meter of the catalogue counts the tokens.

import type { JobStatus } from '../../../src/domain/job';
import { field, textOf, unixSecondsOf } from '../http-exchange';
import { type JobReading, statusIn } from '../provider';
import { failureOf } from './faults';

// The protocol has four words; the others are words of gateways and of self-hosted servers.
const statuses: Readonly<Record<string, JobStatus>> = {
  queued: 'queued',
  pending: 'queued',
  in_progress: 'running',
  processing: 'running',
  completed: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  deleted: 'cancelled',
};

export function readingOf(item: unknown, contentUrl: string): JobReading {
  const word = textOf(field(item, 'status')) ?? '';
  const status = statusIn(statuses, word);
  if (status === 'succeeded') return { status, word, result: resultOf(item, contentUrl) };
  if (status === 'failed' || status === 'cancelled') {
    return { status, word, failure: failureOf(status, field(item, 'error')) };
  }
  return { status, word };
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
  const isText = typeof value === 'string' && /^\d{1,4}(\.\d{1,3})?$/.test(value);
  const seconds = isText ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : null;
}
