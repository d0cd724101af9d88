// Parses the Retry-After header of a provider or a callback receiver. It sets no upper limit; its
// callers do.

/**
 * Milliseconds to wait. The header may contain seconds or an HTTP date; null if it is absent or
 * unreadable.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (!header) return null;
  const wanted = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(wanted) ? null : Math.max(0, wanted);
}
