// Tells clients that repeat calls by themselves whether a repeat is safe: the header x-should-retry.
// The OpenAI and Ark clients repeat a create after a 409, 429 or 5xx without an Idempotency-Key, and
// obey this header first.

import { kindOf } from './admit';
import type { ApiCall } from './context';

const header = 'x-should-retry';

export function showRetryHint(ctx: ApiCall): void {
  if (ctx.res.hasHeader(header)) return;
  const isWorthIt = mayRetry(ctx);
  if (isWorthIt !== null) ctx.set(header, String(isWorthIt));
}

/** Null if the client may decide by the status alone. */
function mayRetry(ctx: ApiCall): boolean | null {
  const { method, status, headers, res } = ctx;
  // A repeat in the next seconds would be the same conflict.
  if (status === 409) return false;
  if (method !== 'POST') return null;
  // After a success there is a task, and a fault of the request stays one.
  if (status !== 429 && status < 500) return false;
  if (headers['idempotency-key'] !== undefined) return true;
  // There is no task. But the next call counts as a repeat: it would get the task of an equal create
  // whose answer is not read yet. A create that its caller begins anew makes a task.
  if (mayBeRepeated(ctx) && kindOf(ctx) === 'changes') return false;
  // A 503 with a Location names a task that may exist. After a 500 nothing is known.
  return status !== 500 && !res.hasHeader('Location') && res.hasHeader('Retry-After');
}

/** True if a lost answer to this create leads to a repeat without an Idempotency-Key. */
export function mayBeRepeated(ctx: ApiCall): boolean {
  return ctx.headers['idempotency-key'] === undefined && countOf(ctx) !== undefined;
}

/** The number of the repeat, as OpenAI's clients send it; absent if the client counts none. */
export function countOf({ headers }: ApiCall): string | undefined {
  return headers['x-stainless-retry-count'] as string | undefined;
}
