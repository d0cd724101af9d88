// The refusals of a task whose account is disabled or cannot pay.

import type { Knex } from 'knex';
import type { Refusal } from '../contract/error';
import type { AskedAmount } from '../planning/pricing.rules';
import { formatMicros } from './amount.rules';

export const accountDisabled: Refusal = {
  code: 'account_disabled',
  param: '',
  message: 'This account is disabled.',
};

/**
 * The reason why a task could not be opened: a disabled account, another currency, or too little
 * money. Null if none of these reasons applies any more.
 */
export async function refusalOf(
  db: Knex,
  asked: AskedAmount & { readonly accountId: string },
): Promise<Refusal | null> {
  const { rows } = await db.raw<{
    rows: { available: number; currency: string; disabled: boolean }[];
  }>(
    `select available, currency, disabled_at is not null as disabled
       from balances join accounts on accounts.id = account_id
      where account_id = ?`,
    [asked.accountId],
  );
  const { available = 0, currency = asked.currency, disabled = false } = rows[0] ?? {};
  if (disabled) return accountDisabled;
  if (currency === asked.currency && available >= asked.amount) return null;
  return insufficientBalance(asked, { currency, availableMicros: available, pendingMicros: 0 });
}

/**
 * The refusal for too little money or another currency. It is used both when a task is stored and
 * when it is opened.
 */
export function insufficientBalance(
  asked: AskedAmount,
  has: {
    readonly currency: string;
    readonly availableMicros: number;
    readonly pendingMicros: number;
  },
): Refusal {
  const { availableMicros, pendingMicros, currency } = has;
  const pending =
    pendingMicros > 0
      ? `, of which pending tasks need ${formatMicros(pendingMicros)} ${currency}`
      : '';
  const message =
    currency === asked.currency
      ? `This task needs a hold of ${formatMicros(asked.amount)} ${currency}, ` +
        `but only ${formatMicros(availableMicros)} ${currency} is available${pending}.`
      : `The books of this account are in ${currency}, but this task is priced in ${asked.currency}.`;
  return { code: 'insufficient_balance', param: '', message };
}
