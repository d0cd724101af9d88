// The keys that customers make and revoke themselves, with a key that manages keys. Both functions of
// the database check this key (schema.ts), because the API may not write keys.

import type { Knex } from 'knex';
import { digestKey, isLive, type KeyRow, keyColumns, makeApiKey, newKeyId } from './keys.rows';

export const liveKeysMax = 50;

interface OwnKey {
  readonly name: string;
  /** Null: the models of the key that makes it. */
  readonly models: readonly string[] | null;
  readonly expiresAt: Date | null;
}

export type MadeKey =
  | { readonly outcome: 'made'; readonly keyId: string; readonly apiKey: string }
  /** The name of a limit that is wider than that of the key `by`, or another reason. */
  | { readonly outcome: 'not_allowed' | 'budget' | 'too_many' | 'models' | 'expires_at' };

export async function makeOwnKey(db: Knex, by: string, key: OwnKey): Promise<MadeKey> {
  const apiKey = makeApiKey();
  const keyId = newKeyId();
  const { name, models, expiresAt } = key;
  const { rows } = await db.raw<{ rows: { outcome: MadeKey['outcome'] }[] }>(
    `select make_key(:by, :keyId, :name, :digest, :lastFour, cast(:models as text[]),
                     cast(:expiresAt as timestamptz)) as outcome`,
    {
      ...{ by, keyId, name, models: models && [...models], expiresAt },
      digest: digestKey(apiKey),
      lastFour: apiKey.slice(-4),
    },
  );
  const outcome = rows[0]?.outcome ?? 'not_allowed';
  return outcome === 'made' ? { outcome, keyId, apiKey } : { outcome };
}

export async function endOwnKey(
  db: Knex,
  by: string,
  keyId: string,
): Promise<'revoked' | 'not_found' | 'not_allowed'> {
  const { rows } = await db.raw<{ rows: { outcome: 'revoked' | 'not_found' | 'not_allowed' }[] }>(
    'select end_key(?, ?) as outcome',
    [by, keyId],
  );
  return rows[0]?.outcome ?? 'not_allowed';
}

/** The keys of an account: all that live, and then, up to the limit, those that ended. */
export async function listOwnKeys(
  db: Knex,
  accountId: string,
  limit: number,
): Promise<readonly KeyRow[]> {
  const { rows } = await db.raw<{ rows: KeyRow[] }>(
    `select ${keyColumns} from api_keys where account_id = :accountId
      order by ${isLive} desc, created_at desc, id desc
      limit greatest(:limit, (select count(*) from api_keys
                               where account_id = :accountId and ${isLive}))`,
    { accountId, limit },
  );
  return rows;
}
