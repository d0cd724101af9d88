// Parses the Retry-After header of a provider or a callback receiver. The result has no upper
// limit; callers limit the wait.

/**
 * Returns the milliseconds to wait, or null if the header is absent or unreadable. The header may
 * contain seconds or an HTTP date.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (!header) return null;
  const wanted = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(wanted) ? null : Math.max(0, wanted);
}
