// Parsers of values on the command line, and look-ups of accounts and keys by their id. Each throws
// an error with the reason if the value is invalid or unknown.

import type { Knex } from 'knex';
import { type AccountRow, accountNames, findAccounts } from '../../accounts/accounts.rows';
import { parseAmount } from '../../accounts/amount.rules';
import { findKey, isWellFormedKey, type KeyRow } from '../../accounts/keys.rows';
import { CommandError, notFound } from '../command';
import type { Input } from './command-line';

/**
 * Parses `100.00`. A currency may stand before or after the number, and must be the configured
 * currency.
 */
export function amountOf(text: string, currency: string): number {
  const [, before, number = text, after] =
    /^(?:([A-Za-z]{3}) ?)?(-?[\d.]+)(?: ?([A-Za-z]{3}))?$/.exec(text.trim()) ?? [];
  const named = [before, after].filter((name) => name !== undefined);
  if (named.some((name) => name.toUpperCase() !== currency)) {
    throw new CommandError(`"${text}" is in another currency; the books are in ${currency}.`, 2);
  }
  const { micros, fault } = parseAmount(number);
  if (fault === undefined) return micros;
  throw new CommandError(`${fault}.`, 2);
}

function wrongValue(name: string, fault: string): CommandError {
  return new CommandError(`--${name} ${fault}.`, 2, { param: name });
}

export function countOf(input: Input, name: string, otherwise: number, max: number): number {
  const text = input.option(name);
  if (text === undefined) return otherwise;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw wrongValue(name, `is a whole number from 1 to ${max}, not "${text}"`);
}

export function choiceOf<const T extends string>(
  input: Input,
  name: string,
  words: readonly T[],
): T | undefined {
  const text = input.option(name);
  const word = words.find((known) => known === text);
  if (text === undefined || word) return word;
  throw wrongValue(name, `is one of ${words.join(', ')}, not "${text}"`);
}

/** The number of a row after which a page begins; undefined for the first page. */
export function numberAfter(input: Input): number | undefined {
  const text = input.option('after');
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw wrongValue('after', `is the "next" of the page before, not "${text}"`);
}

export const pageOptions = {
  limit: { value: 'N', about: 'how many (50)' },
  after: { value: 'NEXT', about: 'continues behind the page before, which ended with this' },
} as const;

/** A page of at most `limit` rows. One more row was looked for, to know whether another page follows. */
export function pageOf<Row>(
  found: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string | number,
): { readonly rows: readonly Row[]; readonly next?: string } {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return found.length > limit && last ? { rows, next: String(cursorOf(last)) } : { rows };
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `90s`, `30m`, `24h`, `7d` or `0`, and returns milliseconds. */
export function durationOf(text: string, name: string, maxDays: number): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = text === '0' ? 0 : Number(number) * unitMs[unit as keyof typeof unitMs];
  if (ms <= maxDays * unitMs.d) return ms;
  throw wrongValue(
    name,
    `is a time such as 30m, 24h or 7d, of ${maxDays} days at most, not "${text}"`,
  );
}

/** The option `expires`; null if it is not given. */
export function expiryOf(input: Input, now: number): Date | null {
  const expires = input.option('expires');
  if (expires === undefined) return null;
  const expiresAt = momentOf(expires, 'expires');
  if (expiresAt.getTime() > now) return expiresAt;
  throw new CommandError(`--expires ${expires} has passed already.`, 2, { param: 'expires' });
}

/** Parses a day, or a point in time with a UTC offset. For a day, returns its start in UTC. */
export function momentOf(text: string, name: string): Date {
  const [, year, month, day, time] =
    /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  const moment = new Date(time === undefined ? `${year}-${month}-${day}T00:00:00Z` : text);
  // `Date` reads 31 April as 1 May, so the day is compared with the length of the month.
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (!Number.isNaN(moment.getTime()) && Number(day) <= days) return moment;
  throw wrongValue(
    name,
    `is a day such as 2027-01-31 or a moment such as 2027-01-31T18:00:00Z, not "${text}"`,
  );
}

/** Parses a text that a person typed: one line of 1 to 200 characters. */
export function nameOf(text: string, name: string): string {
  const trimmed = text.trim();
  if (trimmed !== '' && trimmed.length <= 200 && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw wrongValue(name, 'is 1 to 200 characters in one line');
}

/** The account with this id, or else the only account with this name. */
export async function knownAccount(db: Knex, named: string): Promise<AccountRow> {
  const [account, ...others] = await findAccounts(db, named);
  if (!account) {
    throw notFound(`There is no account ${named}. "accounts list" shows the ids.`);
  }
  if (account.accountId === named || others.length === 0) return account;
  const ids = [account, ...others].map(({ accountId }) => accountId);
  throw new CommandError(
    `${ids.length} accounts are named ${named}: ${ids.join(', ')}. Give an id.`,
  );
}

/** The id of the account of the option `account`; undefined if it is absent. */
export async function accountIdOf(db: Knex, input: Input): Promise<string | undefined> {
  const named = input.option('account');
  return named === undefined ? undefined : (await knownAccount(db, named)).accountId;
}

/** The rows of a page with the names of their customers, which one statement reads. */
export async function withNames<Row extends { readonly accountId: string | null }>(
  db: Knex,
  rows: readonly Row[],
): Promise<readonly (Row & { readonly accountName: string | null })[]> {
  const ids = rows.flatMap(({ accountId }) => accountId ?? []);
  const names = ids.length > 0 ? await accountNames(db, ids) : new Map<string, string>();
  return rows.map((row) => ({ ...row, accountName: names.get(row.accountId ?? '') ?? null }));
}

/** The changed values of `after`, as `name old → new`, in the words of an operator's options. */
export function changedValues(before: object, after: object): string {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(([name, value]) => old.get(name) !== value);
  const text = (value: unknown) => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    return String(value ?? 'none');
  };
  const lines = changed.map(
    ([name, value]) => `${optionNameOf(name)} ${text(old.get(name))} → ${text(value)}`,
  );
  return lines.join(', ') || nothingChanged;
}

export const nothingChanged = 'nothing was changed';

const optionNameOf = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export async function knownKey(db: Knex, keyId: string): Promise<KeyRow> {
  const key = await findKey(db, keyId);
  if (key) return key;
  // An operator may have typed the key instead of its id. A key is a secret, so the error message
  // does not contain the key.
  const shown = isWellFormedKey(keyId) ? 'with this id, which is the key itself' : keyId;
  throw notFound(`There is no key ${shown}. "keys list" shows the ids.`);
}
