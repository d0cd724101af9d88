// Rate limits per key, account or IP address: token buckets in the memory of this process. Each API
// process has its own buckets, so two processes together allow twice the rate.

import { LRUCache } from 'lru-cache';
import type { Caller } from '../accounts/accounts.rows';
import type { Refusal } from '../contract/error';
import type { ApiCall, Headers } from './context';
import { Refused } from './context';
import { type Rate, type RateName, rateTable } from './limit-table';

export { rate } from './limit-table';

interface RateLimit extends Rate {
  /** The beginning of a refusal's message, for example "This key may ask for quotes". */
  readonly subject: string;
  /** Milliseconds of a monotonic clock, because the wall clock may jump. */
  readonly elapsed: () => number;
}

interface Bucket {
  tokens: number;
  at: number;
}

// A bucket that was not used for a while is full, like a new bucket. So the least recently used
// buckets can be dropped. A cache with a `max` would reserve the memory of all of them at once, which
// costs each process 18 MB and 60 ms.
const bucketsMax = { maxSize: 50_000, sizeCalculation: () => 1 };

/** `ownRate` replaces the rate of the limit; the burst then changes in proportion. */
export interface Buckets {
  /** Counts the call and returns null if it is allowed. Otherwise returns its refusal. */
  take(name: string, ownRate?: number | null): Refused | null;
  /** Like `take`, but without counting the call. */
  peek(name: string): Refused | null;
  /** Undoes one `take`, for a call to which the limit does not apply after all. */
  giveBack(name: string, ownRate?: number | null): void;
  remaining(name: string, ownRate?: number | null): number;
  /** The RateLimit headers of a reply. */
  headersOf(name: string, ownRate?: number | null): Headers;
}

export function createBuckets(limit: RateLimit): Buckets {
  const { subject, elapsed } = limit;
  const buckets = new LRUCache<string, Bucket>(bucketsMax);

  const sizeOf = (ownRate: number | null | undefined) => {
    const perSecond = ownRate ?? limit.perSecond;
    return { perSecond, burst: Math.ceil((perSecond * limit.burst) / limit.perSecond) };
  };

  const bucketOf = (name: string, { perSecond, burst }: ReturnType<typeof sizeOf>): Bucket => {
    const at = elapsed();
    const known = buckets.get(name);
    if (known) {
      known.tokens = Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond);
      known.at = at;
      return known;
    }
    const full = { tokens: burst, at };
    buckets.set(name, full);
    return full;
  };

  const refusalOf = ({ tokens }: Bucket, { perSecond, burst }: ReturnType<typeof sizeOf>) => {
    if (tokens >= 1) return null;
    const seconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    const allowed = `${perSecond} times a second (up to ${burst} at once)`;
    const message = `${subject} ${allowed}, and did so more often. Try again in ${seconds} s.`;
    return new Refused(rateLimited(message), limitHeaders(burst, seconds));
  };

  return {
    take(name, ownRate) {
      const size = sizeOf(ownRate);
      const bucket = bucketOf(name, size);
      const refused = refusalOf(bucket, size);
      if (!refused) bucket.tokens -= 1;
      return refused;
    },
    peek(name) {
      const size = sizeOf(null);
      return refusalOf(bucketOf(name, size), size);
    },
    giveBack(name, ownRate) {
      const size = sizeOf(ownRate);
      const bucket = bucketOf(name, size);
      bucket.tokens = Math.min(size.burst, bucket.tokens + 1);
    },
    remaining: (name, ownRate) => bucketOf(name, sizeOf(ownRate)).tokens,
    headersOf(name, ownRate) {
      const size = sizeOf(ownRate);
      const { perSecond, burst } = size;
      const { tokens } = bucketOf(name, size);
      return {
        'RateLimit-Limit': String(burst),
        'RateLimit-Remaining': String(Math.floor(tokens)),
        'RateLimit-Reset': String(Math.ceil((burst - tokens) / perSecond)),
      };
    },
  };
}

/** Limits the look-ups of keys, tasks and files that do not exist, by one IP address. */
export function limitUnknown(limit: Rate, elapsed: () => number): Buckets {
  return createBuckets({ ...limit, elapsed, subject: `This address may ${rateTable.unknown.may}` });
}

export interface CallerLimit {
  /** Counts the call and returns null if it is allowed. Otherwise returns its refusal. */
  take(caller: Caller): Refused | null;
  /** Undoes one `take`. */
  giveBack(caller: Caller): void;
  /** The RateLimit headers of the limit with fewer calls left. */
  headersOf(caller: Caller): Headers;
}

interface OwnRates {
  /** The rate of the caller's key, or null if it has that of the limit. */
  readonly ofKey?: (caller: Caller) => number | null;
  /** The rate of the caller's account, which counts for all its keys together; null: none. */
  readonly ofAccount?: (caller: Caller) => number | null;
}

const none = () => null;

/** A key that a customer made shares the rates of the key that made it. */
const countedKey = ({ keyId, madeBy }: Caller) => madeBy ?? keyId;

/** A limit of the key, and one of its account if the account has a rate. A call must pass both. */
export function createCallerLimit(
  name: RateName,
  limits: Readonly<Record<RateName, Rate>>,
  elapsed: () => number,
  { ofKey = none, ofAccount = none }: OwnRates = {},
): CallerLimit {
  const { may } = rateTable[name];
  const limit = { ...limits[name], elapsed };
  const ofKeys = createBuckets({ ...limit, subject: `This key may ${may}` });
  const ofAccounts = createBuckets({ ...limit, subject: `This account may ${may}` });
  return {
    take(caller) {
      const { accountId } = caller;
      const keyId = countedKey(caller);
      const [keyRate, accountRate] = [ofKey(caller), ofAccount(caller)];
      const limited = ofKeys.take(keyId, keyRate);
      if (limited || accountRate === null) return limited;
      const accountLimited = ofAccounts.take(accountId, accountRate);
      if (accountLimited) ofKeys.giveBack(keyId, keyRate);
      return accountLimited;
    },
    giveBack(caller) {
      const accountRate = ofAccount(caller);
      ofKeys.giveBack(countedKey(caller), ofKey(caller));
      if (accountRate !== null) ofAccounts.giveBack(caller.accountId, accountRate);
    },
    headersOf(caller) {
      const { accountId } = caller;
      const keyId = countedKey(caller);
      const [keyRate, accountRate] = [ofKey(caller), ofAccount(caller)];
      const isAccount =
        accountRate !== null &&
        ofAccounts.remaining(accountId, accountRate) < ofKeys.remaining(keyId, keyRate);
      return isAccount
        ? ofAccounts.headersOf(accountId, accountRate)
        : ofKeys.headersOf(keyId, keyRate);
    },
  };
}

/**
 * Sets the RateLimit headers of a reply, unless the reply already shows a limit with fewer calls
 * left.
 */
export function showLimit({ res }: ApiCall, headers: Headers): void {
  const shown = Number(res.getHeader('RateLimit-Remaining') ?? Number.POSITIVE_INFINITY);
  if (shown < Number(headers['RateLimit-Remaining'])) return;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
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
