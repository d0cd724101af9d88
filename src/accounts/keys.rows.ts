// API keys: their format, checksum and storage. A key is shown only when it is created. The
// database stores only its SHA-256. Nobody can find 178 random bits by trying, so a stolen table
// gives no access, and the duration of a look-up reveals nothing about a key. Operators have keys of
// the same format with another prefix.

import { createHash, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Rates } from './terms.rows';

/** `vk_`: a key of a customer. `vo_`: a key of an operator. */
export type KeyPrefix = 'vk_' | 'vo_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// 30 characters of base 62 are 178 random bits. Six more characters are a checksum. The checksum
// shows without a query that a key is mistyped, and secret scanners recognise keys by the checksum.
const randomChars = 30;
const checkChars = 6;
const bodyShape = new RegExp(`^[0-9A-Za-z]{${randomChars + checkChars}}$`);

export function makeApiKey(prefix: KeyPrefix = 'vk_'): string {
  let body = '';
  while (body.length < randomChars) {
    for (const byte of randomBytes(64)) {
      // 248 is the largest multiple of 62 that fits into a byte. Bytes from 248 on are skipped, so
      // that all characters are equally likely.
      if (byte < 248 && body.length < randomChars) body += alphabet[byte % 62];
    }
  }
  return `${prefix}${body}${checksum(prefix, body)}`;
}

export function isWellFormedKey(key: string, prefix: KeyPrefix = 'vk_'): boolean {
  if (!key.startsWith(prefix) || !bodyShape.test(key.slice(prefix.length))) return false;
  const body = key.slice(prefix.length, -checkChars);
  return checksum(prefix, body) === key.slice(-checkChars);
}

export function digestKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(prefix: KeyPrefix, body: string): string {
  let value = createHash('sha256').update(`${prefix}${body}`).digest().readUIntBE(0, 6);
  let text = '';
  for (let position = 0; position < checkChars; position += 1) {
    text += alphabet[value % 62];
    value = Math.floor(value / 62);
  }
  return text;
}

export const newKeyId = () => `key_${randomBytes(9).toString('hex')}`;

export const isKeyId = (text: string) => /^key_[0-9a-f]{18}$/.test(text);

/** The models and channels that a key may use; absent means all. */
export interface KeyLimits {
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
}

interface NewKey extends KeyLimits {
  readonly accountId: string;
  readonly name?: string;
  readonly expiresAt?: Date;
  readonly managesKeys?: boolean;
}

export async function createKey(
  db: Knex,
  key: NewKey,
): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const apiKey = makeApiKey();
  const keyId = newKeyId();
  await db('api_keys').insert({
    id: keyId,
    account_id: key.accountId,
    name: key.name ?? '',
    digest: digestKey(apiKey),
    last_four: apiKey.slice(-4),
    models: key.models ? [...key.models] : null,
    channels: key.channels ? [...key.channels] : null,
    expires_at: key.expiresAt ?? null,
    manages_keys: key.managesKeys ?? false,
  });
  return { keyId, apiKey };
}

export interface KeyRow extends Rates {
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
  readonly lastFour: string;
  readonly models: readonly string[] | null;
  readonly channels: readonly string[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** True if the key may make and revoke keys of its account. */
  readonly managesKeys: boolean;
  /** The key that made this one; null if an operator did. */
  readonly madeBy: string | null;
}

/** SQL of a key that is neither revoked nor expired. */
export const isLive = 'revoked_at is null and coalesce(expires_at > now(), true)';

export const keyColumns = `
  id as "keyId", account_id as "accountId", name, last_four as "lastFour", models, channels,
  create_rate as "createRate", read_rate as "readRate",
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt",
  manages_keys as "managesKeys", made_by as "madeBy"`;

interface KeyFilter {
  readonly accountId?: string;
  /** The last key of the page before. */
  readonly after?: string;
  readonly limit?: number;
}

/** Keys, the newest first. */
export async function listKeys(
  db: Knex,
  { accountId, after, limit }: KeyFilter = {},
): Promise<readonly KeyRow[]> {
  const query = db('api_keys').select(db.raw(keyColumns));
  query.orderBy('created_at', 'desc').orderBy('id', 'desc');
  if (accountId !== undefined) query.where('account_id', accountId);
  if (after !== undefined) {
    query.whereRaw('(created_at, id) < (select created_at, id from api_keys where id = ?)', [
      after,
    ]);
  }
  if (limit !== undefined) query.limit(limit);
  return (await query) as KeyRow[];
}

export async function findKey(db: Knex, keyId: string): Promise<KeyRow | null> {
  const { rows } = await db.raw<{ rows: KeyRow[] }>(
    `select ${keyColumns} from api_keys where id = ?`,
    [keyId],
  );
  return rows[0] ?? null;
}

/** Keys with these last four characters, the newest first. */
export async function findKeysEnding(
  db: Knex,
  lastFour: string,
  limit: number,
): Promise<readonly KeyRow[]> {
  const { rows } = await db.raw<{ rows: KeyRow[] }>(
    `select ${keyColumns} from api_keys where last_four = ? order by created_at desc, id limit ?`,
    [lastFour, limit],
  );
  return rows;
}

/** A key that is revoked again keeps the time of the first revocation. */
export async function revokeKey(db: Knex, keyId: string): Promise<void> {
  await db.raw('update api_keys set revoked_at = coalesce(revoked_at, now()) where id = ?', [
    keyId,
  ]);
}

/** Revokes the keys that this key has made, and returns how many were not revoked yet. */
export async function revokeMadeKeys(db: Knex, keyId: string): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    'update api_keys set revoked_at = now() where made_by = ? and revoked_at is null',
    [keyId],
  );
  return rowCount;
}

/** Adds to each key how many valid keys it has made. */
export async function withMade<Key extends Pick<KeyRow, 'accountId' | 'keyId'>>(
  db: Knex,
  keys: readonly Key[],
): Promise<readonly (Key & { readonly made: number })[]> {
  // The index has the keys of an account, and a key makes keys of its own account only.
  const { rows } = await db.raw<{ rows: { by: string; made: number }[] }>(
    `select made_by as by, count(*)::int as made from api_keys
      where account_id = any(?) and made_by = any(?)
        and ${isLive}
      group by made_by`,
    [keys.map(({ accountId }) => accountId), keys.map(({ keyId }) => keyId)],
  );
  const made = new Map(rows.map((row) => [row.by, row.made]));
  return keys.map((key) => ({ ...key, made: made.get(key.keyId) ?? 0 }));
}

/** Says whether a key may make and revoke others. */
export async function setManagesKeys(db: Knex, keyId: string, manages: boolean): Promise<void> {
  await db.raw('update api_keys set manages_keys = ? where id = ?', [manages, keyId]);
}
