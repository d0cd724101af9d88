// The SQL of the audit. Each statement returns differences: the broken rule, the account, task or
// movement that breaks it, and the values found. Rules that the schema enforces are checked too,
// because an operator can change a schema by hand.

import { usageNames, usageParts, usageSums } from './usage-parts.rows';

// The sums with which each account of the batch begins: those of its last movement before `since`,
// or zero. The movements after it are checked. One older movement is read again: if the last one was
// removed, the task of both shows it.
const start = `
  select account_id, coalesce(last.seq, 0) as seq, coalesce(last.available, 0) as available,
         coalesce(last.held, 0) as held
    from unnest(cast(:accounts as text[])) as batch (account_id)
    left join lateral (
      select seq, available_after as available, held_after as held from transfers
       where cast(:since as timestamptz) is not null
         and transfers.account_id = batch.account_id and created_at < :since
       order by seq desc offset 1 limit 1) last on true`;

const movement = `
  select transfers.* from start
    join transfers on transfers.account_id = start.account_id and transfers.seq > start.seq`;

// Of a task with movements to check, the hold may be older. The movements that closed the task are
// at most three and next to each other, so two of them may be older too. A correction comes at any
// time later, so the movements of its task are looked up by their ids.
const withOlder = `
  select * from movement where task_id is not null
   union
  select hold.* from movement join transfers hold on hold.id = movement.task_id || ':hold'
   union
  select older.* from start
    join transfers older on older.account_id = start.account_id
                        and older.seq between start.seq - 2 and start.seq
   where older.task_id in (select task_id from movement)
   union
  select older.* from movement
   cross join unnest(array['settle', 'settle_super_resolution', 'extra_charge',
                           'extra_charge_super_resolution', 'refund']) as suffix
    join transfers older on older.id = movement.task_id || ':' || suffix
   where movement.kind = 'correction'`;

// The changes that a movement makes to the available balance and to the held balance.
const freely = `case when credit = 'available' then amount
                     when debit = 'available' then -amount else 0 end`;
const aside = `case when credit = 'held' then amount
                    when debit = 'held' then -amount else 0 end`;

// Each movement has a positive amount. The two ledger accounts of a movement differ, and its kind
// allows both of them.
const eachMovement = `
  select 'a movement gives to one account what it takes from another' as rule, id as subject,
         format('%s of %s from %s to %s', kind, amount, debit, credit) as found
    from movement
   where amount < 1
      or (kind, debit) not in (('hold', 'available'), ('settle', 'held'), ('refund', 'held'),
                               ('extra_charge', 'available'), ('credit', 'credits'),
                               ('correction', 'available'), ('correction', 'corrections'))
      or (kind, credit) not in (('hold', 'held'), ('refund', 'available'), ('credit', 'available'),
                                ('settle', 'revenue_generation'),
                                ('settle', 'revenue_super_resolution'),
                                ('extra_charge', 'revenue_generation'),
                                ('extra_charge', 'revenue_super_resolution'),
                                ('correction', 'available'), ('correction', 'corrections'))
      or debit = credit`;

