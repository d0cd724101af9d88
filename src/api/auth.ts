// Authorization: Bearer <API key> → the caller. Missing, malformed, unknown, expired and revoked
// keys all look the same from outside. Answers of the database are kept for a while, shorter than
// revoking may take to be effective.

import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Refusal } from '../contract/error';
import type { FoundKey } from '../db/accounts';
import { findKeyByDigest } from '../db/accounts';
import { digestKey, isWellFormedKey } from '../db/api-keys';
import type { Caller } from './context';
import { Refused } from './context';
import { createMemory } from './memory';

export type Authenticate = (authorization: string | undefined) => Caller | Promise<Caller>;

// A revoked key must stop working within 30 s; the rest of them is room for a slow database.
const knownForMs = 20_000;
// Enough for every key in use; beyond it the oldest is looked up again.
const knownMax = 10_000;

export function createAuthentication(db: Knex, pepper: string, now: () => number): Authenticate {
  const known = createMemory<Caller | null>(now, knownMax);
  const lookups = new Map<string, Promise<Caller | null>>();

  const lookUp = async (digest: Buffer, cacheKey: string): Promise<Caller | null> => {
    const found = await findKeyByDigest(db, digest);
    const expiresAt = found?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    const valid = found && !found.revokedAt && expiresAt > now();
    const caller = valid ? callerOf(found) : null;
    known.remember(cacheKey, caller, Math.min(now() + knownForMs, expiresAt));
    return caller;
  };

  const lookUpOnce = async (digest: Buffer, cacheKey: string): Promise<Caller> => {
    let lookup = lookups.get(cacheKey);
    if (!lookup) {
      lookup = lookUp(digest, cacheKey).finally(() => lookups.delete(cacheKey));
      lookups.set(cacheKey, lookup);
    }
    return orRefuse(await lookup);
  };

  return (authorization) => {
    const key = authorization === undefined ? null : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (!key) throw new Refused(invalidKey, challenge);
    // Under a quick digest: the keys themselves are not kept, and the one in the database takes ten
    // times as long.
    const cacheKey = hash('sha256', key, 'base64');
    const caller = known.recall(cacheKey);
    if (caller !== undefined) return orRefuse(caller);
    if (!isWellFormedKey(key)) throw new Refused(invalidKey, challenge);
    return lookUpOnce(digestKey(pepper, key), cacheKey);
  };
}

function callerOf({ keyId, accountId, accountDisabled, models, channels }: FoundKey): Caller {
  return { keyId, accountId, accountDisabled, models, channels };
}

const challenge = { 'www-authenticate': 'Bearer' };
const invalidKey: Refusal = {
  code: 'invalid_api_key',
  param: '',
  message: 'The API key is missing or invalid. Send it as "Authorization: Bearer <API_KEY>".',
};

function orRefuse(caller: Caller | null): Caller {
  if (!caller) throw new Refused(invalidKey, challenge);
  return caller;
}
