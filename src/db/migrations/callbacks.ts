// Callbacks: one row says how it stands with a task's callback, one row for each time it was tried.

import type { Knex } from 'knex';

export async function createCallbackTables(db: Knex.Transaction): Promise<void> {
  await db.raw(callbacksSql);
}

// Attempts are numbered within one delivery; sending again by hand is another delivery of the same message. A delivery
// that died after its request and before its row leaves no row, and tries again: at least once, never less.
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
