// Budgets: how much an account, or one of its keys, may spend per day, per month or in total.

import type { Refusal } from '../contract/error';
import type { BudgetPeriod } from '../contract/vocabulary';
import type { AskedAmount } from '../planning/pricing.rules';
import { formatMicros } from './amount.rules';

/**
 * A budget and its amounts in the current period. A task counts in the period in which it was
 * created.
 */
export interface BudgetState {
  readonly accountId: string;
  /** Null for a budget of the whole account. */
  readonly keyId: string | null;
  readonly period: BudgetPeriod;
  readonly limitMicros: number;
  readonly spentMicros: number;
  /**
   * The holds of all unfinished tasks. A pending task counts too, although its hold is not in the
   * ledger yet.
   */
  readonly heldMicros: number;
  readonly timeZone: string;
  /** The start of the next period; null if the budget has no period (`total`). */
  readonly beginsAnewAt: Date | null;
}

export function hasRoom(
  { limitMicros, spentMicros, heldMicros }: BudgetState,
  holdMicros: number,
): boolean {
  return spentMicros + heldMicros + holdMicros <= limitMicros;
}

/** True if at least 80% of the limit is spent or held, or would be with this hold. */
export function isNear(
  { limitMicros, spentMicros, heldMicros }: BudgetState,
  holdMicros: number,
): boolean {
  const used = spentMicros + heldMicros + holdMicros;
  return used > 0 && used >= limitMicros * 0.8;
}

export function budgetExceeded(budget: BudgetState, asked: AskedAmount): Refusal {
  const { keyId, period, timeZone, beginsAnewAt } = budget;
  const money = (micros: number) => `${formatMicros(micros)} ${asked.currency}`;
  const whose = keyId === null ? 'this account' : `the key ${keyId}`;
  const anew = beginsAnewAt
    ? `It begins anew at ${beginsAnewAt.toISOString().slice(0, 19)}Z (time zone ${timeZone}).`
    : 'It does not begin anew.';
  const message =
    `This task needs a hold of ${money(asked.amount)}, but the ${period} budget of ${whose} is ` +
    `${money(budget.limitMicros)}, of which ${money(budget.spentMicros)} is spent and ` +
    `${money(budget.heldMicros)} is held. ${anew}`;
  return { code: 'budget_exceeded', param: '', message };
}
