// Translates a task of the protocol into a `JobReading`.

import { addressOf, field, numberOf, textOf } from '../http-exchange';
import { readingIn, type Statuses } from '../job-readings';
import type { JobReading } from '../provider';
import { enlarged } from './body';
import { failureOf } from './faults';

const statuses: Statuses = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  // Only older versions of the protocol have this word.
  expired: 'expired',
};

export function readingOf(task: unknown): JobReading {
  const word = textOf(field(task, 'status')) ?? '';
  return readingIn(
    statuses,
    word,
    () => resultOf(task),
    (status) => failureOf(status, field(task, 'error')),
  );
}

function resultOf(task: unknown) {
  const usage = field(task, 'usage');
  return {
    videoUrl: addressOf(field(field(task, 'content'), 'url')),
    lastFrameUrl: null,
    // The life of a link is not documented. Each read of the job gives a new link.
    expiresAt: null,
    durationSeconds: numberOf(field(usage, 'output_seconds')) ?? numberOf(field(task, 'duration')),
    inputSeconds: numberOf(field(usage, 'input_seconds')),
    // The tier of a generation is the planned one.
    resolution: field(task, 'resolution') === enlarged.word ? enlarged.tier : null,
    ratio: textOf(field(task, 'ratio')),
    seed: null,
    // The provider bills seconds. A meter of the catalogue turns them into tokens.
    completionTokens: null,
  };
}
