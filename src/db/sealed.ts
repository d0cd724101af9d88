// Sealed columns: with ENCRYPTION_KEYS the texts of callers and the links to their videos are
// stored encrypted. Columns that statements search stay readable (schema.ts names the sealed
// columns). Rows that were stored before a key was set are read as they are.

import type { Knex } from 'knex';
import { decrypt, encrypt, type KeyRing, keyWithId } from '../encryption/key-ring';
import { SchemaMismatch } from './schema-mismatch';

/**
 * A json column with an encrypted value. Fields that statements read are stored beside `sealed`,
 * without encryption.
 */
interface Sealed {
  readonly sealed: string;
}

const mark = 'sealed:';

// The encryption keys of each connection pool. The map finds them by the configuration object of
// the pool, because the pool and its transactions share this object.
const rings = new WeakMap<Knex.Config, KeyRing>();

export function giveKeys(db: Knex, keys: KeyRing): void {
  rings.set(configOf(db), keys);
}

function keysOf(db: Knex): KeyRing {
  return rings.get(configOf(db)) ?? [];
}

function configOf(db: Knex): Knex.Config {
  return (db as { client: Knex.Client }).client.config;
}

/** Encrypts the text of a text column. Without keys the text is stored as it is. */
export function seal<T extends string | null>(db: Knex, text: T): T | string {
  if (text === null) return text;
  const [key] = keysOf(db);
  // A text of a caller may begin with the mark itself. Such a text gets a mark without a key id, so
  // that `unseal` does not decrypt the text.
  if (!key) return text.startsWith(mark) ? `${mark}:${text}` : text;
  return `${mark}${key.id}:${encrypt(Buffer.from(text), key).toString('base64')}`;
}

export function unseal<T extends string | null>(db: Knex, stored: T): T | string {
  if (!stored?.startsWith(mark)) return stored;
  const end = stored.indexOf(':', mark.length);
  const id = stored.slice(mark.length, end);
  const rest = stored.slice(end + 1);
  if (id === '') return rest;
  return decrypt(Buffer.from(rest, 'base64'), keyWithId(keysOf(db), id)).toString('utf8');
}

/** Decrypts a stored text and encrypts it again with the first key. */
export function reseal(db: Knex, stored: string): string {
  return seal(db, unseal(db, stored));
}

/** Encrypts a value for a json column. The fields in `open` stay readable, for statements. */
export function sealValue<T>(db: Knex, value: T, open: object = {}): T | Sealed {
  if (keysOf(db).length === 0) return value;
  return { sealed: seal(db, JSON.stringify(value)), ...open };
}

export function unsealValue<T>(db: Knex, stored: T): T {
  const { sealed } = (stored ?? {}) as Partial<Sealed>;
  return typeof sealed === 'string' ? (JSON.parse(unseal(db, sealed)) as T) : stored;
}

/** Like `unsealValue`, but takes and returns the value as JSON text. */
export function unsealJson(db: Knex, stored: string): string {
  if (!stored.startsWith(`{"sealed":"${mark}`)) return stored;
  return unseal(db, (JSON.parse(stored) as Sealed).sealed);
}

const proven = 'the key of this id';

/**
 * Throws if this database has texts that were encrypted with a key that is not configured, or that
 * is configured with another value. If `isWriter` is true, the first configured key is recorded as
 * a key that this database needs.
 */
export async function checkKeys(db: Knex, isWriter: boolean): Promise<void> {
  const keys = keysOf(db);
  const [first] = keys;
  if (first && isWriter) {
    await db.raw('insert into encryption_keys (id, proof) values (?, ?) on conflict do nothing', [
      first.id,
      seal(db, proven),
    ]);
  }
  const { rows } = await db.raw<{ rows: { id: string; proof: string }[] }>(
    'select id, proof from encryption_keys order by created_at',
  );
  const missing = rows.filter(({ id }) => !keys.some((key) => key.id === id));
  if (missing.length > 0) {
    throw new SchemaMismatch(
      `ENCRYPTION_KEYS lacks ${missing.map(({ id }) => `"${id}"`).join(', ')}, with which texts in this ` +
        'database are encrypted: add it behind the first key (docs/operations.md, "Encryption").',
    );
  }
  const wrong = rows.find(({ proof }) => !isProof(db, proof));
  if (wrong) {
    throw new SchemaMismatch(
      `The key "${wrong.id}" of ENCRYPTION_KEYS is not the one with which texts in this database are ` +
        'encrypted: give a new key a new id (docs/operations.md, "Encryption").',
    );
  }
}

function isProof(db: Knex, proof: string): boolean {
  try {
    return unseal(db, proof) === proven;
  } catch {
    return false;
  }
}
