// The times of callback attempts, and the meaning of a receiver's answer. The gaps are those of the
// Standard Webhooks example schedule. The caller passes the random number, because a workflow must
// use Temporal's random numbers. These numbers are the same in a replay.

import type { CallbackState } from '../contract/vocabulary';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const gapsMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

export const attemptsMax = gapsMs.length + 1;

// Up to a fifth later, so that receivers that failed together are not all called again in the same
// second. Never earlier: the ten attempts take at least three days.
const jitter = 0.2;
const retryAfterMaxMs = 24 * hour;

/**
 * Returns the milliseconds from a failed attempt to the next attempt, or null after the last
 * attempt. A receiver may ask for a longer wait with Retry-After. This longer wait is limited to
 * the gap after the next attempt, and to 24 hours.
 */
export function nextGapMs(
  attempt: number,
  chance: number,
  retryAfterMs: number | null,
): number | null {
  const gap = gapsMs[attempt - 1];
  if (gap === undefined) return null;
  const scheduled = Math.round(gap * (1 + jitter * chance));
  const longest = Math.min(gapsMs[attempt] ?? retryAfterMaxMs, retryAfterMaxMs);
  return Math.max(scheduled, Math.min(retryAfterMs ?? 0, longest));
}

type Verdict = 'delivered' | 'stopped' | 'again';

export interface Attempted {
  readonly state: CallbackState;
  /** Null if no attempt follows. */
  readonly nextInMs: number | null;
}

/** What follows from the answer to an attempt; the status is null if there was no answer. */
export function afterAttempt(
  attempt: number,
  chance: number,
  {
    status,
    retryAfterMs,
  }: { readonly status: number | null; readonly retryAfterMs: number | null },
): Attempted {
  const verdict = verdictOf(status);
  if (verdict !== 'again') return { state: verdict, nextInMs: null };
  const nextInMs = nextGapMs(attempt, chance, retryAfterMs);
  return { state: nextInMs === null ? 'exhausted' : 'pending', nextInMs };
}

/**
 * Any 2xx status means that the callback was delivered, and 410 means that it is stopped. After any
 * other status, redirects included, and after no answer, the callback is tried again.
 */
export function verdictOf(status: number | null): Verdict {
  if (status !== null && status >= 200 && status < 300) return 'delivered';
  return status === 410 ? 'stopped' : 'again';
}
