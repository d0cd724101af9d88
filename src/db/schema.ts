// The whole schema. Reading it from top to bottom explains the data model: customers, their tasks,
// the jobs of those tasks at upstream channels, money, budgets and callbacks. All times are the
// database's.

import { closeTasksFunction } from './close-tasks';

/** Customers. Every other row belongs to one of them. */
const customers = `
-- One customer.
create table accounts (
  id          text primary key,
  name        text not null,
  created_at  timestamptz not null default now(),
  disabled_at timestamptz,
  -- Since when nothing of its content is left; null again once the account is enabled.
  erased_at   timestamptz,
  -- Terms: running_max is how many of its tasks are at a generator at once (null: no limit),
  -- queued_max how many it may have unfinished (null: QUEUED_TASKS_MAX), and weight its share of
  -- the turns compared with other accounts. The rates are calls a second of all its keys together
  -- (null: only each key is limited). files_kept_days is how long new files are kept (null:
  -- FILES_KEPT_DAYS), tasks_kept_days how long ended tasks are (0: for ever, null: TASKS_KEPT_DAYS).
  running_max integer check (running_max > 0),
  queued_max  integer check (queued_max > 0),
  weight      smallint not null default 1 check (weight between 1 and 100),
  create_rate integer check (create_rate > 0),
  read_rate   integer check (read_rate > 0),
  files_kept_days integer check (files_kept_days between 1 and 36500),
  tasks_kept_days integer check (tasks_kept_days = 0 or tasks_kept_days between 35 and 36500),
  -- The time zone in which its days and months begin.
  time_zone   text not null default 'UTC'
);

-- One API key. Only its keyed digest is stored. Null models or channels means all of them, null
-- rates those of the settings.
create table api_keys (
  id          text primary key,
  account_id  text not null references accounts (id),
  name        text not null default '',
  digest      bytea not null unique,
  last_four   text not null,
  models      text[],
  channels    text[],
  create_rate integer check (create_rate > 0),
  read_rate   integer check (read_rate > 0),
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_at  timestamptz
);
create index api_keys_account on api_keys (account_id);

-- One secret that signs callbacks. During a rotation two are valid.
create table webhook_secrets (
  id          bigint generated always as identity primary key,
  account_id  text not null references accounts (id),
  secret      text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz
);
create index webhook_secrets_account on webhook_secrets (account_id);
`;

/** Tasks: the videos that customers asked for. */
const tasks = `
-- One accepted task, stored before its workflow is started. \`object\` is the public task object exactly
-- as GET answers it. \`version\` is the step that the task has reached and only grows (stepOf in
-- domain/task.ts). \`request\` is the request after parsing, \`plan\` the values inferred and priced at
-- submission; neither ever changes. While the task is pending, \`start_at\` is the earliest time to start
-- its workflow; it is null afterwards. A pending task has no transfer yet, so \`hold_micros\` is counted
-- against the balance. \`answered\`: the caller was given the id, so the row must stay. A finished task
-- whose \`request_hash\` is empty was erased (erase-account.ts). Sealed if the service has keys (sealed.ts):
-- \`request\`, \`callback_url\`, and \`object\` but for its bill
-- once it is final.
create table tasks (
  id           text primary key,
  account_id   text not null references accounts (id),
  -- The key that created it.
  key_id       text,
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
  hold_micros  bigint not null default 0 check (hold_micros >= 0),
  answered     boolean not null default false,
  start_at     timestamptz,
  created_at   timestamptz not null default now(),
  deadline_at  timestamptz not null,
  finished_at  timestamptz,
  -- The final status, for lists. An index on \`status\` would be written at each step of a task.
  ended_as     text generated always as (case when finished_at is not null then status end) stored,
  check (start_at is null or finished_at is null)
);
create index tasks_account on tasks (account_id, created_at desc, id desc);
create index tasks_account_model on tasks (account_id, model, created_at desc, id desc);
create index tasks_account_ended on tasks (account_id, ended_as, created_at desc, id desc)
  where finished_at is not null;
create index tasks_account_model_ended
  on tasks (account_id, model, ended_as, created_at desc, id desc) where finished_at is not null;
create index tasks_account_open on tasks (account_id, created_at desc, id desc)
  where finished_at is null;
create index tasks_open on tasks (id) where finished_at is null;
-- Pending tasks, by \`start_at\` rather than \`status\`: it is set to null only once.
create index tasks_pending on tasks (account_id, created_at) where start_at is not null;

-- The labels of a task, one row each, to filter lists by; \`object\` shows them too. \`created_at\` is the
-- task's, so that the index gives a list of one label in its order.
create table task_labels (
  task_id    text not null references tasks (id) on delete cascade,
  account_id text not null,
  name       text not null,
  value      text not null,
  created_at timestamptz not null,
  primary key (task_id, name)
);
create index task_labels_list
  on task_labels (account_id, name, value, created_at desc, task_id desc);
`;