// For each account: the stored balances equal the sums of the movements. The numbers of the
// movements have no gaps. The held balance equals the holds of the open tasks, and the pending sums
// are those of the pending tasks.
const eachAccount = `
  with sums as (
    select account_id, count(*) as movements, min(seq) as first_seq, max(seq) as last_seq,
           sum(${freely}) as available, sum(${aside}) as held
      from movement group by account_id
  ), open as (
    select tasks.account_id, count(*) as tasks, sum(transfers.amount) as held
      from start join tasks using (account_id)
      left join transfers on transfers.id = tasks.id || ':hold'
     where tasks.finished_at is null and tasks.owes is null
     group by tasks.account_id
  ), unopened as (
    select account_id, count(*) as tasks, sum(hold_micros) as holds
      from start join tasks using (account_id)
     where owes is not null
     group by account_id
  ), judged as (
    select account_id, books.available, books.held, books.open_tasks, books.last_seq,
           books.pending, books.pending_tasks,
           coalesce(movements, 0) as movements, first_seq, sums.last_seq as highest_seq,
           coalesce(start.seq, 0) as start_seq,
           coalesce(start.available, 0) + coalesce(sums.available, 0) as summed,
           coalesce(start.held, 0) + coalesce(sums.held, 0) as summed_held,
           coalesce(open.tasks, 0) as tasks, coalesce(open.held, 0) as held_by_tasks,
           coalesce(unopened.tasks, 0) as unopened, coalesce(unopened.holds, 0) as unopened_holds
      from (select balances.* from start join balances using (account_id)) books
      full join sums using (account_id)
      left join start using (account_id)
      left join open using (account_id)
      left join unopened using (account_id)
  )
  select finding.rule, account_id as subject, finding.found
    from judged
   cross join lateral (values
     ('every movement belongs to an account with books', available is null,
      format('%s movements', movements)),
     ('balances are the sums of their movements', available <> summed or held <> summed_held,
      format('kept %s and %s held, summed %s and %s held', available, held, summed, summed_held)),
     ('the numbers of an account have no gap',
      last_seq <> start_seq + movements or first_seq <> start_seq + 1
        or coalesce(highest_seq, start_seq) <> last_seq,
      format('%s movements from number %s to %s after number %s, %s are counted', movements,
             first_seq, highest_seq, start_seq, last_seq)),
     ('no ended task has a hold left, and no open task is without one',
      open_tasks <> tasks or held <> held_by_tasks,
      format('%s held for %s tasks; %s are open and hold %s', held, open_tasks, tasks,
             held_by_tasks)),
     ('the pending sums are those of the pending tasks',
      pending_tasks <> unopened or pending <> unopened_holds,
      format('%s kept for %s tasks; %s are pending and need %s', pending, pending_tasks, unopened,
             unopened_holds))
   ) finding (rule, is_found, found)
   where finding.is_found`;

// The balances stored with a movement follow from those of the previous movement.
const eachStep = `
  select 'the balances after a movement follow from those before it' as rule, id as subject,
         format('%s and %s held, after %s and %s held', available_after, held_after,
                available_before, held_before) as found
    from (select id, available_after, held_after,
                 ${freely} as free_change, ${aside} as held_change,
                 lag(available_after, 1, coalesce(start.available, 0)) over by_number
                   as available_before,
                 lag(held_after, 1, coalesce(start.held, 0)) over by_number as held_before
            from movement left join start using (account_id)
          window by_number as (partition by account_id order by movement.seq)) step
   where available_after <> available_before + free_change
      or held_after <> held_before + held_change`;

// Each task has exactly the movements that its state and its bill require. A task that was refused
// has neither movements nor a bill. The last `where` removes the rows without a difference before
// texts are formatted.
const eachTask = `
  with moved as (
    select task_id, count(*) as movements, min(account_id) as mover, max(account_id) as other,
           count(*) filter (where kind <> 'correction') as own,
           count(*) filter (where kind = 'hold') as holds,
           coalesce(sum(amount) filter (where kind = 'hold'), 0) as held,
           coalesce(sum(amount) filter (where debit = 'held'), 0) as released,
           coalesce(sum(amount) filter (where kind in ('settle', 'extra_charge')), 0) as charged,
           coalesce(sum(amount) filter (where kind = 'refund'), 0) as refunded
      from task_movement group by task_id
  ), billed as (
    select id, account_id, status, finished_at is not null as final, owes is not null as pending,
           object -> 'billing' as bill
      from tasks where id in (select task_id from movement) offset 0
  ), judged as (
    select *, billed.id is null as orphaned,
           mover <> other or mover <> account_id as crossed,
           case when pending then movements > 0
                else coalesce(holds, 0) <> 1
                     and (own > 0 or not final or bill is not null) end as unheld,
           final and held <> released as unreleased,
           not final and movements > 1 as early,
           final and status = 'failed' and charged > 0 as overcharged,
           final and movements > 0 and (
             coalesce((bill ->> 'charged')::numeric, 0) * 1000000 <> charged
             or (bill ->> 'held')::numeric * 1000000 <> held
             or (bill ->> 'refunded')::numeric * 1000000 <> refunded) as misshown
      from billed full join moved on moved.task_id = billed.id
  )
  select finding.rule, coalesce(id, task_id) as subject, finding.found
    from judged
   cross join lateral (values
     ('every movement with a task id belongs to an existing task', orphaned,
      format('%s movements of no task', movements)),
     ('a task moves money of its own account only', crossed,
      format('movements of %s and %s for a task of %s', mover, other, account_id)),
     ('a task has one hold', unheld, format('%s holds', coalesce(holds, 0))),
     ('every final task returned or spent exactly its hold', unreleased,
      format('held %s, settled or returned %s', held, released)),
     ('an open task has moved nothing but its hold', early, format('%s movements', movements)),
     ('a failed task is charged nothing', overcharged, format('charged %s', charged)),
     ('the bill of a final task agrees with its movements', misshown,
      format('shown held %s, charged %s, refunded %s; moved %s, %s and %s', bill ->> 'held',
             bill ->> 'charged', bill ->> 'refunded', held, charged, refunded))
   ) finding (rule, is_found, found)
   where (orphaned or crossed or unheld or unreleased or early or overcharged or misshown)
     and finding.is_found`;

