// Finds the caller of `Authorization: Bearer <API key>`. Missing, malformed, unknown, expired and
// revoked keys get the same reply. The results of look-ups are cached for 20 seconds.

import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { type Caller, type FoundKey, gatheredFindKey } from '../accounts/accounts.rows';
import { digestKey, isWellFormedKey } from '../accounts/keys.rows';
import type { Refusal } from '../contract/error';
import { gatheredSlowly } from '../database/gathered';
import type { ApiCall, KeyedCall } from './context';
import { Refused } from './context';
import type { ApiDeps } from './deps';
import type { Buckets } from './limits';
import type { LookUps } from './look-ups';

export type Authenticate = (
  authorization: string | undefined,
  addressOfCaller: () => string,
) => Caller | Promise<Caller>;

// A revoked key must stop working within 30 s. The cache may use 20 s of these; the other 10 s
// allow for a slow database.
const knownForMs = 20_000;
// Normally more than the number of keys in use. If more keys are in use, the least recently used
// keys are dropped from the cache and looked up again.
const knownMax = 10_000;

/** `unknownLookups` limits the look-ups of unknown keys by one IP address. */
export function createAuthentication(
  deps: ApiDeps,
  lookUps: Pick<LookUps, 'key'>,
  unknownLookups: Buckets,
): Authenticate {
  const { db, now, elapsed } = deps;
  const cached = { max: knownMax, ttl: knownForMs, perf: { now: elapsed }, ttlResolution: 0 };
  const callers = new LRUCache<string, Caller>({ ...cached, noDeleteOnStaleGet: true });
  // Invalid keys have their own cache, so that they do not push out valid keys.
  const unknown = new LRUCache<string, true>(cached);
  const lookups = new Map<string, Promise<Caller | null>>();

  const find = lookUps.key;
  const findSlowly = gatheredFindKey(db, gatheredSlowly);

  const lookUp = async (key: string, cacheKey: string, findKey = find): Promise<Caller | null> => {
    const found = await findKey(digestKey(key).toString('hex'));
    const expiresInMs = (found?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) - now();
    if (!found || found.revokedAt || expiresInMs <= 0) {
      unknown.set(cacheKey, true);
      return null;
    }
    const caller = callerOf(found);
    callers.set(cacheKey, caller, { ttl: Math.ceil(Math.min(knownForMs, expiresInMs)) });
    return caller;
  };

  // Looks up a key that this process has not found valid recently. After too many unknown keys of
  // the same IP address the look-up is slow: a valid key is still accepted, because other callers
  // may share the address, and an unknown key is refused.
  const lookUpStranger = async (key: string, cacheKey: string, address: string) => {
    const limited = unknownLookups.take(address);
    const caller = await lookUp(key, cacheKey, limited ? findSlowly : find);
    if (!caller && limited) throw limited;
    if (caller && !limited) unknownLookups.giveBack(address);
    return caller;
  };

  const lookUpOnce = async (key: string, cacheKey: string, address: string): Promise<Caller> => {
    let lookup = lookups.get(cacheKey);
    if (!lookup) {
      const wasValid = callers.peek(cacheKey, { allowStale: true }) !== undefined;
      lookup = (wasValid ? lookUp(key, cacheKey) : lookUpStranger(key, cacheKey, address)).finally(
        () => lookups.delete(cacheKey),
      );
      lookups.set(cacheKey, lookup);
    }
    const caller = await lookup;
    if (!caller) throw new Refused(invalidKey, challenge);
    return caller;
  };

  return (authorization, addressOfCaller) => {
    const key = authorization === undefined ? null : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (!key) throw new Refused(invalidKey, challenge);
    // The cache key is a digest, so that keys are not kept in memory.
    const cacheKey = hash('sha256', key, 'base64');
    const caller = callers.get(cacheKey);
    if (caller !== undefined) return caller;
    if (unknown.get(cacheKey) || !isWellFormedKey(key)) throw new Refused(invalidKey, challenge);
    return lookUpOnce(key, cacheKey, addressOfCaller());
  };
}

/**
 * Returns the caller's IP address. For IPv6, returns only the /64 network, which belongs to one
 * subscriber.
 */
export function addressOf(ctx: Pick<ApiCall, 'ip'>): string {
  const address = ctx.ip.replace(/^::ffff:(?=\d+\.)/, '');
  return address.includes(':') ? address.split('::')[0]!.split(':').slice(0, 4).join(':') : address;
}

function callerOf(found: FoundKey): Caller {
  const { keyId, madeBy, accountId, accountDisabled, models, channels } = found;
  const { rates, accountRates, trustsLengths, priceList } = found;
  const terms = { rates, accountRates, trustsLengths, priceList };
  return { keyId, madeBy, accountId, accountDisabled, models, channels, ...terms };
}

const challenge = { 'www-authenticate': 'Bearer' };
const invalidKey: Refusal = {
  code: 'invalid_api_key',
  param: '',
  message:
    'The API key is missing, unknown, expired or revoked. ' +
    'Send a valid one as "Authorization: Bearer <API_KEY>".',
};

/** The caller of a read. */
export interface Asker {
  readonly db: Knex;
  readonly accountId: string;
  readonly keyId: string;
  /** Look-ups of unknown tasks are limited per address. */
  readonly address: string;
}

export function askerOf(ctx: KeyedCall): Asker {
  const { db, caller } = ctx.state;
  const { accountId, keyId } = caller;
  return { db, accountId, keyId, address: addressOf(ctx) };
}
