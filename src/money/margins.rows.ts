// What the tasks of a period brought in and what their jobs cost upstream. The revenue is read from
// the ledger; the costs are kept with the jobs until the tasks are forgotten.

import type { Knex } from 'knex';
import { slowTransaction } from '../database/silent-connections';

export interface Margin {
  /** The channel, the model or the account. */
  readonly name: string;
  /** The finished jobs of tasks that have ended: generations and super-resolutions. */
  readonly jobs: number;
  /** Those whose cost is not known. */
  readonly withoutCost: number;
  /** What all jobs were charged, with the corrections of their tasks. */
  readonly chargedMicros: number;
  /** What the jobs whose cost is known were charged, and what they cost; null without such a job. */
  readonly known: { readonly chargedMicros: number; readonly costMicros: number } | null;
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

// A task ends within three days of its create. The others are for an outage in which tasks end late.
const createdDaysBefore = 10;

// `offset` makes PostgreSQL read the tasks of each account by the index on their creation, and then
// their jobs. A job that succeeded although its task failed cost something too, and was charged
// nothing. The corrections of a task count with its generation.
const marginsBy = (column: string) => `
  with made as (
    select ${column} as name, cost_micros,
           (select coalesce(sum(amount), 0) from transfers
             where id in (tasks.id || ':settle' || suffix, tasks.id || ':extra_charge' || suffix))
           - (select coalesce(sum(case credit when 'available' then amount else -amount end), 0)
                from transfers
               where jobs.kind = 'generation' and task_id = tasks.id and transfers.kind = 'correction')
             as charged
      from accounts cross join lateral (
             select id, model, account_id from tasks
              where account_id = accounts.id
                and created_at > now() - make_interval(days => :days + ${createdDaysBefore})
                and finished_at > now() - make_interval(days => :days) offset 0) tasks
     cross join lateral (
             select kind, channel, cost_micros from jobs
              where task_id = tasks.id and status = 'succeeded' offset 0) jobs
     cross join lateral (
             select case kind when 'generation' then '' else '_' || kind end as suffix) of_kind
  )
  select name, count(*)::int as jobs,
         count(*) filter (where cost_micros is null)::int as "withoutCost",
         sum(charged)::float8 as "chargedMicros",
         case when count(cost_micros) > 0 then json_build_object(
           'chargedMicros', sum(charged) filter (where cost_micros is not null),
           'costMicros', sum(cost_micros)) end as known
    from made group by name order by name`;