// A task that moved nothing was refused or is pending. No movement leads to such a task, so only the
// full audit finds it.
const eachUnmoved = `
  select 'a task has one hold' as rule, tasks.id as subject, '0 movements' as found
    from start join tasks using (account_id)
   where owes is null and (finished_at is null or object -> 'billing' is not null)
     and not exists (select 1 from transfers where transfers.id = tasks.id || ':hold')`;

const sumsFormat = `'%s tasks, %s failed, %s ms, charged %s, corrected %s'`;
// A job that was charged nothing leaves no trace once it is forgotten.
const usageOfNothing = `format(${sumsFormat}, 0, 0, 0, 0, 0)`;

// Nothing tells whether a forgotten task had a super-resolution that charged nothing. So this is also
// true for the other kind of job of the same day, key and model.
const isAnyForgotten =
  'bool_or(bool_or(is_forgotten)) over (partition by account_id, day, key_id, model)';

// The kept usage is what the movements lead to. Channels and costs are those of the jobs, so they are
// compared only for tasks that are not forgotten, and only once no cost can become known any more.
const eachUsage = `
  with counted as (
    select * from movement where created_at < (select until from usage_state)
  ), ${usageParts('counted', '(select zone from usage_state)')}
  , derived_rows as (
    select ${usageNames}, bool_or(is_forgotten) as is_forgotten, ${usageSums}
      from part group by ${usageNames}
  ), derived as (${usageOfAllChannels('derived_rows', isAnyForgotten)}
  ), kept as (
    ${usageOfAllChannels('(select * from usage_days join start using (account_id)) of_batch', 'false')})
  select 'the kept usage is that of the movements' as rule, account_id as subject,
         format('on %s for %s: kept %s; derived %s', day, model,
                coalesce(kept.sums, 'nothing') || ' ' || coalesce(kept.jobs, ''),
                coalesce(derived.sums, 'nothing') || ' ' || coalesce(derived.jobs, '')) as found
    from derived full join kept using (account_id, day, key_id, model, kind)
   where coalesce(derived.sums, ${usageOfNothing}) <> coalesce(kept.sums, ${usageOfNothing})
      or derived.jobs is distinct from kept.jobs and not derived.is_forgotten
         and day < (select cast(until at time zone zone as date) - 10 from usage_state)`;

/** `sums` follows from the movements and their tasks, and `jobs` from the jobs of the tasks. */
function usageOfAllChannels(rows: string, isForgotten: string): string {
  return `
    select account_id, day, key_id, model, kind, ${isForgotten} as is_forgotten,
           format(${sumsFormat}, sum(tasks), sum(failed), sum(milliseconds), sum(charged),
                  sum(corrected)) as sums,
           string_agg(format('(%s: %s jobs, %s without cost with %s, cost %s, lost %s, charged %s)',
                             channel, jobs, without_cost, revenue_without_cost, cost, lost_cost,
                             charged), '' order by channel) as jobs
      from ${rows} group by account_id, day, key_id, model, kind`;
}

/** The statements for one batch. Their bindings are `accounts` and `since`; in full it is null. */
export function checksOf(isFull: boolean) {
  const taskMovement = isFull ? 'select * from movement where task_id is not null' : withOlder;
  const sets = `with start as (${start}), movement as (${movement}), task_movement as (${taskMovement})`;
  const checks = [
    eachMovement,
    eachAccount,
    eachStep,
    eachTask,
    ...(isFull ? [eachUnmoved, eachUsage] : []),
  ];
  return {
    counting: `${sets} select count(*) as transfers from movement`,
    checks: checks.map((check) => `${sets}\n${check.trim().replace(/^with /, ', ')}`),
  };
}
