// The database function that deletes old tasks. It is part of the schema, because it needs
// privileges that no role of a process has. old-tasks.ts calls it.

export const closeTasksFunction = `
-- Deletes the given tasks with all their rows and returns the number of deleted tasks. A task is
-- not deleted if it has not ended or ended less than 35 days ago, if one of its jobs is open, if
-- its callback is due, if a result is kept, if an amount is held, or if a movement is newer than
-- the last audit.
--
-- Closing entries replace the movements of deleted tasks: one entry for each account, month of the
-- end (UTC), key and revenue account. Movements that are deleted later are added to the same entry.
-- So no sum changes: balances, revenue, and the total spent by an account or a key. Budgets of a
-- day or a month do not count the deleted tasks, because their period is shorter than 35 days.
--
-- The function runs as the owner of the tables, because no other role may delete a movement.
create function close_tasks(ids text[]) returns integer
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  gone text[];
begin
  -- Two calls at the same time could replace the same closing entry.
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
       -- True if the query above has found the movements of the task, or if the task has none.
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
  -- A row that has changed meanwhile is not deleted. Its foreign key then makes the delete of the
  -- task fail, and the transaction is rolled back.
  delete from callbacks where task_id = any(gone) and state <> 'pending';
  delete from jobs where task_id = any(gone) and state = 'closed';
  delete from files where task_id = any(gone) and state = 'removed';
  delete from tasks where id = any(gone);
  return coalesce(cardinality(gone), 0);
end $$;
revoke execute on function close_tasks(text[]) from public;
`;
