// Parses the Retry-After header of a provider or a callback receiver. The caller of this function
// decides how much of the wait to grant.

/** Accepts seconds or an HTTP date. Null if the header is absent or unreadable. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (!header) return null;
  const wanted = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(wanted) ? null : Math.max(0, wanted);
}
