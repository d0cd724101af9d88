// The statements of the audit. Each reads its table once and answers rows of what is not so: the
// rule, whom it is about, what was found. A rule that the schema already enforces is looked at all
// the same: a schema can be changed by hand.

// What a movement does to what is free and to what is set aside.
const freely = `case when credit = 'available' then amount
                     when debit = 'available' then -amount else 0 end`;
const aside = `case when credit = 'held' then amount
                    when debit = 'held' then -amount else 0 end`;

// One movement: it joins two different accounts that its kind may join, by an amount that is one.
const eachMovement = `
  select 'a movement takes from one account what it gives to another' as rule, id as subject,
         format('%s of %s from %s to %s', kind, amount, debit, credit) as found
    from transfers
   where amount <= 0
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

// One customer: kept balances against the sums, numbers against their count, holds against the
// tasks that are open.
const eachAccount = `
  with sums as (
    select account_id, count(*) as movements, min(seq) as first_seq, max(seq) as last_seq,
           sum(${freely}) as available, sum(${aside}) as held
      from transfers group by account_id
  ), open as (
    select tasks.account_id, count(*) as tasks, sum(transfers.amount) as held
      from tasks left join transfers on transfers.id = tasks.id || ':hold'
     where finished_at is null group by tasks.account_id
  )
  select finding.rule, account_id as subject, finding.found
    from balances
    full join sums using (account_id)
    left join open using (account_id)
   cross join lateral (values
     ('every movement belongs to an account with books', balances.available is null,
      format('%s movements', movements)),
     ('balances are the sums of their movements',
      balances.available <> coalesce(sums.available, 0) or balances.held <> coalesce(sums.held, 0),
      format('kept %s and %s held, summed %s and %s held', balances.available, balances.held,
             coalesce(sums.available, 0), coalesce(sums.held, 0))),
     ('the numbers of an account have no gap',
      balances.last_seq <> coalesce(movements, 0) or coalesce(first_seq, 1) <> 1
        or coalesce(sums.last_seq, 0) <> balances.last_seq,
      format('%s movements from number %s to %s, %s are counted', coalesce(movements, 0), first_seq,
             sums.last_seq, balances.last_seq)),
     ('no hold outlives its task, and no task is open without one',
      balances.open_tasks <> coalesce(open.tasks, 0) or balances.held <> coalesce(open.held, 0),
      format('%s held for %s tasks; %s are open and hold %s', balances.held, open_tasks,
             coalesce(open.tasks, 0), coalesce(open.held, 0)))
   ) finding (rule, is_found, found)
   where finding.is_found`;

// One step: the balances written beside a movement follow from those before it.
const eachStep = `
  select 'the balances after a movement follow from those before it' as rule, id as subject,
         format('%s and %s held, after %s and %s held', available_after, held_after,
                available_before, held_before) as found
    from (select id, available_after, held_after, ${freely} as free_change, ${aside} as held_change,
                 lag(available_after, 1, 0) over by_number as available_before,
                 lag(held_after, 1, 0) over by_number as held_before
            from transfers
          window by_number as (partition by account_id order by seq)) step
   where available_after <> available_before + free_change
      or held_after <> held_before + held_change`;

// One task: exactly the movements that its state and its bill say. A task that was refused has
// neither. Rows are judged first and put into words only where something is not so.
const eachTask = `
  with moved as (
    select task_id, count(*) as movements, min(account_id) as mover, max(account_id) as other,
           count(*) filter (where kind = 'hold') as holds,
           coalesce(sum(amount) filter (where kind = 'hold'), 0) as held,
           coalesce(sum(amount) filter (where debit = 'held'), 0) as released,
           coalesce(sum(amount) filter (where kind in ('settle', 'extra_charge')), 0) as charged,
           coalesce(sum(amount) filter (where kind = 'refund'), 0) as refunded
      from transfers where task_id is not null group by task_id
  ), billed as (
    select id, account_id, status, finished_at is not null as final, object -> 'billing' as bill
      from tasks offset 0
  ), judged as (
    select *, billed.id is null as orphaned,
           mover <> other or mover <> account_id as crossed,
           coalesce(holds, 0) <> 1 and (movements > 0 or not final or bill is not null) as unheld,
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
     ('every movement of a task belongs to one', orphaned,
      format('%s movements of no task', movements)),
     ('a task moves money of its own account only', crossed,
      format('movements of %s and %s for a task of %s', mover, other, account_id)),
     ('a task has one hold', unheld, format('%s holds', coalesce(holds, 0))),
     ('every final task returned or spent exactly its hold', unreleased,
      format('held %s, settled or returned %s', held, released)),
     ('an open task has moved nothing but its hold', early, format('%s movements', movements)),
     ('a failed task is charged nothing', overcharged, format('charged %s', charged)),
     ('a final task shows what moved', misshown,
      format('shown held %s, charged %s, refunded %s; moved %s, %s and %s', bill ->> 'held',
             bill ->> 'charged', bill ->> 'refunded', held, charged, refunded))
   ) finding (rule, is_found, found)
   where (orphaned or crossed or unheld or unreleased or early or overcharged or misshown)
     and finding.is_found`;

export const auditChecks = [eachMovement, eachAccount, eachStep, eachTask] as const;
