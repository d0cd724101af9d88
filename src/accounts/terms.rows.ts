// The terms of accounts and keys: limits, rates, the days for which data is kept, and trust in stated
// lengths. Processes read the terms from the database, so a change of the terms needs no restart.

import type { Knex } from 'knex';

/** Calls per second. Null for a key means that the setting in the environment applies. */
export interface Rates {
  readonly createRate: number | null;
  /** The rate of reads of single tasks. */
  readonly readRate: number | null;
}

/** The rates of an account apply to all its keys together; null means no such limit. */
export interface AccountTerms extends Rates {
  /** Maximum number of the account's tasks at generators at the same time; null means no limit. */
  readonly runningMax: number | null;
  /**
   * Maximum number of the account's unfinished tasks; null means that the setting in the
   * environment applies.
   */
  readonly queuedMax: number | null;
  /**
   * Days for which new files of the account are kept; null means that the setting in the
   * environment applies.
   */
  readonly filesKeptDays: number | null;
  /**
   * Days for which ended tasks of the account are kept; 0 means for ever. Null means that the
   * setting in the environment applies.
   */
  readonly tasksKeptDays: number | null;
  /** True if a length that the account states for its reference videos may lower a hold. */
  readonly trustsLengths: boolean;
  /** A price list of the catalogue; null means the prices for everybody. */
  readonly priceList: string | null;
  /** An available amount below this one is announced to the customer; null means never. */
  readonly alertBelowMicros: number | null;
}

/** Terms that are absent or undefined stay unchanged. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

export async function findTerms(db: Knex, accountId: string): Promise<AccountTerms | null> {
  const { rows } = await db.raw<{ rows: AccountTerms[] }>(
    `select running_max as "runningMax", queued_max as "queuedMax", create_rate as "createRate",
            read_rate as "readRate", files_kept_days as "filesKeptDays",
            tasks_kept_days as "tasksKeptDays", trusts_lengths as "trustsLengths", price_list as "priceList",
            alert_below as "alertBelowMicros"
       from accounts where id = ?`,
    [accountId],
  );
  return rows[0] ?? null;
}

export async function setTerms(
  db: Knex,
  accountId: string,
  terms: Changes<AccountTerms>,
): Promise<void> {
  const columns = {
    running_max: terms.runningMax,
    queued_max: terms.queuedMax,
    files_kept_days: terms.filesKeptDays,
    tasks_kept_days: terms.tasksKeptDays,
    trusts_lengths: terms.trustsLengths,
    price_list: terms.priceList,
    alert_below: terms.alertBelowMicros,
    ...rateColumns(terms),
  };
  if (changesNothing(columns)) return;
  await db('accounts').where({ id: accountId }).update(columns);
}

/** Returns true if the key exists, otherwise false. */
export async function setKeyRates(
  db: Knex,
  keyId: string,
  rates: Changes<Rates>,
): Promise<boolean> {
  const key = db('api_keys').where({ id: keyId });
  const columns = rateColumns(rates);
  if (changesNothing(columns)) return (await key.first('id')) !== undefined;
  return (await key.update(columns)) > 0;
}

function rateColumns({ createRate, readRate }: Changes<Rates>) {
  return { create_rate: createRate, read_rate: readRate };
}

/** knex leaves undefined columns out of an update, but an update without any column is an error. */
function changesNothing(columns: object): boolean {
  return Object.values(columns).every((value) => value === undefined);
}

/** The price lists that accounts have. */
/** How many customers have each price list, and the first of their names; null is no list. */
export async function listCustomersByPriceList(
  db: Knex,
): Promise<readonly { list: string | null; customers: number; names: readonly string[] }[]> {
  const { rows } = await db.raw<{
    rows: { list: string | null; customers: number; names: readonly string[] }[];
  }>(
    `select price_list as list, count(*)::int as customers,
            (array_agg(name order by name))[1:20] as names
       from accounts where erased_at is null group by price_list`,
  );
  return rows;
}

export async function listPriceListsInUse(db: Knex): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select distinct price_list as name from accounts
      where price_list is not null and erased_at is null order by 1`,
  );
  return rows.map(({ name }) => name);
}
