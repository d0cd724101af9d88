// The first tables: who the customers are, the tasks they gave us, and what is open upstream for
// those tasks.

import type { Knex } from 'knex';

export async function createTasks(db: Knex.Transaction): Promise<void> {
  await db.raw(accountsSql);
  await db.raw(tasksSql);
  await db.raw(jobsSql);
}

// A row of `accounts` is one customer; a row of `api_keys` is one key of theirs, known only by its
// keyed digest.
const accountsSql = `
create table accounts (
  id          text primary key,
  name        text not null,
  created_at  timestamptz not null default now(),
  disabled_at timestamptz
);

create table api_keys (
  id          text primary key,
  account_id  text not null references accounts (id),
  name        text not null default '',
  digest      bytea not null unique,
  last_four   text not null,
  models      text[],
  channels    text[],
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_at  timestamptz
);
create index api_keys_account on api_keys (account_id);

create table webhook_secrets (
  id          bigint generated always as identity primary key,
  account_id  text not null references accounts (id),
  secret      text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz
);
create index webhook_secrets_account on webhook_secrets (account_id);
`;

// A row of `tasks` is one accepted task. `object` is the public task object exactly as GET answers
// it; `version` is the step the task has reached and only ever grows (domain/task.ts).
const tasksSql = `
create table tasks (
  id           text primary key,
  account_id   text not null references accounts (id),
  model        text not null,
  status       text not null,
  stage        text,
  version      smallint not null,
  object       json not null,
  request      json not null,
  plan         json not null,
  request_hash text not null,
  trace_id     text not null,
  callback_url text,
  created_at   timestamptz not null,
  deadline_at  timestamptz not null,
  finished_at  timestamptz
);
create index tasks_account on tasks (account_id, created_at desc, id desc);
create index tasks_open on tasks (id) where finished_at is null;
`;

// A row of `jobs` is one piece of work we gave, or are giving, to an upstream service. `waiting`
// ones have no place in their channel yet; `sending` is written before the create leaves, so that a
// death in between is seen; `open` ones are watched; `reported` ones have ended and wait for their
// task to acknowledge it; `closed` ones are history. One upstream job can never belong to two
// tasks. A row of `watchers` says when a channel's loop last went round; the one row of
// `sweep_state` where the reconciler stands.
const jobsSql = `
create table jobs (
  task_id        text not null references tasks (id),
  kind           text not null,
  account_id     text not null,
  channel        text not null,
  upstream_model text not null,
  state          text not null check (state in ('waiting', 'sending', 'open', 'reported', 'closed')),
  upstream_id    text,
  status         text not null default 'queued',
  report         json,
  waiting_since  timestamptz not null default now(),
  sent_at        timestamptz,
  opened_at      timestamptz,
  signalled_at   timestamptz,
  primary key (task_id, kind)
);
create index jobs_to_watch on jobs (channel) where state in ('open', 'reported');
create index jobs_in_flight on jobs (channel, state) where state in ('waiting', 'sending', 'open');
create unique index jobs_upstream on jobs (channel, upstream_id);

create table watchers (
  channel  text not null,
  shard    smallint not null,
  round_at timestamptz not null,
  open     integer not null,
  primary key (channel, shard)
);

create table sweep_state (
  only_row   boolean primary key default true check (only_row),
  cursor     text not null default '',
  audited_at timestamptz
);
insert into sweep_state default values;
`;
