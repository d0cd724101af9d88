// Accounts of customers, and the look-up of an account by its API key.

import type { Knex } from 'knex';
import type { Gather, Gathered } from '../database/gathered';
import { recentRefusals } from './refusals.rows';
import type { Rates } from './terms.rows';

/**
 * Makes changes of what an account has, such as its keys and webhooks, wait for each other until the
 * transaction ends. It does not block inserts of rows that refer to the account. `make_key` takes it too
 * (database/schema.ts).
 */
export async function lockAccount(trx: Knex, accountId: string): Promise<void> {
  await trx.raw('select from accounts where id = ? for no key update', [accountId]);
}

/** True if all books are in another currency than this one. */
export async function isForeignCurrency(db: Knex, currency: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { foreign: boolean }[] }>(
    `select exists (select from balances)
            and not exists (select from balances where currency = ?) as foreign`,
    [currency],
  );
  return rows[0]?.foreign === true;
}

export interface AccountRow {
  readonly accountId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  readonly erasedAt: Date | null;
  readonly availableMicros: number;
  readonly heldMicros: number;
  readonly currency: string;
  readonly openTasks: number;
  /** In which the days and months of its budgets begin. */
  readonly timeZone: string;
}

const columns = `
  accounts.id as "accountId", name, created_at as "createdAt", disabled_at as "disabledAt",
  erased_at as "erasedAt", available as "availableMicros", held as "heldMicros", currency,
  open_tasks as "openTasks", time_zone as "timeZone"`;

/** SQL: the customer has less than it wants to be told of. */
export const isBelowAlert = '(disabled_at is null and available < alert_below)';

interface AccountFilter {
  /** The beginning of the id, or a part of the name without regard to case. */
  readonly find?: string;
  /** Those below zero, or below the limit of their own alerts. */
  readonly isLow?: boolean;
  /** Those with refused calls in the last seven days; the one with the most is the first. */
  readonly isRefused?: boolean;
  /** The last account of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/** Accounts, the newest first unless the filter says otherwise. */
export async function listAccounts(
  db: Knex,
  { find, isLow, isRefused, after, limit }: AccountFilter,
): Promise<readonly AccountRow[]> {
  const query = db('accounts')
    .join('balances', 'balances.account_id', 'accounts.id')
    .select(db.raw(columns));
  const place = isRefused ? 'refused.calls' : 'created_at';
  query.orderBy(place, 'desc').orderBy('accounts.id', 'desc').limit(limit);
  if (isRefused) {
    query.with('refused', db.raw(recentRefusals));
    query.join('refused', 'refused.account_id', 'accounts.id');
  }
  if (find !== undefined) {
    query.whereRaw('(starts_with(accounts.id, ?) or strpos(lower(name), lower(?)) > 0)', [
      find,
      find,
    ]);
  }
  if (isLow) query.whereRaw(`(available < 0 or ${isBelowAlert})`);
  if (after !== undefined) {
    const last = isRefused
      ? 'select calls, account_id from refused where account_id = ?'
      : 'select created_at, id from accounts where id = ?';
    query.whereRaw(`(${place}, accounts.id) < (${last})`, [after]);
  }
  return (await query) as AccountRow[];
}

export async function showAccount(db: Knex, accountId: string): Promise<AccountRow | null> {
  const { rows } = await db.raw<{ rows: AccountRow[] }>(
    `select ${columns} from accounts join balances on balances.account_id = accounts.id
      where accounts.id = ?`,
    [accountId],
  );
  return rows[0] ?? null;
}

/** The accounts with this id or name. The account with this id comes first. */
export async function findAccounts(db: Knex, named: string): Promise<readonly AccountRow[]> {
  const { rows } = await db.raw<{ rows: AccountRow[] }>(
    `select ${columns} from accounts join balances on balances.account_id = accounts.id
      where :named in (accounts.id, name) order by accounts.id = :named desc, created_at`,
    { named },
  );
  return rows;
}

/** The names of these accounts, by their ids. */
export async function accountNames(
  db: Knex,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.raw<{ rows: { id: string; name: string }[] }>(
    'select id, name from accounts where id = any(?)',
    [[...new Set(accountIds)]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns true if the account exists, otherwise false. */
export async function setAccountDisabled(
  db: Knex,
  accountId: string,
  disabled: boolean,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update accounts
        set disabled_at = case when :disabled then coalesce(disabled_at, now()) end,
            erased_at = case when :disabled then erased_at end
      where id = :accountId returning 1`,
    { disabled, accountId },
  );
  return rows.length > 0;
}

/** An API key and its account. */
export interface Caller {
  readonly keyId: string;
  /** The key that made this one; absent or null if an operator did. */
  readonly madeBy?: string | null | undefined;
  readonly accountId: string;
  readonly accountDisabled: boolean;
  /** The models that this key may use; null means all. */
  readonly models: readonly string[] | null;
  /** The channels that this key may use; null means all. */
  readonly channels: readonly string[] | null;
  readonly rates: Rates;
  /** The rates that apply to all keys of the account together. */
  readonly accountRates: Rates;
  /** True if the stated length of reference videos sets the hold. */
  readonly trustsLengths: boolean;
  /** The price list of the account; null if the prices for everybody apply. */
  readonly priceList: string | null;
}

export interface FoundKey extends Caller {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Finds keys by the hexadecimal digits of their digests. */
export function gatheredFindKey(db: Knex, gather: Gather): Gathered<FoundKey> {
  return gather((digests) => findKeys(db, digests));
}

async function findKeys(
  db: Knex,
  digests: readonly string[],
): Promise<ReadonlyMap<string, FoundKey>> {
  const { rows } = await db.raw<{ rows: (FoundKey & { readonly digest: string })[] }>(
    `select encode(digest, 'hex') as digest,
            api_keys.id as "keyId", account_id as "accountId", disabled_at is not null as "accountDisabled",
            models, channels, made_by as "madeBy", expires_at as "expiresAt", revoked_at as "revokedAt",
            json_build_object('createRate', api_keys.create_rate, 'readRate', api_keys.read_rate)
              as rates,
            json_build_object('createRate', accounts.create_rate, 'readRate', accounts.read_rate)
              as "accountRates",
            trusts_lengths as "trustsLengths", price_list as "priceList"
       from api_keys join accounts on accounts.id = account_id
      where digest = any(?)`,
    [digests.map((digest) => Buffer.from(digest, 'hex'))],
  );
  return new Map(rows.map(({ digest, ...found }) => [digest, found]));
}
