// What operators must see at once: counts of what is late, given up or not agreed. Each part reads an index
// of few rows, or a table with one row an account or a channel.

import type { Knex } from 'knex';
import { isBelowAlert } from '../accounts/accounts.rows';
import { taskSets } from './list.rows';

export interface AttentionFacts {
  readonly openTasks: number;
  readonly waitingJobs: number;
  readonly heldMicros: number;
  readonly pendingTasks: number;
  readonly pendingSeconds: number;
  /** Open tasks past their deadline, and the time of grace of the reconciler. */
  readonly overdueTasks: number;
  /** Creates that were not answered and are searched for at the provider. */
  readonly unansweredJobs: number;
  /** Ended tasks with a job that could not be cancelled. */
  readonly uncancelledTasks: number;
  /** By channel: the cost of videos whose task failed, in the last seven days of the reports. */
  readonly lost: readonly { readonly channel: string; readonly micros: number }[];
  readonly exhaustedCallbacks: number;
  readonly accountsBelowZero: number;
  /** Customers who have less than the limit of their own alerts. */
  readonly accountsLow: number;
  readonly unstoredTasks: number;
  readonly reconcilerSeconds: number;
  /** Null if no audit has run yet. */
  readonly auditSeconds: number | null;
  /** True if the last audit found a difference. */
  readonly booksDiffer: boolean;
  readonly usageSeconds: number;
}

const age = (time: string) => `extract(epoch from now() - ${time})::float8`;

export async function readAttention(db: Knex): Promise<AttentionFacts> {
  const { rows } = await db.raw<{ rows: AttentionFacts[] }>(
    `with pending as (
       select count(*)::int as tasks, min(created_at) as oldest from tasks where ${taskSets.unopened}
     ), sums as (
       select coalesce(sum(open_tasks), 0)::int as open, coalesce(sum(held), 0)::float8 as held,
              count(*) filter (where available < 0)::int as below
         from balances
     ), lost as (
       select channel, sum(lost_cost)::float8 as micros
         from usage_days
        where day > (select cast(now() at time zone zone as date) - 7 from usage_state)
        group by channel having sum(lost_cost) > 0
     )
     select sums.open as "openTasks", sums.held as "heldMicros", sums.below as "accountsBelowZero",
            (select count(*)::int from accounts join balances on balances.account_id = accounts.id
              where ${isBelowAlert}) as "accountsLow",
            pending.tasks as "pendingTasks", coalesce(${age('oldest')}, 0) as "pendingSeconds",
            (select count(*)::int from jobs where state = 'waiting') as "waitingJobs",
            (select count(*)::int from tasks where ${taskSets.overdue}) as "overdueTasks",
            (select count(*)::int from jobs where state = 'sending' and searched_since is not null)
              as "unansweredJobs",
            (select count(*)::int from tasks where ${taskSets.uncancelled}) as "uncancelledTasks",
            coalesce((select json_agg(lost order by micros desc) from lost), '[]') as lost,
            (select count(*)::int from callbacks
              where state = 'exhausted' and changed_at > now() - interval '1 day')
              as "exhaustedCallbacks",
            (select count(*)::int from tasks where ${taskSets.unstored}) as "unstoredTasks",
            (select ${age('ran_at')} from loops where kind = 'reconciler') as "reconcilerSeconds",
            (select ${age('ran_at')} from loops where kind = 'audit') as "auditSeconds",
            coalesce((select agreed_until is null or ran_at - agreed_until > interval '1 hour'
                        from loops where kind = 'audit'), false) as "booksDiffer",
            (select ${age('until')} from usage_state) as "usageSeconds"
       from sums cross join pending`,
  );
  const [facts] = rows;
  if (!facts) throw new Error('A sum has one row.');
  return facts;
}
