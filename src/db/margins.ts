// What the tasks of a period brought in and what their jobs cost upstream. The revenue is read from
// the ledger; the costs are kept with the jobs until the tasks are forgotten.

import type { Knex } from 'knex';
import { slowTransaction } from './silent-connections';

export interface Margin {
  /** The channel, the model or the account. */
  readonly name: string;
  /** The finished jobs of tasks that have ended: generations and super-resolutions. */
  readonly jobs: number;
  /** Those whose cost is not known. They are in no sum. */
  readonly withoutCost: number;
  /** What the other ones were charged, with the corrections of their tasks. */
  readonly chargedMicros: number;
  readonly costMicros: number;
}

export const marginKeys = ['channel', 'model', 'account'] as const;

const columns: Readonly<Record<(typeof marginKeys)[number], string>> = {
  channel: 'jobs.channel',
  model: 'tasks.model',
  account: 'tasks.account_id',
};

/** The margins of tasks that ended in the last `days`, by one of the keys. */
export async function readMargins(
  db: Knex,
  by: (typeof marginKeys)[number],
  days: number,
): Promise<readonly Margin[]> {
  return slowTransaction(db, async (trx) => {
    const { rows } = await trx.raw<{ rows: Margin[] }>(marginsBy(columns[by]), { days });
    return rows;
  });
}

// Only the tasks that still have their jobs are looked up. Without `offset` PostgreSQL may read all
// tasks. A job that succeeded although its task failed cost something too, and was charged nothing.
// The corrections of a task count with its generation.
const marginsBy = (column: string) => `
  with made as (
    select ${column} as name, cost_micros,
           (select coalesce(sum(amount), 0) from transfers
             where id in (tasks.id || ':settle' || suffix, tasks.id || ':extra_charge' || suffix))
           - (select coalesce(sum(case credit when 'available' then amount else -amount end), 0)
                from transfers
               where jobs.kind = 'generation' and task_id = tasks.id and transfers.kind = 'correction')
             as charged
      from jobs cross join lateral (
             select id, model, account_id, finished_at from tasks
              where id = jobs.task_id offset 0) tasks
     cross join lateral (
             select case kind when 'generation' then '' else '_' || kind end as suffix) of_kind
     where finished_at > now() - make_interval(days => :days) and jobs.status = 'succeeded'
  )
  select name, count(*)::int as jobs,
         count(*) filter (where cost_micros is null)::int as "withoutCost",
         coalesce(sum(charged) filter (where cost_micros is not null), 0)::float8 as "chargedMicros",
         coalesce(sum(cost_micros), 0)::float8 as "costMicros"
    from made group by name order by name`;
