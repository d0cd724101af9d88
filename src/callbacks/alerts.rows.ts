// Alerts to customers in the database: the crossings of the balance and of budgets, and their messages.
// An alert is stored only if a webhook of the account takes its event. Its row is the timer of its
// attempts (activities/owed/send-alerts.ts), so an alert has no workflow.

import type { Knex } from 'knex';
import { type BudgetState, hasRoom, isNear } from '../accounts/budget.rules';
import type { CallbackState } from '../contract/vocabulary';
import type { AlertEvent } from '../contract/webhook-schema';
import { newAlertId } from '../database/ids';
import { claimInTurns } from '../owed/claim.rows';
import type { AlertData } from './alert.rules';
import { webhookFor } from './receiver.rows';

/**
 * Stores the alerts of these budgets, which a create has just read. Each crossing is announced once in
 * its period, and again if the limit changes.
 */
export async function alertBudgets(
  db: Knex,
  budgets: readonly BudgetState[],
  create: { readonly amountMicros: number; readonly currency: string; readonly isStored: boolean },
): Promise<void> {
  const { isStored, currency } = create;
  const addedMicros = isStored ? create.amountMicros : 0;
  const crossed = budgets.flatMap((budget) => [
    ...(isStored || hasRoom(budget, create.amountMicros)
      ? []
      : [{ event: 'budget.reached', budget } as const]),
    ...(isNear(budget, addedMicros) ? [{ event: 'budget.near', budget } as const] : []),
  ]);
  // Most creates cross nothing, and need no statement.
  if (crossed.length === 0) return;
  const wanted = crossed.map(({ event, budget }) => ({
    id: newAlertId(Date.now()),
    account_id: budget.accountId,
    event,
    subject: `${budget.keyId ?? 'all'} ${budget.period} ${budget.limitMicros}`,
    until: budget.beginsAnewAt?.toISOString() ?? 'infinity',
    data: budgetData(budget, addedMicros, currency),
  }));
  await db.raw(
    `insert into alerts (id, account_id, event, subject, until, data)
     select id, account_id, event, subject, until, data
       from json_to_recordset(cast(? as json)) as wanted (
              id text, account_id text, event text, subject text, until timestamptz, data json)
      where exists (${webhookFor('wanted.account_id', 'wanted.event')})
     on conflict do nothing`,
    [JSON.stringify(wanted)],
  );
}

function budgetData(budget: BudgetState, addedMicros: number, currency: string): AlertData {
  const { keyId, period, limitMicros, spentMicros, heldMicros } = budget;
  return {
    currency,
    keyId,
    period,
    limitMicros,
    spentMicros,
    heldMicros: heldMicros + addedMicros,
  };
}

/**
 * Stores an alert for each account whose available amount is below the limit of its alerts, unless
 * that was announced. A balance that is a tenth above the limit, or another limit, ends the crossing:
 * each hold and refund near the limit would otherwise be another one.
 */
export async function alertLowBalances(db: Knex): Promise<void> {
  await db.raw(
    `with standing as (
       select accounts.id, currency, available, alert_below
         from accounts join balances on balances.account_id = accounts.id
        where alert_below is not null and disabled_at is null
     ), back as (
       update alerts set until = now()
        where event = 'balance.low' and until = 'infinity'
          and not exists (select from standing
                           where standing.id = account_id
                             and available < alert_below + alert_below / 10
                             and subject = cast(alert_below as text))
     )
     insert into alerts (id, account_id, event, subject, until, data)
     select 'alert_' || replace(cast(gen_random_uuid() as text), '-', ''), standing.id, 'balance.low',
            cast(alert_below as text), 'infinity',
            json_build_object('currency', currency, 'availableMicros', available,
                              'belowMicros', alert_below)
       from standing
      where available < alert_below
        and exists (${webhookFor('standing.id', `'balance.low'`)})
     on conflict do nothing`,
  );
}

/** Deletes alerts whose crossing ended so many days ago. */
export async function forgetAlerts(db: Knex, keptDays: number): Promise<void> {
  await db.raw(
    `delete from alerts where state <> 'pending' and until < now() - make_interval(days => ?)`,
    [keptDays],
  );
}

export interface Alert {
  readonly id: string;
  readonly accountId: string;
  readonly event: AlertEvent;
  readonly createdAt: Date;
  readonly data: AlertData;
}

const columns = `id, account_id as "accountId", event, created_at as "createdAt", data`;

export interface DueAlert extends Alert {
  readonly attempts: number;
  /** The webhook that takes the event now; null if there is none any more. */
  readonly url: string | null;
  readonly secret: string | null;
}

/** The lease of an attempt, which takes at most 15 seconds. */
export const claimAlerts = (db: Knex) =>
  claimInTurns<DueAlert>(db, {
    table: 'alerts',
    key: 'id',
    owing: `state = 'pending'`,
    lease: `interval '1 minute'`,
    columns: `claimed.id, claimed.account_id as "accountId", claimed.event,
              claimed.created_at as "createdAt", claimed.data, claimed.attempts, webhook.url,
              webhook.secret`,
    joined: `left join lateral (${webhookFor('claimed.account_id', 'claimed.event')}) newest on true
      left join webhooks webhook on webhook.id = newest.id`,
  });

export interface AlertAttempt {
  readonly state: CallbackState;
  readonly status: number | null;
  readonly error: string | null;
  /** Null after the last attempt. */
  readonly nextInMs: number | null;
}

export async function finishAlertAttempt(
  db: Knex,
  id: string,
  { state, status, error, nextInMs }: AlertAttempt,
): Promise<void> {
  await db.raw(
    `update alerts
        set state = :state, status = :status, error = :error, attempts = attempts + 1,
            due_at = now() + coalesce(cast(:nextInMs as float8), 0) * interval '1 millisecond'
      where id = :id and state = 'pending'`,
    { id, state, status, error, nextInMs },
  );
}

/** An alert whose receiver is busy is due again after this time. No attempt is counted. */
export async function postponeAlert(db: Knex, id: string, ms: number): Promise<void> {
  await db.raw(`update alerts set due_at = now() + ? * interval '1 millisecond' where id = ?`, [
    ms,
    id,
  ]);
}

export interface ShownAlert extends Alert {
  readonly state: CallbackState;
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string | null;
}

/** The newest alerts of an account. */
export async function listAlerts(
  db: Knex,
  accountId: string,
  limit: number,
): Promise<readonly ShownAlert[]> {
  const { rows } = await db.raw<{ rows: ShownAlert[] }>(
    `select ${columns}, state, attempts, status, error
       from alerts where account_id = ? order by created_at desc, id desc limit ?`,
    [accountId, limit],
  );
  return rows;
}

/** Null: the balance is never announced. */
export async function findAlertBelow(db: Knex, accountId: string): Promise<number | null> {
  const { rows } = await db.raw<{ rows: { below: number | null }[] }>(
    'select alert_below as below from accounts where id = ?',
    [accountId],
  );
  return rows[0]?.below ?? null;
}

export async function setAlertBelow(
  db: Knex,
  accountId: string,
  belowMicros: number | null,
): Promise<void> {
  await db.raw('update accounts set alert_below = ? where id = ?', [belowMicros, accountId]);
}
