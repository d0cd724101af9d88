// When a callback is tried again, and what a receiver's answer means. The gaps are those of the
// Standard Webhooks sample schedule; chance is handed in, so the workflow can draw it in a way that
// replays.

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

// ± 20 %: receivers that failed together are not all called again in the same second.
const jitter = 0.2;
const retryAfterMaxMs = 24 * hour;

/**
 * Milliseconds from a failed attempt to the next one; null after the last. A receiver may ask for
 * more time, up to the gap that would come after this one.
 */
export function nextGapMs(
  attempt: number,
  chance: number,
  retryAfterMs: number | null,
): number | null {
  const gap = gapsMs[attempt - 1];
  if (gap === undefined) return null;
  const scheduled = Math.round(gap * (1 - jitter + 2 * jitter * chance));
  const longest = Math.min(gapsMs[attempt] ?? retryAfterMaxMs, retryAfterMaxMs);
  return Math.max(scheduled, Math.min(retryAfterMs ?? 0, longest));
}

type Verdict = 'delivered' | 'stopped' | 'again';

/**
 * Any 2xx is delivered, 410 says never again; everything else, redirects and no answer included, is
 * tried again.
 */
export function verdictOf(status: number | null): Verdict {
  if (status !== null && status >= 200 && status < 300) return 'delivered';
  return status === 410 ? 'stopped' : 'again';
}
