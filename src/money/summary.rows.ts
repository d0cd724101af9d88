// The summary of a month: what a customer had, got, and was charged. Its balance is the available and
// the held amount together, so a hold at the end of a month changes nothing. The balances come from
// the movements, and the lines from the usage, so the sum of both is a check.

import type { Knex } from 'knex';
import { firstInstant } from '../accounts/budgets.rows';
import { inSnapshot, type UsageReport, usageIn } from './usage.rows';
import { firstNumberAfter, lastNumberBefore } from './usage-parts.rows';

export interface MonthSummary {
  /** The time zone in which the month begins. */
  readonly zone: string;
  readonly isOver: boolean;
  readonly currency: string;
  readonly openingMicros: number;
  readonly creditedMicros: number;
  /** What corrections gave; below zero if they took more. */
  readonly correctedMicros: number;
  readonly closingMicros: number;
  /** By model and key. */
  readonly usage: UsageReport;
}

/** `month` is a month such as `2027-01`. Null: the month has not begun, or has too many lines. */
export function readSummary(
  db: Knex,
  accountId: string,
  month: string,
): Promise<MonthSummary | null> {
  return inSnapshot(db, (trx) => summaryIn(trx, accountId, month));
}

/** Reads a summary in the snapshot of this transaction. */
export async function summaryIn(
  trx: Knex,
  accountId: string,
  month: string,
): Promise<MonthSummary | null> {
  const span = await monthOf(trx, month);
  if (!span) return null;
  const { from, to, begins, ends, ...shown } = span;
  const by = ['model', 'key'] as const;
  const usage = await usageIn(trx, { from, to, by, account: accountId });
  if (!usage) return null;
  return {
    ...shown,
    ...(await givenIn(trx, accountId, begins, ends)),
    openingMicros: await ownedBefore(trx, accountId, begins),
    closingMicros: await ownedBefore(trx, accountId, ends),
    usage,
  };
}

interface Month {
  readonly zone: string;
  readonly isOver: boolean;
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  /** As text, to the microsecond. */
  readonly begins: string;
  readonly ends: string;
}

async function monthOf(trx: Knex, month: string): Promise<Month | undefined> {
  const { rows } = await trx.raw<{ rows: (Month & { hasBegun: boolean })[] }>(
    `select zone, to_char(first, 'YYYY-MM-DD') as from,
            to_char(next - interval '1 day', 'YYYY-MM-DD') as to, begins <= now() as "hasBegun",
            -- The last movements of a month may be stored a moment later.
            ends <= now() - interval '1 minute' as "isOver", cast(begins as text) as begins, cast(ends as text) as ends
       from usage_state
      cross join (select cast(:first as timestamp) as first,
                         cast(:first as timestamp) + interval '1 month' as next) days
      cross join lateral (select ${firstInstant('first', 'zone')} as begins,
                                 ${firstInstant('next', 'zone')} as ends) span`,
    { first: `${month}-01` },
  );
  const [found] = rows;
  if (!found?.hasBegun) return undefined;
  const { hasBegun: _, ...span } = found;
  return span;
}

async function givenIn(trx: Knex, accountId: string, begins: string, ends: string) {
  const { rows } = await trx.raw<{
    rows: { currency: string; creditedMicros: number; correctedMicros: number }[];
  }>(
    `select currency, coalesce(sum(amount) filter (where kind = 'credit'), 0)::bigint
              as "creditedMicros",
            coalesce(sum(case credit when 'available' then amount else -amount end)
                       filter (where kind = 'correction'), 0)::bigint as "correctedMicros"
       from balances
       left join transfers on transfers.account_id = balances.account_id
             and task_created_at is null and created_at >= :begins and created_at < :ends
      where balances.account_id = :accountId group by currency`,
    { accountId, begins, ends },
  );
  const [given] = rows;
  if (!given) throw new Error(`${accountId} has books.`);
  return given;
}

/** What the account owned, available and held, just before this time. */
async function ownedBefore(trx: Knex, accountId: string, time: string): Promise<number> {
  const at = 'cast(:time as timestamptz)';
  const { rows } = await trx.raw<{ rows: { owned: number }[] }>(
    `with last (number) as (select ${lastNumberBefore(at)}),
          bound (number) as (select ${firstNumberAfter(at)})
     select coalesce((select available_after + held_after from transfers
                       where account_id = :accountId and seq = (select number from last)), 0)
            + coalesce((select sum(case when kind in ('credit', 'correction')
                                        then case credit when 'available' then amount else -amount end
                                        when kind in ('settle', 'extra_charge') then -amount else 0 end)
                          from transfers
                         where account_id = :accountId and created_at < ${at}
                           and seq > (select number from last)
                           and seq <= (select number from bound) + 1), 0) as owned`,
    { accountId, time },
  );
  return Number(rows[0]?.owned ?? 0);
}
