// Callbacks: one row says how it stands with a task's callback, one row for each time it was tried.

import type { Knex } from 'knex';

export async function createCallbackTables(db: Knex.Transaction): Promise<void> {
  await db.raw(callbacksSql);
}

// Attempts are numbered within one delivery; sending again by hand is another delivery of the same
// message. A delivery that died after its request tries again: at least once, never less.
const callbacksSql = `
create table callbacks (
  task_id    text primary key references tasks (id),
  account_id text not null,
  url        text not null,
  state      text not null default 'pending'
               check (state in ('pending', 'delivered', 'exhausted', 'stopped')),
  deliveries integer not null default 1,
  next_at    timestamptz,
  changed_at timestamptz not null default now()
);
create index callbacks_account on callbacks (account_id, changed_at desc);
create index callbacks_undelivered on callbacks (state, changed_at) where state <> 'delivered';

create table callback_attempts (
  id         bigint generated always as identity primary key,
  task_id    text not null references tasks (id),
  delivery   integer not null,
  attempt    integer not null,
  at         timestamptz not null,
  status     integer,
  latency_ms integer not null,
  error      text,
  reply      text
);
create index callback_attempts_task on callback_attempts (task_id, id);
`;

export async function recordOwedCallbacks(db: Knex.Transaction): Promise<void> {
  await db.raw(owedSql);
}

// A callback is owed from the moment its task is final: the same transaction says so, whichever
// door it came through, and a process that dies between the two leaves something to be found. An
// attempt's row is written before its request, so one that was cut off stays visible as a row
// without a latency.
const owedSql = `
alter table callbacks add column looked_at timestamptz;
alter table callback_attempts alter column latency_ms drop not null;

create function owe_callback() returns trigger language plpgsql as $$
begin
  insert into callbacks (task_id, account_id, url, next_at)
  values (new.id, new.account_id, new.callback_url, now())
  on conflict (task_id) do nothing;
  return null;
end $$;
create trigger tasks_owe_callback
  after insert or update of finished_at on tasks
  for each row
  when (new.finished_at is not null and new.callback_url is not null)
  execute function owe_callback();

insert into callbacks (task_id, account_id, url, next_at)
select id, account_id, callback_url, now()
  from tasks
 where finished_at is not null and callback_url is not null
on conflict (task_id) do nothing;

create index callbacks_due on callbacks (coalesce(looked_at, next_at)) where state = 'pending';
`;
