// What somebody who is asked too often wants: the Retry-After of an answer, a service's or a
// receiver's. How much of it is granted is for whoever asks again.

/** Seconds or an HTTP date; null when it is absent or says nothing. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (!header) return null;
  const wanted = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(wanted) ? null : Math.max(0, wanted);
}