/** Jobs: the work for a task at an upstream channel. */
const jobs = `
-- One piece of work for a channel, and its state:
--   planned   stored when its task opens, or when the job before it ends; not sent to a channel yet
--   waiting   all of its \`channels\` are full; \`turn_at\`: when \`channel\` last gave it a turn
--   sending   stored before the create request leaves, so that a crash in between is noticed
--   open      the channel accepted it as \`upstream_id\`; the watcher polls it
--   reported  it has ended; \`report\` is still to be sent to the activity \`activity_id\`
--   closed    its task has acknowledged the end, or the task itself has ended
-- In the first three states \`check_at\` is the time to check whether the worker has died, and \`seen\` the
-- state of the activity at the last check. \`attempt\` is the attempt of the activity that sends the create or
-- looks for it: only its answer counts, because an attempt that was given up may still run. An upstream job
-- never belongs to two tasks. \`report\` is the provider's last report, or the reason why no provider has the job.
-- All of it but its status is sealed if the service has keys.
create table jobs (
  task_id        text not null references tasks (id),
  kind           text not null,
  account_id     text not null,
  state          text not null default 'planned' check
                   (state in ('planned', 'waiting', 'sending', 'open', 'reported', 'closed')),
  planned_at     timestamptz not null default now(),
  check_at       timestamptz not null default now() + interval '5 seconds',
  seen           text,
  attempt        text,
  channels       text[],
  waiting_since  timestamptz,
  turn_at        timestamptz,
  turns          smallint not null default 0,
  channel        text,
  upstream_model text,
  sent_at        timestamptz,
  upstream_id    text,
  activity_id    text,
  opened_at      timestamptz,
  status         text not null default 'queued',
  report         json,
  notified_at    timestamptz,
  -- Since when its provider does not know it; since when it counts as gone and holds no slot.
  missing_since  timestamptz,
  gone_at        timestamptz,
  -- Set if its task has ended: the job is to be cancelled, or no cancel succeeded.
  cancel         text check (cancel in ('wanted', 'given up')),
  primary key (task_id, kind),
  check (channel is not null or state in ('planned', 'waiting', 'closed'))
);
create index jobs_to_check on jobs (check_at) where state in ('planned', 'waiting', 'sending');
create index jobs_waiting on jobs using gin (channels) where state = 'waiting';
create index jobs_in_flight on jobs (channel, state) where state in ('waiting', 'sending', 'open');
create index jobs_queues on jobs (account_id, kind, coalesce(turn_at, waiting_since), task_id)
  where state = 'waiting';
create index jobs_at_generator on jobs (account_id)
  where kind = 'generation' and channel is not null and state in ('waiting', 'sending', 'open');
create index jobs_to_watch on jobs (channel) where state in ('open', 'reported');
create index jobs_to_cancel on jobs (task_id) where cancel = 'wanted';
create unique index jobs_upstream on jobs (channel, upstream_id);

-- The last turn of each account in the queue of a channel. Turns are numbers: an account's next turn is
-- 1 / weight above its last one, and the lowest of all accounts is next (slots.ts).
create table account_turns (
  channel    text not null,
  account_id text not null,
  turn       double precision not null,
  primary key (channel, account_id)
);
create index account_turns_last on account_turns (channel, turn);

-- The last round of each watcher loop: one loop per shard of a channel.
create table watchers (
  channel  text not null,
  shard    smallint not null,
  round_at timestamptz not null,
  primary key (channel, shard)
);

-- The state of the reconciler: the last task of its rolling slice, until when it closes tasks unknown to
-- Temporal whatever their number, and the time of the last completed audit.
create table reconcile_state (
  only_row             boolean primary key default true check (only_row),
  cursor               text not null default '',
  loss_confirmed_until timestamptz,
  audited_at           timestamptz
);
insert into reconcile_state default values;
`;

