// Tells clients that repeat calls by themselves whether a repeat is safe: the header x-should-retry.
// The OpenAI and Ark clients repeat a create after a 409, 429 or 5xx without an Idempotency-Key, and
// obey this header first.

import type { ApiCall } from './context';

export function showRetryHint(ctx: ApiCall): void {
  const isWorthIt = mayRetry(ctx);
  if (isWorthIt !== null) ctx.set('x-should-retry', String(isWorthIt));
}

/** Null if the client may decide by the status alone. */
function mayRetry({ method, status, headers, res }: ApiCall): boolean | null {
  // A repeat in the next seconds would be the same conflict.
  if (status === 409) return false;
  if (method !== 'POST') return null;
  // After a success there is a task, and a fault of the request stays one.
  if (status !== 429 && status < 500) return false;
  if (headers['idempotency-key'] !== undefined) return true;
  // A 503 with a Location names a task that may exist. After a 500 nothing is known.
  return status !== 500 && !res.hasHeader('Location') && res.hasHeader('Retry-After');
}
