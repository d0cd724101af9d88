// The database function that deletes old tasks. It is part of the schema, because it needs rights
// that no role of a process has.

export const closeTasksFunction = `
-- Deletes those of these tasks that ended 35 days ago or earlier, with all their rows, and replaces their
-- movements by closing entries: one for each account, month of the end (UTC), key and revenue account.
-- Later ones are added to the same entry. So every sum stays: balances, revenue, and the total spent
-- by an account or a key. Budgets of a day or a month begin later than 35 days ago.
--
-- A task stays while one of its jobs is open, its callback is due, a result is kept, an amount is held,
-- or a movement is newer than the last audit. The function runs as the owner of the tables, because no
-- other role may remove a movement. It returns the number of tasks.
create function close_tasks(ids text[]) returns integer
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  gone text[];
begin
  -- Two calls at once would replace the same entry.
  if not pg_try_advisory_xact_lock(hashtext('close_tasks')) then
    return 0;
  end if;

  select array_agg(id) into gone from (
    select tasks.id from tasks
      left join audited_books books on books.account_id = tasks.account_id
     cross join lateral (
       select coalesce(max(seq), 0) as last_seq,
              coalesce(sum(case when credit = 'held' then amount
                                when debit = 'held' then -amount else 0 end), 0) as held
         from transfers
        where account_id = tasks.account_id and task_created_at = tasks.created_at
          and task_id = tasks.id) moved
     where tasks.id = any(ids) and finished_at < now() - interval '35 days'
       and moved.held = 0 and moved.last_seq <= coalesce(books.seq, 0)
       -- All of its movements were found.
       and (moved.last_seq > 0) = exists (select 1 from transfers where id = tasks.id || ':hold')
       and not exists (select 1 from jobs
                        where task_id = tasks.id and (state <> 'closed' or cancel = 'wanted'))
       and not exists (select 1 from callbacks where task_id = tasks.id and state = 'pending')
       and not exists (select 1 from files where task_id = tasks.id and state <> 'removed')
       for update of tasks skip locked) old;

  perform set_config('video.closing', 'on', true);
  with removed as (
    delete from transfers using tasks
     where tasks.id = any(gone) and transfers.account_id = tasks.account_id
       and task_created_at = tasks.created_at and task_id = tasks.id
    returning transfers.*,
              concat_ws(':', transfers.account_id, 'closing',
                        to_char(finished_at at time zone 'UTC', 'YYYY-MM'), transfers.key_id,
                        case when credit like 'revenue%' then credit else 'revenue_generation' end)
                as entry
  ), earlier as (
    delete from transfers where id in (select entry from removed) returning transfers.*, id as entry
  ), together as (
    select * from removed union all select * from earlier
  )
  insert into transfers (id, account_id, key_id, seq, kind, debit, credit, amount, closes,
                         available_after, held_after, task_created_at, created_at)
  select entry, account_id, key_id, max(seq), 'closing', 'available',
         coalesce(max(credit) filter (where credit like 'revenue%'), 'revenue_generation'),
         coalesce(sum(amount) filter (where credit like 'revenue%'), 0), sum(coalesce(closes, 1)),
         (array_agg(available_after order by seq desc))[1],
         (array_agg(held_after order by seq desc))[1], max(task_created_at), max(created_at)
    from together group by entry, account_id, key_id;
  perform set_config('video.closing', 'off', true);

  delete from callback_attempts where task_id = any(gone);
  -- If one of these rows has changed meanwhile, it stays, and its foreign key ends this transaction.
  delete from callbacks where task_id = any(gone) and state <> 'pending';
  delete from jobs where task_id = any(gone) and state = 'closed';
  delete from files where task_id = any(gone) and state = 'removed';
  delete from tasks where id = any(gone);
  return coalesce(cardinality(gone), 0);
end $$;
revoke execute on function close_tasks(text[]) from public;
`;