/** Money: the balance of each customer, and every movement. */
const ledger = `
-- The balance of one customer: \`available\` to spend, and \`held\` for open tasks. The statement that
-- writes a movement updates it too, so it always equals the sum of the movements; \`last_seq\` numbers
-- them without gaps. Only a charge above the hold takes it below zero. Totals over all customers are
-- not stored: every statement would wait for that one row. Amounts stay within the safe integers of
-- JavaScript. The fill factor leaves half of each page free for updates in place.
create table balances (
  account_id text primary key references accounts (id),
  currency   text not null default 'CNY',
  available  bigint not null default 0
             check (available between -9007199254740991 and 9007199254740991),
  held       bigint not null default 0 check (held between 0 and 9007199254740991),
  open_tasks integer not null default 0 check (open_tasks >= 0),
  last_seq   bigint not null default 0
) with (fillfactor = 50);

-- One movement from one ledger account (debit) to another (credit). The caller chooses the id, so
-- a repeated call moves nothing. A customer's two ledger accounts are \`available\` and \`held\`; the kinds
-- and their debit and credit accounts are a closed list. A foreign key to the account is not needed:
-- \`seq\` comes from its row in \`balances\`. A \`closing\` stands for the movements of deleted tasks: it has
-- their sum, the number and the balances of the last of them, and in \`closes\` how many they were.
create table transfers (
  id              text primary key,
  account_id      text not null,
  seq             bigint not null,
  kind            text not null,
  debit           text not null,
  credit          text not null,
  amount          bigint not null,
  available_after bigint not null,
  held_after      bigint not null,
  task_id         text,
  -- Copied from the task, where they never change, so that budgets are summed from one index.
  key_id          text,
  task_created_at timestamptz,
  closes          integer,
  reason          text not null default '',
  created_at      timestamptz not null default now(),
  unique (account_id, seq),
  constraint transfers_amount_check check (
    amount between case kind when 'closing' then 0 else 1 end and 9007199254740991),
  constraint transfers_closes check ((kind = 'closing') = (closes is not null)),
  constraint transfers_kinds check (
    case kind
      when 'hold'         then debit = 'available' and credit = 'held'
      when 'settle'       then debit = 'held'
                           and credit in ('revenue_generation', 'revenue_super_resolution')
      when 'refund'       then debit = 'held' and credit = 'available'
      when 'extra_charge' then debit = 'available'
                           and credit in ('revenue_generation', 'revenue_super_resolution')
      when 'closing'      then debit = 'available'
                           and credit in ('revenue_generation', 'revenue_super_resolution')
      when 'credit'       then debit = 'credits' and credit = 'available'
      when 'correction'   then (debit, credit) in
                               (('corrections', 'available'), ('available', 'corrections'))
      else false
    end)
);

create index transfers_budgets on transfers (account_id, task_created_at)
  include (key_id, kind, amount) where task_created_at is not null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name;
end $$;
create trigger transfers_immutable before update on transfers for each row
  execute function refuse_change();
-- No role but the owner has the privilege to delete, and close_tasks sets this for its own statement.
create trigger transfers_kept before delete on transfers for each row
  when (current_setting('video.closing', true) is distinct from 'on')
  execute function refuse_change();
create trigger transfers_not_truncated before truncate on transfers execute function refuse_change();

-- The checkpoint of an account: its sums up to the movement \`seq\`, without a difference. The next audit
-- begins there. No foreign key, because the audit must notice books that were removed.
create table audited_books (
  account_id text primary key,
  seq        bigint not null,
  available  bigint not null,
  held       bigint not null
);
`;

/** Budgets: limits on the spending of accounts and keys. */
const budgets = `
-- The limit on the spending of an account, or of one of its keys, in each period. The amount spent is
-- summed from transfers and stored nowhere. A create locks the budgets that apply (accept-task.ts).
create table budgets (
  account_id   text not null references accounts (id),
  key_id       text references api_keys (id),
  period       text not null check (period in ('day', 'month', 'total')),
  limit_micros bigint not null check (limit_micros between 0 and 9007199254740991),
  unique nulls not distinct (account_id, key_id, period)
);
`;

/** Callbacks: the state of each task's callback, and each attempt to deliver it. */
const callbacks = `
-- One row per finished task with a callback. Attempts are numbered within one delivery. A callback that
-- an operator sends again is another delivery of the same message. \`url\` is sealed as in the task.
create table callbacks (
  task_id    text primary key references tasks (id),
  account_id text not null,
  url        text not null,
  state      text not null default 'pending'
               check (state in ('pending', 'delivered', 'exhausted', 'stopped')),
  deliveries integer not null default 1,
  next_at    timestamptz,
  looked_at  timestamptz,
  changed_at timestamptz not null default now()
);
create index callbacks_account on callbacks (account_id, changed_at desc);
create index callbacks_undelivered on callbacks (state, changed_at) where state <> 'delivered';
create index callbacks_due on callbacks (coalesce(looked_at, next_at)) where state = 'pending';

-- One attempt, stored before its request is sent. An interrupted attempt has no latency. \`error\` and
-- \`reply\` of an answer are sealed if the service has keys.
create table callback_attempts (
  id         bigint generated always as identity primary key,
  task_id    text not null references tasks (id),
  delivery   integer not null,
  attempt    integer not null,
  at         timestamptz not null,
  status     integer,
  latency_ms integer,
  error      text,
  reply      text
);
create index callback_attempts_task on callback_attempts (task_id, id);

-- The transaction that ends a task also stores its callback, whichever statement ends it. So a process
-- that dies right after the commit leaves a row that the reconciler finds.
create function owe_callback() returns trigger language plpgsql as $$
begin
  insert into callbacks (task_id, account_id, url, next_at)
  values (new.id, new.account_id, new.callback_url, now())
  on conflict (task_id) do nothing;
  return null;
end $$;
create trigger tasks_owe_callback after insert or update of finished_at on tasks for each row
  when (new.finished_at is not null and new.callback_url is not null)
  execute function owe_callback();
`;

