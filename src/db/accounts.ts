// The customers: their accounts, and who is behind an API key.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { createKey } from './api-keys';
import { creditAccount } from './ledger';
import { createSecret } from './webhook-secrets';

interface NewAccount {
  readonly name: string;
  readonly pepper: string;
  /** Of its books, for good; the schema's when left out. */
  readonly currency?: string;
  readonly creditMicros?: number;
}

/** An account with its books, its first key and its webhook secret, all or nothing. */
export async function createAccount(
  db: Knex,
  { name, pepper, currency, creditMicros }: NewAccount,
): Promise<{
  readonly accountId: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
}> {
  return db.transaction(async (trx) => {
    const accountId = `acct_${randomBytes(10).toString('hex')}`;
    await trx('accounts').insert({ id: accountId, name });
    await trx('balances').insert({ account_id: accountId, ...(currency ? { currency } : {}) });
    const key = await createKey(trx, { accountId, pepper, name: 'first key' });
    const webhookSecret = await createSecret(trx, accountId);
    if (creditMicros) {
      const reason = 'opening credit';
      const credit = { accountId, amountMicros: creditMicros, reference: 'opening', reason };
      await creditAccount(trx, credit);
    }
    return { accountId, ...key, webhookSecret };
  });
}

export interface AccountRow {
  readonly accountId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  readonly availableMicros: number;
  readonly heldMicros: number;
  readonly currency: string;
  readonly openTasks: number;
}

const columns = `
  accounts.id as "accountId", name, created_at as "createdAt", disabled_at as "disabledAt",
  available as "availableMicros", held as "heldMicros", currency,
  open_tasks as "openTasks"`;

export async function listAccounts(db: Knex): Promise<readonly AccountRow[]> {
  const { rows } = await db.raw<{ rows: AccountRow[] }>(
    `select ${columns} from accounts join balances on balances.account_id = accounts.id
      order by created_at`,
  );
  return rows;
}

export async function showAccount(db: Knex, accountId: string): Promise<AccountRow | null> {
  const { rows } = await db.raw<{ rows: AccountRow[] }>(
    `select ${columns} from accounts join balances on balances.account_id = accounts.id
      where accounts.id = ?`,
    [accountId],
  );
  return rows[0] ?? null;
}

/** False when there is no such account. */
export async function setAccountDisabled(
  db: Knex,
  accountId: string,
  disabled: boolean,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update accounts set disabled_at = case when ? then coalesce(disabled_at, now()) end
      where id = ? returning 1`,
    [disabled, accountId],
  );
  return rows.length > 0;
}

export interface FoundKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly accountDisabled: boolean;
  readonly models: readonly string[] | null;
  readonly channels: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export async function findKeyByDigest(db: Knex, digest: Buffer): Promise<FoundKey | null> {
  const { rows } = await db.raw<{ rows: FoundKey[] }>(
    `select api_keys.id as "keyId", account_id as "accountId", disabled_at is not null as "accountDisabled",
            models, channels, expires_at as "expiresAt", revoked_at as "revokedAt"
       from api_keys join accounts on accounts.id = account_id
      where digest = ?`,
    [digest],
  );
  return rows[0] ?? null;
}
