// Reports of usage: the rows of `usage_days`, and the movements that they do not contain yet, added
// in one snapshot. So no movement counts twice, and a report is as new as the ledger.

import type { Knex } from 'knex';
import { firstInstant } from '../accounts/budgets.rows';
import { slowTransaction } from '../database/silent-connections';
import {
  lastNumberBefore,
  usageFigures,
  usageNames,
  usageParts,
  usageSums,
} from './usage-parts.rows';

/** What a row of a report may be about, with its column. */
const dimensions = {
  day: `to_char(day, 'YYYY-MM-DD')`,
  week: `to_char(date_trunc('week', day), 'YYYY-MM-DD')`,
  month: `to_char(day, 'YYYY-MM')`,
  account: 'account_id',
  model: 'model',
  key: 'key_id',
  channel: 'channel',
  kind: 'kind',
} as const;

export type Dimension = keyof typeof dimensions;
export const usageDimensions = Object.keys(dimensions) as Dimension[];

/** The days of a report, both included, as `2027-01-31`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

export interface UsageAsked extends Days {
  readonly by: readonly Dimension[];
  readonly account?: string | undefined;
  /** Only these accounts. */
  readonly accounts?: readonly string[];
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  readonly channel?: string | undefined;
  readonly kind?: string | undefined;
}

export interface Usage {
  /** Ended tasks, and those that failed. */
  readonly tasks: number;
  readonly failed: number;
  /** The length of the videos. */
  readonly seconds: number;
  readonly chargedMicros: number;
  /** What corrections gave back; below zero if they took more. */
  readonly correctedMicros: number;
  /** Jobs that made a video, or ran when their task failed. */
  readonly jobs: number;
  /** Those whose cost is not known. */
  readonly withoutCost: number;
  /**
   * What the jobs whose cost is known brought in and cost; null if there is none. A row that only has
   * corrections of such jobs has no cost, so that the revenues of rows add up to their total.
   */
  readonly known: { readonly revenueMicros: number; readonly costMicros: number | null } | null;
  /** The cost of videos whose task failed. */
  readonly lostCostMicros: number;
}

export interface UsageRow extends Usage {
  readonly of: Readonly<Partial<Record<Dimension, string>>>;
}

export interface UsageReport {
  /** The time zone of the days. */
  readonly zone: string;
  readonly rows: readonly UsageRow[];
  readonly total: Usage;
}

/** More rows than a table can show; a report that has more is refused. */
export const usageRowsMax = 10_000;

/** Reads a report in one snapshot. Returns null if it has more rows than `usageRowsMax`. */
export function readUsage(db: Knex, asked: UsageAsked): Promise<UsageReport | null> {
  return inSnapshot(db, (trx) => usageIn(trx, asked));
}

/** The same for operators, whose reports may take minutes. */
export function readUsageSlowly(db: Knex, asked: UsageAsked): Promise<UsageReport | null> {
  return slowTransaction(db, (trx) => usageIn(trx, asked), snapshot);
}

export const snapshot = { isolationLevel: 'repeatable read', readOnly: true } as const;

export function inSnapshot<T>(db: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  return db.transaction(work, snapshot);
}

/** Reads a report in the snapshot of this transaction. */
export async function usageIn(trx: Knex, asked: UsageAsked): Promise<UsageReport | null> {
  const span = await spanOf(trx, asked);
  const filters = (['account', 'model', 'key', 'channel', 'kind'] as const).filter(
    (name) => asked[name] !== undefined,
  );
  const among = asked.accounts ? ' and account_id = any(:accounts)' : '';
  const where = filters.map((name) => ` and ${dimensions[name]} = :${name}`).join('') + among;
  const names = asked.by.map((name) => `${dimensions[name]} as "${name}"`);
  const { rows } = await trx.raw<{ rows: RawRow[] }>(
    `with movement as (
       select * from transfers
        where created_at >= cast(:tail as timestamptz) and created_at < cast(:end as timestamptz)
          and kind <> 'hold'
          ${asked.account === undefined ? among : ofAccount}
     ), ${usageParts()}, counted as (
       select ${usageNames}, ${usageFigures.join(', ')} from usage_days
        where day between cast(:from as date) and cast(:to as date)${where}
        union all
       select ${usageNames}, ${usageFigures.join(', ')} from part where true${where}
     )
     select ${[...names, usageSums].join(', ')} from counted
     ${
       names.length > 0
         ? `group by ${names.map((_, at) => at + 1).join(', ')}
     order by ${names.map((_, at) => at + 1).join(', ')}`
         : ''
     }
     limit ${usageRowsMax + 1}`,
    { ...asked, accounts: [...(asked.accounts ?? [])], ...span, accountId: asked.account ?? '' },
  );
  if (rows.length > usageRowsMax) return null;
  const shown = rows.map((row) => ({
    of: Object.fromEntries(asked.by.map((name) => [name, row[name] as string])),
    ...usageOf(row),
  }));
  return { zone: span.zone, rows: shown, total: usageOf(sumOf(rows)) };
}

// The movements of one account are read by their numbers, so that a customer's report does not read
// those of others.
const ofAccount = `and account_id = :accountId
  and seq > ${lastNumberBefore('cast(:tail as timestamptz)')}`;

interface Span {
  readonly zone: string;
  /** The movements from `tail` to `end` are not in `usage_days`. As text, to the microsecond. */
  readonly tail: string;
  readonly end: string;
}

async function spanOf(trx: Knex, { from, to }: Days): Promise<Span> {
  const { rows } = await trx.raw<{ rows: Span[] }>(
    `select zone, cast(greatest(until, ${firstInstant('first', 'zone')}) as text) as tail,
            cast(${firstInstant('after_last', 'zone')} as text) as end
       from usage_state
      cross join (select cast(:from as timestamp) as first,
                         cast(:to as timestamp) + interval '1 day' as after_last) days`,
    { from, to },
  );
  const [span] = rows;
  if (!span) throw new Error('usage_state has one row.');
  return span;
}

/** The last `count` days, today included, in the time zone of the reports. */
export async function lastDays(db: Knex, count: number): Promise<Days> {
  const { rows } = await db.raw<{ rows: Days[] }>(
    `select to_char(today - cast(? as integer) + 1, 'YYYY-MM-DD') as from,
            to_char(today, 'YYYY-MM-DD') as to
       from (select cast(now() at time zone zone as date) as today from usage_state) dates`,
    [count],
  );
  const [days] = rows;
  if (!days) throw new Error('usage_state has one row.');
  return days;
}

type Figure = (typeof usageFigures)[number];
type RawRow = Readonly<Record<Figure, number> & Partial<Record<Dimension, string>>>;

function sumOf(rows: readonly RawRow[]): Readonly<Record<Figure, number>> {
  const sums = Object.fromEntries(usageFigures.map((figure) => [figure, 0])) as Record<
    Figure,
    number
  >;
  for (const row of rows) for (const figure of usageFigures) sums[figure] += row[figure];
  return sums;
}

function usageOf(row: Readonly<Record<Figure, number>>): Usage {
  const revenue = row.charged - row.corrected;
  const isKnown = row.jobs > row.without_cost;
  return {
    tasks: row.tasks,
    failed: row.failed,
    seconds: row.milliseconds / 1000,
    chargedMicros: row.charged,
    correctedMicros: row.corrected,
    jobs: row.jobs,
    withoutCost: row.without_cost,
    known:
      isKnown || revenue !== row.revenue_without_cost
        ? {
            revenueMicros: revenue - row.revenue_without_cost,
            costMicros: isKnown ? row.cost : null,
          }
        : null,
    lostCostMicros: row.lost_cost,
  };
}
