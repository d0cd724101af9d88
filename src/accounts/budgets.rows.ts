// Budgets of accounts and keys. Each query sums the spent amount from the transfers, so there is no
// stored counter that could become wrong.

import type { Knex } from 'knex';
import type { BudgetPeriod } from '../contract/vocabulary';
import type { BudgetState } from './budget.rules';

interface BudgetName {
  readonly accountId: string;
  readonly keyId: string | null;
  readonly period: BudgetPeriod;
}

export async function setBudget(
  db: Knex,
  { accountId, keyId, period, limitMicros }: BudgetName & { readonly limitMicros: number },
): Promise<void> {
  await db.raw(
    `insert into budgets (account_id, key_id, period, limit_micros) values (?, ?, ?, ?)
     on conflict (account_id, key_id, period) do update set limit_micros = excluded.limit_micros`,
    [accountId, keyId, period, limitMicros],
  );
}

/** Returns true if the budget was removed, and false if there was no such budget. */
export async function removeBudget(
  db: Knex,
  { accountId, keyId, period }: BudgetName,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `delete from budgets
      where account_id = ? and key_id is not distinct from ? and period = ? returning 1`,
    [accountId, keyId, period],
  );
  return rows.length > 0;
}

/**
 * Sets the time zone in which the days and months of the account's budgets begin. Returns false if
 * PostgreSQL does not know the time zone.
 */
export async function setTimeZone(db: Knex, accountId: string, zone: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update accounts set time_zone = ?
      where id = ? and exists (select 1 from pg_timezone_names where name = ?) returning 1`,
    [zone, accountId, zone],
  );
  return rows.length > 0;
}

/**
 * Lists the budgets that apply to creates with this key. Without a key, lists all budgets of the
 * account.
 */
export async function listBudgets(
  db: Knex,
  accountId: string,
  keyId: string | null = null,
): Promise<readonly BudgetState[]> {
  return (await readBudgets(db, accountId, keyId)).budgets;
}

interface BudgetsRead {
  /**
   * The time of the read, as PostgreSQL writes it; null without budgets. The amounts belong to the
   * periods of this time.
   */
  readonly at: string | null;
  readonly budgets: readonly BudgetState[];
}

export async function readBudgets(
  db: Knex,
  accountId: string,
  keyId: string | null,
): Promise<BudgetsRead> {
  const { rows } = await listBudgetsQuery(db, accountId, keyId);
  const budgets = rows.map((row) => {
    const { at: _, ...budget } = row;
    return budget;
  });
  return { at: rows[0]?.at ?? null, budgets };
}

/**
 * The first instant at which the clocks of a zone, by default that of the account, show `midnight`.
 * Where summer time ends at one o'clock, a midnight occurs twice in a night, and PostgreSQL takes the
 * second one.
 */
export const firstInstant = (midnight: string, zone = 'time_zone'): string =>
  `case when (${midnight} at time zone ${zone} - interval '1 hour') at time zone ${zone} = ${midnight}
        then ${midnight} at time zone ${zone} - interval '1 hour'
        else ${midnight} at time zone ${zone} end`;

/**
 * The time is that of the statement, because a transaction may have waited for a lock since its
 * start. PostgreSQL reads the movements with an index-only scan of `transfers_budgets`. A test checks
 * this.
 */
export function listBudgetsQuery(
  db: Knex,
  accountId: string,
  keyId: string | null,
): Knex.Raw<{ rows: (BudgetState & { readonly at: string })[] }> {
  return db.raw(
    `select budget.account_id as "accountId", budget.key_id as "keyId", period,
            limit_micros as "limitMicros", moved.spent as "spentMicros",
            moved.held + pending.held as "heldMicros", time_zone as "timeZone",
            nullif(ends_at, 'infinity') as "beginsAnewAt",
            cast(statement_timestamp() as text) as at
       from budgets budget
       join accounts on accounts.id = budget.account_id
      cross join lateral (
        select date_trunc(case period when 'month' then period else 'day' end,
                          statement_timestamp() at time zone time_zone) as first) midnight
      cross join lateral (
        select first + case period when 'month' then interval '1 month' else interval '1 day' end
                 as next) following
      cross join lateral (
        select case period when 'total' then '-infinity' else ${firstInstant('first')} end
                 as starts_at,
               case period when 'total' then 'infinity' else ${firstInstant('next')} end
                 as ends_at) span
      cross join lateral (
        select coalesce(sum(amount) filter (where kind in ('settle', 'extra_charge')), 0)::bigint
                 as spent,
               coalesce(sum(case when kind = 'hold' then amount
                                 when kind in ('settle', 'refund') then -amount else 0 end),
                        0)::bigint as held
          from transfers
         where account_id = budget.account_id and task_created_at is not null
           and task_created_at >= starts_at and task_created_at < ends_at
           and (budget.key_id is null or key_id = budget.key_id)) moved
      cross join lateral (
        select coalesce(sum(hold_micros), 0)::bigint as held
          -- "offset 0" lets PostgreSQL find the few pending tasks first, and not all of the period.
          from (select hold_micros, key_id, created_at from tasks
                 where account_id = budget.account_id and owes is not null offset 0) unopened
         where created_at >= starts_at and created_at < ends_at
           and (budget.key_id is null or key_id = budget.key_id)) pending
      where budget.account_id = :accountId
        and (cast(:keyId as text) is null or budget.key_id is null or budget.key_id = :keyId)
      order by budget.key_id nulls first, period`,
    { accountId, keyId },
  );
}
