// The message of an alert, and how the API shows it.

import { formatMicros } from '../accounts/amount.rules';
import type { BudgetPeriod } from '../contract/vocabulary';
import type { AlertEvent } from '../contract/webhook-schema';

/** The amounts at the crossing, of the balance or of a budget. */
export type AlertData = { readonly currency: string } & (
  | { readonly availableMicros: number; readonly belowMicros: number }
  | {
      /** Null for a budget of the whole account. */
      readonly keyId: string | null;
      readonly period: BudgetPeriod;
      readonly limitMicros: number;
      readonly spentMicros: number;
      readonly heldMicros: number;
    }
);

export interface AlertMessage {
  readonly accountId: string;
  readonly event: AlertEvent;
  readonly createdAt: Date;
  readonly data: AlertData;
}

/** The body, in the form of Standard Webhooks. It is the same in each attempt. */
export function alertBody({ accountId, event, createdAt, data }: AlertMessage): string {
  return JSON.stringify({
    type: event,
    timestamp: createdAt.toISOString(),
    data: { account_id: accountId, ...shownData(data) },
  });
}

export function shownData(data: AlertData) {
  if ('belowMicros' in data) {
    const { availableMicros, belowMicros, currency } = data;
    return { available: formatMicros(availableMicros), below: formatMicros(belowMicros), currency };
  }
  const { keyId, period, limitMicros, spentMicros, heldMicros, currency } = data;
  return {
    key_id: keyId,
    period,
    limit: formatMicros(limitMicros),
    spent: formatMicros(spentMicros),
    held: formatMicros(heldMicros),
    currency,
  };
}
