// What a customer has, read from the books and never from a flag, and the words for when it is not
// enough.

import type { Knex } from 'knex';
import type { Refusal } from '../contract/error';
import { formatMicros } from '../domain/money';
import { askPrepared } from './prepared';

interface Funds {
  readonly availableMicros: number;
  readonly heldMicros: number;
  readonly openTasks: number;
}

/** All zero for an account without books. */
export async function findFunds(db: Knex, accountId: string): Promise<Funds> {
  const text = `
    select available as "availableMicros", held as "heldMicros", open_tasks as "openTasks"
      from balances where account_id = $1`;
  const [row] = await askPrepared<Funds>(db, 'find_funds', text, [accountId]);
  return row ?? { availableMicros: 0, heldMicros: 0, openTasks: 0 };
}

/** Why the first door stayed shut. */
export async function refusalOf(
  db: Knex,
  asked: { readonly accountId: string; readonly amount: number; readonly currency: string },
): Promise<Refusal> {
  const { rows } = await db.raw<{ rows: { available: number; currency: string }[] }>(
    'select available, currency from balances where account_id = ?',
    [asked.accountId],
  );
  const { available = 0, currency = asked.currency } = rows[0] ?? {};
  if (currency === asked.currency) return insufficientBalance(asked.amount, available);
  return {
    code: 'insufficient_balance',
    param: '',
    message: `The books of this account are in ${currency}, but this task is priced in ${asked.currency}.`,
  };
}

/** The one sentence about too little money, for the door and for the look before it. */
export function insufficientBalance(neededMicros: number, availableMicros: number): Refusal {
  return {
    code: 'insufficient_balance',
    param: '',
    message:
      `This task needs a hold of ${formatMicros(neededMicros)}, ` +
      `but only ${formatMicros(availableMicros)} is available.`,
  };
}
