// Plays alerts of a customer in every state, by the statements of the service.

import {
  alertBudgets,
  alertLowBalances,
  finishAlertAttempt,
  listAlerts,
  setAlertBelow,
} from '../../src/callbacks/alerts.rows';
import { createWebhook } from '../../src/callbacks/webhooks.rows';
import type { Service } from '../support/service';

export async function playAlerts({ db, anAccount }: Service): Promise<void> {
  const { accountId } = await anAccount(5_000_000);
  const events = ['balance.low', 'budget.near', 'budget.reached'] as const;
  const hook = { url: 'https://hooks.example.com/alerts', max: 10, nowMs: Date.now() };
  await createWebhook(db, { accountId, events, ...hook });
  await setAlertBelow(db, accountId, 9_000_000);
  await alertLowBalances(db);
  const amounts = { limitMicros: 10_000_000, spentMicros: 9_000_000, heldMicros: 500_000 };
  const tomorrow = new Date(Date.now() + 86_400_000);
  const total = { period: 'total', beginsAnewAt: null, timeZone: 'UTC' } as const;
  const day = { period: 'day', beginsAnewAt: tomorrow, timeZone: 'UTC' } as const;
  const budgets = [day, total].map((of) => ({ accountId, keyId: null, ...amounts, ...of }));
  const create = { amountMicros: 5_000_000, currency: 'CNY', isStored: false };
  await alertBudgets(db, budgets, create);
  const [, ...sent] = await listAlerts(db, accountId, 10);
  const states = ['delivered', 'exhausted', 'stopped'] as const;
  for (const [n, state] of states.entries()) {
    const attempt = { state, status: 500, error: 'HTTP 500', nextInMs: null };
    await finishAlertAttempt(db, sent[n]?.id ?? '', attempt);
  }
}