/** Files: the results of tasks, and what customers uploaded. */
const files = `
-- One file. Its bytes are in the storage under \`key\`; \`link_token\` is the secret part of its public
-- link. A result belongs to a task and is copied from \`source_url\`, the provider's link. \`source_url\`,
-- \`output_upload_url\` and \`name\` are sealed if the service has keys. States:
--   awaited  the bytes are still to be copied or received
--   stored   the storage has them; length, type and digest are known
--   removed  the storage has them no more: they \`expired\`, the \`caller\` or an \`operator\` removed them,
--            or they were \`lost\`: the provider's link died before they were copied
create table files (
  id                text primary key,
  account_id        text not null references accounts (id),
  task_id           text references tasks (id),
  role              text not null check (role in ('upload', 'video', 'last_frame')),
  state             text not null default 'awaited' check (state in ('awaited', 'stored', 'removed')),
  key               text not null unique,
  link_token        text not null unique,
  source_url        text,
  source_expires_at timestamptz,
  -- The caller's address to which a video is still to be uploaded; null once that has ended.
  output_upload_url text,
  -- The name that the caller gave it.
  name              text,
  media             text not null check (media in ('image', 'video', 'audio')),
  content_type      text,
  length            bigint check (length >= 0),
  sha256            bytea,
  -- The length of uploaded audio and video.
  duration_ms       integer,
  -- Pixels of a video that a task made.
  width             integer,
  height            integer,
  created_at        timestamptz not null default now(),
  expires_at        timestamptz not null,
  removed_at        timestamptz,
  removed_because   text check (removed_because in ('expired', 'caller', 'operator', 'lost')),
  unique (task_id, role),
  check ((role = 'upload') = (task_id is null)),
  check ((state = 'removed') = (removed_because is not null)),
  check (state <> 'stored' or (content_type is not null and length is not null))
);
create index files_uploads on files (account_id, created_at desc, id desc)
  where role = 'upload' and state <> 'removed';
create index files_uploads_removed on files (removed_at) where role = 'upload' and state = 'removed';
create index files_unfinished on files (created_at)
  where state = 'awaited' or output_upload_url is not null;
create index files_expiring on files (expires_at) where state <> 'removed';
`;

/** Encryption: the keys of sealed columns. */
const encryption = `
-- One key that sealed columns were ever encrypted with. A process whose keys lack it refuses to start;
-- \`proof\` is a known text, sealed with the key. The keys themselves are not in the database.
create table encryption_keys (
  id         text primary key,
  proof      text not null,
  created_at timestamptz not null default now()
);
`;

/** Operators: what they did. */
const operators = `
-- One act of an operator, written in its transaction: the operator, the command, the change and the
-- reason. No foreign key, because the act outlives the rows that it changed.
create table operator_log (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  who        text not null,
  -- The database role of the connection.
  role       text not null default current_user,
  command    text not null,
  account_id text,
  before     jsonb not null,
  after      jsonb not null,
  why        text
);
create index operator_log_account on operator_log (account_id, id desc);
create trigger operator_log_immutable before update or delete on operator_log for each row
  execute function refuse_change();
create trigger operator_log_not_truncated before truncate on operator_log
  execute function refuse_change();
`;

/** Vacuum of the tables that lose many rows. */
const vacuum = `
-- The search for old tasks and the list of an account read the index entries of deleted rows until a
-- vacuum. So a vacuum starts when a fiftieth of the rows is dead; the default is a fifth.
${['tasks', 'task_labels', 'jobs', 'transfers', 'callbacks', 'callback_attempts', 'files']
  .map((table) => `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.02);`)
  .join('\n')}
`;

export const schema = [
  customers,
  tasks,
  jobs,
  ledger,
  budgets,
  callbacks,
  files,
  encryption,
  operators,
  vacuum,
  closeTasksFunction,
].join('');
