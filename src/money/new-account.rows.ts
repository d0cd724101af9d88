// Creates accounts: the account, its balance, its secret, and its first key and credit if asked for.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { createKey, type KeyLimits } from '../accounts/keys.rows';
import { createSecret } from '../callbacks/webhook-secrets.rows';
import { creditAccount } from './ledger.rows';

interface NewAccount {
  readonly name: string;
  /** The currency of the account, which never changes. The default is in the schema. */
  readonly currency?: string;
  readonly creditMicros?: number;
}

interface CreatedAccount {
  readonly accountId: string;
  readonly webhookSecret: string;
}

interface FirstKey {
  readonly keyId: string;
  readonly apiKey: string;
}

/** Creates an account with a balance, a first key and a webhook secret, in one transaction. */
export async function createAccount(
  db: Knex,
  { limits, ...account }: NewAccount & { readonly limits?: KeyLimits },
): Promise<CreatedAccount & FirstKey> {
  return db.transaction(async (trx) => {
    const created = await insertAccount(trx, account);
    const { accountId } = created;
    const key = await createKey(trx, { accountId, name: 'first key', ...limits });
    return { ...created, ...key };
  });
}

/** Creates an account like createAccount, but without a key. */
export async function createKeylessAccount(db: Knex, account: NewAccount): Promise<CreatedAccount> {
  return db.transaction((trx) => insertAccount(trx, account));
}

async function insertAccount(
  trx: Knex.Transaction,
  { name, currency, creditMicros }: NewAccount,
): Promise<CreatedAccount> {
  const accountId = `acct_${randomBytes(10).toString('hex')}`;
  await trx('accounts').insert({ id: accountId, name });
  await trx('balances').insert({ account_id: accountId, ...(currency ? { currency } : {}) });
  const webhookSecret = await createSecret(trx, accountId);
  if (creditMicros) {
    const reason = 'opening credit';
    const credit = { accountId, amountMicros: creditMicros, reference: 'opening', reason };
    await creditAccount(trx, credit);
  }
  return { accountId, webhookSecret };
}
