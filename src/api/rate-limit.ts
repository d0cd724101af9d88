// How often one key may ask for something that costs: a token bucket per key, in this process. With
// several API processes each has its own, so a fleet allows the sum; what really costs money,
// unfinished tasks, is counted in the database.

import type { Refusal } from '../contract/error';
import type { Denied, Headers } from './context';
import { denied } from './context';

interface RateLimit {
  /** Null when the call may go on. */
  take(keyId: string): Denied | null;
}

interface RateLimitOptions {
  readonly perSecond: number;
  readonly burst: number;
  readonly now: () => number;
}

interface Bucket {
  tokens: number;
  at: number;
}

// A full bucket is as good as none, so old ones may be dropped; this many keys in one second would
// be a flood anyway.
const bucketsMax = 50_000;

export function createRateLimit({ perSecond, burst, now }: RateLimitOptions): RateLimit {
  const buckets = new Map<string, Bucket>();
  return {
    take(keyId) {
      const at = now();
      let bucket = buckets.get(keyId);
      if (!bucket) {
        if (buckets.size >= bucketsMax) buckets.clear();
        bucket = { tokens: burst, at };
        buckets.set(keyId, bucket);
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
      bucket.at = at;
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return null;
      }
      const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
      const message = `This key may create ${perSecond} times a second (up to ${burst} at once). Try again in ${seconds} s.`;
      return denied(rateLimited(message), limitHeaders(burst, seconds));
    },
  };
}

export function rateLimited(message: string): Refusal {
  return { code: 'rate_limited', param: '', message };
}

export function limitHeaders(limit: number, retryAfterSeconds: number): Headers {
  return {
    'retry-after': String(retryAfterSeconds),
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(retryAfterSeconds),
  };
}
