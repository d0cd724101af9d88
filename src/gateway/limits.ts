// Rate limits per key, account or IP address: token buckets in the memory of this process. Each API
// process has its own buckets, so two processes together allow twice the rate. The limit of
// unfinished tasks is not here: it applies to all processes together, so the database checks it.

import { LRUCache } from 'lru-cache';
import type { Caller } from '../accounts/accounts.rows';
import type { Rates as OwnRates } from '../accounts/terms.rows';
import type { Config } from '../config/config';
import type { Refusal } from '../contract/error';
import type { ApiCall, Headers } from './context';
import { Refused } from './context';

interface RateLimit {
  readonly perSecond: number;
  /** Maximum number of calls at once. The default is five times `perSecond`. */
  readonly burst?: number;
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
// buckets can be dropped.
const bucketsMax = 50_000;

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

const burstSeconds = 5;

type RateSettings = Pick<
  Config,
  'createRatePerSecond' | 'readRatePerSecond' | 'databasePoolMax' | 'connectionsMax'
>;

/**
 * All limits of calls, from the rates that an operator sets. A customer who creates twice as many
 * tasks also sends twice as many quotes and uploads.
 */
export function ratesOf(settings: RateSettings) {
  const { createRatePerSecond, readRatePerSecond, databasePoolMax, connectionsMax } = settings;
  return {
    createRatePerSecond,
    createBurst: 20 * createRatePerSecond,
    requestRatePerSecond: 5 * createRatePerSecond,
    quoteRatePerSecond: Math.ceil(createRatePerSecond * 0.4),
    uploadRatePerSecond: Math.ceil(createRatePerSecond / 10),
    readRatePerSecond,
    listRatePerSecond: Math.ceil(readRatePerSecond / 100),
    // Shares of the connections to the database: of one account, and of the look-ups that all accounts
    // share. The rest stays free for other accounts.
    databaseShareOfAccount: Math.floor(databasePoolMax / 2),
    databaseShareOfLookUps: Math.max(1, Math.floor(databasePoolMax / 4)),
    uploadsAtOncePerAccountMax: 100,
    uploadsAtOnceMax: Math.ceil(connectionsMax / 4),
    callsAtOnceMax: shareOf(connectionsMax),
    // The other calls of the account, for example its creates, need connections too.
    heldReadsMax: Math.floor(shareOf(connectionsMax) * 0.8),
    // The other connections stay free for other calls and for the probes.
    heldReadsOfAllMax: Math.ceil(connectionsMax / 2),
  };
}

/** The connections of one address or account. A client may keep twenty open without using them. */
export function shareOf(connectionsMax: number): number {
  return Math.max(20, Math.ceil(connectionsMax / 4));
}

export function createBuckets(limit: RateLimit): Buckets {
  const { subject, elapsed, burst: burstOf = limit.perSecond * burstSeconds } = limit;
  const buckets = new LRUCache<string, Bucket>({ max: bucketsMax });

  const sizeOf = (ownRate: number | null | undefined) => {
    const perSecond = ownRate ?? limit.perSecond;
    return { perSecond, burst: Math.ceil((perSecond * burstOf) / limit.perSecond) };
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
export function limitUnknown(perSecond: number, elapsed: () => number): Buckets {
  const subject = 'This address may ask for keys, tasks and files that do not exist';
  // The burst is the number of calls in one second. The usual burst is five times as large, but each
  // of these look-ups costs an SQL statement.
  return createBuckets({ subject, perSecond, burst: perSecond, elapsed });
}

export interface CallerLimit {
  /** Counts the call and returns null if it is allowed. Otherwise returns its refusal. */
  take(caller: Caller): Refused | null;
  /** Undoes one `take`. */
  giveBack(caller: Caller): void;
  /** The RateLimit headers of the limit with fewer calls left. */
  headersOf(caller: Caller): Headers;
}

/**
 * A limit of the key, and a limit of its account if the account has its own rate. A call must pass
 * both.
 */
export function createCallerLimit(
  term: keyof OwnRates,
  { what, ...limit }: Omit<RateLimit, 'subject'> & { readonly what: string },
): CallerLimit {
  const ofKeys = createBuckets({ ...limit, subject: `This key may ${what}` });
  const ofAccounts = createBuckets({ ...limit, subject: `This account may ${what}` });
  return {
    take({ keyId, accountId, rates, accountRates }) {
      const limited = ofKeys.take(keyId, rates[term]);
      if (limited || accountRates[term] === null) return limited;
      const accountLimited = ofAccounts.take(accountId, accountRates[term]);
      if (accountLimited) ofKeys.giveBack(keyId, rates[term]);
      return accountLimited;
    },
    giveBack({ keyId, accountId, rates, accountRates }) {
      ofKeys.giveBack(keyId, rates[term]);
      if (accountRates[term] !== null) ofAccounts.giveBack(accountId, accountRates[term]);
    },
    headersOf({ keyId, accountId, rates, accountRates }) {
      const [ofKey, ofAccount] = [rates[term], accountRates[term]];
      const isAccount =
        ofAccount !== null &&
        ofAccounts.remaining(accountId, ofAccount) < ofKeys.remaining(keyId, ofKey);
      return isAccount
        ? ofAccounts.headersOf(accountId, ofAccount)
        : ofKeys.headersOf(keyId, ofKey);
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
