// Proves the books in one run, on one unmoving view of them: balances are the sums of their movements, numbers have no
// gaps, every final task has exactly its movements, no hold outlives its task. PostgreSQL does the sums, so a million
// movements need no memory here.

import type { Knex } from 'knex';

export interface Audit {
  readonly accounts: number;
  readonly transfers: number;
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly check: string;
  readonly subject: string;
  readonly found: string;
}

// More than this many of one kind say the same as this many.
const shownMax = 100;

export async function audit(db: Knex): Promise<Audit> {
  return db.transaction(
    async (trx) => {
      await trx.raw(`set local statement_timeout = '10min'`);
      // Sums over everything: worth sorting in memory once.
      await trx.raw(`set local work_mem = '64MB'`);
      const differences: Difference[] = [];
      for (const [check, sql] of Object.entries(checks)) {
        const { rows } = await trx.raw<{ rows: { subject: string; found: string }[] }>(
          `${sql} limit ${shownMax}`,
        );
        differences.push(...rows.map((row) => ({ check, ...row })));
      }
      const { rows } = await trx.raw<{ rows: { accounts: number; transfers: number }[] }>(
        `select (select count(*) from balances) as accounts,
                (select count(*) from transfers) as transfers`,
      );
      return { accounts: 0, transfers: 0, ...rows[0], differences };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

const checks: Readonly<Record<string, string>> = {
  'balances are the sums of their transfers': `
    with sums as (
      select account_id, count(*) as movements, max(seq) as last_seq,
             sum(case when credit = 'available' then amount
                      when debit = 'available' then -amount else 0 end) as available,
             sum(case when credit = 'held' then amount
                      when debit = 'held' then -amount else 0 end) as held
        from transfers group by account_id
    )
    select account_id as subject,
           format('kept %s / %s, summed %s / %s', balances.available, balances.held,
                  coalesce(sums.available, 0), coalesce(sums.held, 0)) as found
      from balances left join sums using (account_id)
     where balances.available <> coalesce(sums.available, 0)
        or balances.held <> coalesce(sums.held, 0)`,
  'numbers have no gap': `
    select account_id as subject,
           format('%s movements, the last is number %s, %s are counted',
                  count(transfers.id), max(seq), last_seq) as found
      from balances left join transfers using (account_id)
     group by account_id, last_seq
    having count(transfers.id) <> last_seq or coalesce(max(seq), 0) <> last_seq`,
  'balances after each movement follow from it': `
    select id as subject, format('%s after %s', available_after, before) as found
      from (select id, available_after,
                   lag(available_after, 1, 0) over (partition by account_id order by seq) as before,
                   case when credit = 'available' then amount
                        when debit = 'available' then -amount else 0 end as change
              from transfers) step
     where available_after <> before + change`,
  'every final task returned or spent exactly its hold': `
    select tasks.id as subject,
           format('held %s, settled or returned %s', moved.held, moved.released) as found
      from tasks
      join (select task_id, sum(amount) filter (where kind = 'hold') as held,
                   sum(amount) filter (where debit = 'held') as released
              from transfers where task_id is not null group by task_id) moved
        on moved.task_id = tasks.id
     where finished_at is not null and moved.held is distinct from moved.released`,
  'a failed task is charged nothing': `
    select distinct tasks.id as subject, transfers.kind as found
      from tasks join transfers on task_id = tasks.id
     where tasks.status = 'failed' and transfers.kind in ('settle', 'extra_charge')`,
  'a final task was charged what it shows': `
    select tasks.id as subject,
           format('shown %s, moved %s', object -> 'billing' ->> 'charged', moved.charged) as found
      from tasks
      join (select task_id, coalesce(sum(amount) filter
                     (where kind in ('settle', 'extra_charge')), 0) as charged
              from transfers where task_id is not null group by task_id) moved
        on moved.task_id = tasks.id
     where finished_at is not null
       and (object -> 'billing' ->> 'charged')::numeric * 1000000 <> moved.charged`,
  'no hold outlives its task, no task is open without one': `
    select balances.account_id as subject,
           format('held %s for %s tasks, %s are open', held, open_tasks, coalesce(open.tasks, 0))
             as found
      from balances
      left join (select account_id, count(*) as tasks from tasks where finished_at is null
                  group by account_id) open using (account_id)
     where open_tasks <> coalesce(open.tasks, 0) or (open_tasks = 0 and held <> 0)`,
  'every movement of a task belongs to one': `
    select transfers.id as subject, 'its task is missing' as found
      from transfers left join tasks on tasks.id = task_id
     where task_id is not null and tasks.id is null`,
};
