// The whole schema. Read from top to bottom, it explains the data model: customers, their tasks,
// the jobs of these tasks at upstream channels, money, budgets, callbacks and files. Amounts are
// whole micro-units: millionths of the currency. Times come from the clock of the database unless a
// comment names another source.

/**
 * The types of columns that allow only some values. In tables that each task writes, such a type
 * replaces a check: PostgreSQL reads the text of a check again in each statement that writes the
 * table, and the text of a type only once in a connection.
 */
const types = `
-- Micro-units of a currency, within the safe integers of JavaScript.
create domain micros as bigint check (value between 0 and 9007199254740991);
-- A balance or a sum that may be below zero.
create domain signed_micros as bigint
  check (value between -9007199254740991 and 9007199254740991);
-- The amount of a movement.
create domain moved_micros as bigint check (value between 1 and 9007199254740991);
create domain task_duty as text check (value in ('start'));
create domain job_state as text
  check (value in ('planned', 'waiting', 'sending', 'open', 'reported', 'closed'));
create domain job_duty as text check (value in ('place', 'turn', 'tell', 'cancel'));
-- The kinds of movements, each with the ledger accounts between which it moves money.
create domain movement as text check (value in (
  'hold: available to held',
  'settle: held to revenue_generation',
  'settle: held to revenue_super_resolution',
  'refund: held to available',
  'extra_charge: available to revenue_generation',
  'extra_charge: available to revenue_super_resolution',
  'credit: credits to available',
  'correction: corrections to available',
  'correction: available to corrections'));
create domain callback_state as text
  check (value in ('pending', 'delivered', 'exhausted', 'stopped'));
create domain alert_event as text check (value in ('balance.low', 'budget.near', 'budget.reached'));
create domain file_role as text check (value in ('upload', 'video', 'last_frame'));
create domain file_state as text check (value in ('awaited', 'stored', 'removed'));
create domain file_media as text check (value in ('image', 'video', 'audio'));
create domain removal_cause as text check (value in ('expired', 'caller', 'operator'));
`;

/** Customers. Tasks, money, budgets, callbacks and files belong to one of them. */
const customers = `
-- One customer.
create table accounts (
  id          text primary key,
  name        text not null,
  created_at  timestamptz not null default now(),
  disabled_at timestamptz,
  -- The time at which the content of the account was erased (erase-account.rows.ts); null again once the
  -- account is enabled.
  erased_at   timestamptz,
  -- Maximum number of tasks whose generation job holds a slot; null means no limit.
  running_max integer check (running_max > 0),
  -- Maximum number of unfinished tasks; null means QUEUED_TASKS_MAX.
  queued_max  integer check (queued_max > 0),
  -- Creates and reads per second of all keys of the account together; null means no common limit.
  create_rate integer check (create_rate > 0),
  read_rate   integer check (read_rate > 0),
  -- Days for which new files are kept; null means FILES_KEPT_DAYS.
  files_kept_days integer check (files_kept_days between 1 and 36500),
  -- Days for which ended tasks are kept; 0 means for ever, null means TASKS_KEPT_DAYS.
  tasks_kept_days integer check (tasks_kept_days = 0 or tasks_kept_days between 35 and 36500),
  -- True if a length that the account states for its reference videos may lower a hold.
  trusts_lengths boolean not null default false,
  -- The price list of the catalogue that applies; null means the prices for everybody.
  price_list  text,
  -- The time zone in which the days and months of its budgets begin.
  time_zone   text not null default 'UTC',
  -- An available amount below this one is announced (callbacks/alerts.rows.ts); null means never.
  alert_below micros
);
create index accounts_created on accounts (created_at desc, id desc);
create index accounts_alerted on accounts (id) where alert_below is not null;

-- One API key. The key itself is not stored, only its digest (keys.rows.ts).
create table api_keys (
  id          text primary key,
  account_id  text not null references accounts (id),
  name        text not null default '',
  digest      bytea not null unique,
  -- The last four characters of the key, so that an operator recognises it.
  last_four   text not null,
  -- The models and the channels that the key may use; null means all.
  models      text[],
  channels    text[],
  -- Creates and reads per second; null means the rates of the settings.
  create_rate integer check (create_rate > 0),
  read_rate   integer check (read_rate > 0),
  created_at  timestamptz not null default now(),
  -- Null means never.
  expires_at  timestamptz,
  revoked_at  timestamptz,
  -- True if this key may make and revoke keys of its account (make_key). Only an operator sets it.
  manages_keys boolean not null default false,
  -- The key that made this one; null if an operator did.
  made_by     text references api_keys (id)
);
create index api_keys_account on api_keys (account_id);

-- Makes a key for the account of the key \`parent\`, which must manage keys. The new key may do no more
-- than its parent: it has the parent's channels and rates, and of models and expiry a part. Returns
-- 'made', or why not. It runs with the rights of its owner, because the API may not write keys. A key
-- with a budget makes none, because they would not share it.
--
-- Both functions trust nothing of their transaction, which an attacker in an API process may have begun
-- long ago: they refuse an old snapshot, read the clock, and read the parent after they got the lock.
create function make_key(
  parent text, new_id text, new_name text, new_digest bytea, new_last_four text, new_models text[],
  new_expires_at timestamptz
) returns text language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  maker api_keys%rowtype;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 'not_allowed';
  end if;
  -- The lock makes the creates of an account wait for each other, so that each counts the others.
  perform from accounts where id = (select account_id from api_keys where id = parent)
      and disabled_at is null for no key update;
  if not found then
    return 'not_allowed';
  end if;
  select * into maker from api_keys
   where id = parent and manages_keys and revoked_at is null
     and coalesce(expires_at > clock_timestamp(), true) for share;
  if not found then
    return 'not_allowed';
  end if;
  if exists (select from budgets where key_id = maker.id) then
    return 'budget';
  end if;
  if not coalesce(new_models <@ maker.models, true) then
    return 'models';
  end if;
  if new_expires_at <= clock_timestamp() or new_expires_at > maker.expires_at then
    return 'expires_at';
  end if;
  if (select count(*) from api_keys where account_id = maker.account_id and revoked_at is null
         and coalesce(expires_at > clock_timestamp(), true)) >= 50
     -- Ended keys stay, so their number is bounded too.
     or (select count(*) from api_keys where account_id = maker.account_id and made_by is not null
            and created_at > clock_timestamp() - interval '1 day') >= 200 then
    return 'too_many';
  end if;
  insert into api_keys (id, account_id, name, digest, last_four, models, channels, create_rate,
                        read_rate, expires_at, made_by)
  values (new_id, maker.account_id, new_name, new_digest, new_last_four,
          coalesce(new_models, maker.models), maker.channels, maker.create_rate, maker.read_rate,
          coalesce(new_expires_at, maker.expires_at), maker.id);
  return 'made';
end $$;
revoke all on function make_key from public;

-- Revokes a key of the account of the key \`parent\`, which must manage keys. A key that is revoked
-- again keeps its first time. Returns 'revoked', or why not.
create function end_key(parent text, key_id text) returns text
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  owner_id text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 'not_allowed';
  end if;
  select account_id into owner_id from api_keys join accounts on accounts.id = account_id
   where api_keys.id = parent and manages_keys and revoked_at is null
     and coalesce(expires_at > clock_timestamp(), true) and disabled_at is null
     for share of api_keys;
  if not found then
    return 'not_allowed';
  end if;
  update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp())
   where id = key_id and account_id = owner_id;
  return case when found then 'revoked' else 'not_found' end;
end $$;
revoke all on function end_key from public;

-- One secret that signs the callbacks of a customer. During a rotation the previous secret stays
-- valid until \`expires_at\`.
create table webhook_secrets (
  id          bigint generated always as identity primary key,
  account_id  text not null references accounts (id),
  secret      text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz
);
create index webhook_secrets_account on webhook_secrets (account_id);

-- An address that receives the callbacks of tasks that name no address of their own, and alerts. A
-- row is never changed. The newest webhook that takes an event gets its message.
create table webhooks (
  id          text primary key,
  account_id  text not null references accounts (id),
  url         text not null,
  -- The final states of tasks, and the events of alerts, that are sent.
  events      text[] not null,
  secret      text not null,
  created_at  timestamptz not null default now()
);
create index webhooks_account on webhooks (account_id, created_at desc, id desc);
`;

/** Tasks: the videos that customers asked for. */
const tasks = `
-- One accepted task. The row is stored before the workflow of the task is started. The task is
-- pending until the workflow opens it, in the transaction that also holds the money (ledger.rows.ts).
create table tasks (
  id           text primary key,
  account_id   text not null references accounts (id),
  -- The API key that created the task.
  key_id       text,
  model        text not null,
  -- The public task object, stored by the end of the task; GET sends it unchanged. It is written again
  -- when its results are removed and when the task is forgotten. The object of a live task is derived
  -- from this row and the rows of its jobs (liveObject in tasks/task.rules.ts).
  object       json,
  -- succeeded or failed; null while the task lives.
  status       text generated always as (object->>'status') stored,
  -- The request after parsing. It is emptied when the task is forgotten.
  request      json not null,
  -- The values that the create inferred from the request, with the prices (planning/plan-types.rules.ts).
  plan         json not null,
  -- Shows whether a repeated Idempotency-Key has another body. A forgotten task has an empty hash; that of
  -- an erased one is 'erased' until its jobs and its callback are deleted too.
  request_hash text not null,
  trace_id     text not null,
  -- The hold of the task. While the task is pending, \`balances.pending\` contains this amount.
  hold_micros  micros not null default 0,
  -- The status that the create answered: pending if true, else submitted. Reads show it until the
  -- task is opened, so that no read goes back.
  told_pending boolean not null default false,
  -- How many repeats without an Idempotency-Key this task has answered (repeated.rows.ts). Null if it
  -- answers none: its create had a key, or its client does not repeat, or its caller has the id.
  repeats      smallint,
  -- While the task is pending, its workflow must be started (src/owed).
  owes         task_duty,
  due_at       timestamptz,
  state        text generated always as (
    case when finished_at is not null then 'ended' when owes is null then 'open' else 'pending' end
  ) stored,
  created_at   timestamptz not null default now(),
  -- The task expires at this time.
  deadline_at  timestamptz not null,
  finished_at  timestamptz,
  check (owes is null or finished_at is null),
  check ((owes is null) = (due_at is null)),
  check ((object is null) = (finished_at is null))
);
-- The lists of an account, newest first: all tasks, by model, by final status, by both, and the
-- unfinished tasks.
create index tasks_account on tasks (account_id, created_at desc, id desc);
create index tasks_account_model on tasks (account_id, model, created_at desc, id desc);
create index tasks_account_ended on tasks (account_id, status, created_at desc, id desc)
  where finished_at is not null;
create index tasks_account_model_ended
  on tasks (account_id, model, status, created_at desc, id desc) where finished_at is not null;
create index tasks_account_open on tasks (account_id, created_at desc, id desc)
  where finished_at is null;
-- The ended tasks that are not forgotten yet, oldest first (old-tasks.ts).
create index tasks_kept on tasks (account_id, created_at, id)
  where finished_at is not null and request_hash <> '';
-- The open tasks, for the reconciler.
create index tasks_open on tasks (id) where finished_at is null;
create index tasks_due on tasks (account_id, due_at) where owes is not null;
-- The tasks that may answer a repeat, of equal ones the newest first.
create index tasks_repeatable on tasks (request_hash, created_at desc, id desc)
  where repeats is not null;

-- Gives a repeated create the newest task that may answer it, and counts the repeat. Returns
-- 'running' if a create with an equal body is being stored. It is a function because the search must
-- see what was committed before the lock was granted: each statement of a function sees the newest
-- rows, and the call is one round trip without an open transaction.
create function answer_repeat(
  lock bigint, account text, key text, hash text, repeat smallint, within interval
) returns text language plpgsql as $$
declare
  found text;
begin
  if not pg_try_advisory_xact_lock(lock) then
    return 'running';
  end if;
  update tasks set repeats = repeat
   where id = (
     select id from tasks
      where repeats < repeat and request_hash = hash and account_id = account and key_id = key
        and created_at > now() - within
        -- A task that ended while it was pending cost nothing, so its repeat is a new create.
        and (finished_at is null or object->'billing' is not null)
      order by created_at desc, id desc limit 1)
     -- Again, because the task may have been read or may have ended since it was found.
     and repeats < repeat and (finished_at is null or object->'billing' is not null)
  returning id into found;
  return found;
end $$;

-- Fails the whole statement of a create whose task another call has stored meanwhile. The create then
-- decides again (accept.rows.ts).
create function refuse_stored_task() returns boolean language plpgsql as $$
begin
  raise exception 'another call has stored this task' using errcode = '40001';
end $$;

-- One label of a task, for lists that are filtered by labels. The request of the task has the
-- labels too. \`created_at\` is copied from the task, so that an index has the tasks of a label in the
-- order of a list.
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

/**
 * Jobs: the work for a task at an upstream channel. A task has one job for the generation and, if
 * the caller asked for super-resolution, a second job for that.
 */
const jobs = `
-- One job. Its state is one of these:
--   planned   no channel has the job; stored when the task opens, or when its generation succeeds
--   waiting   none of its \`channels\` takes it, and one is full; one with a free slot gives the job a
--             turn. Most jobs skip this state
--   sending   stored before the create request is sent, so that a crash in between is noticed
--   open      the channel has accepted the job as \`upstream_id\`; a watcher polls the job
--   reported  the job has ended; its activity is notified until the task goes on
--   closed    nobody waits for the job any more: its workflow reads the end in this row, or has ended
-- A job goes back from \`sending\` to planned if its create was refused, not sent or never arrived. It goes
-- back from \`waiting\` to planned if all of its channels have left the catalogue, and then owes the turn
-- until its workflow is told.
create table jobs (
  -- Without a foreign key: a job is stored by a statement that reads its task, and no task is removed.
  task_id        text not null,
  -- generation or super_resolution.
  kind           text not null,
  -- Copied from the task.
  account_id     text not null,
  state          job_state not null default 'planned',
  -- The attempt of the activity that sends the create or looks for its job. An attempt that Temporal
  -- has given up may still run: a refusal that it gets does not count. A job that it gets does.
  attempt        text,
  -- The channels for which the job waits, the preferred one first and the others by name, and since
  -- when.
  channels       text[],
  waiting_since  timestamptz,
  -- The time of the last turn (jobs/slots.rows.ts).
  turn_at        timestamptz,
  -- The channel that has the job or gave it a turn, and the name of the model there.
  channel        text,
  upstream_model text,
  -- The time of the create; null again if the channel did not accept the job.
  sent_at        timestamptz,
  -- True if the create of \`sent_at\` may be repeated, because it had an idempotency key.
  repeatable     boolean not null default false,
  -- If the answer to the create was lost: since this time the channel's list does not show whether
  -- there is a job.
  searched_since timestamptz,
  -- The id of the job at its channel. Two tasks never have the same upstream job.
  upstream_id    text,
  opened_at      timestamptz,
  -- The status in the provider's last report; queued if there is none.
  status         text not null default 'queued',
  -- The provider's last report.
  -- \`jsonb\` refuses a text that could not be read later.
  report         jsonb,
  -- Why no channel has the job: this service gave it up, or a provider refused it.
  refusal        jsonb,
  -- What the job cost upstream, by the figures of the catalogue when the task was planned; null if
  -- it is not known or if nothing was made. Callers never see it.
  cost_micros    micros,
  -- Since this time the provider has not known the job, and the job holds no slot.
  missing_since  timestamptz,
  -- What is owed and since when (jobs/owed.rows.ts, jobs/cancels.rows.ts):
  --   place   until then an attempt is at work, or the next one is to begin
  --   turn    the workflow must be told that the job can be placed
  --   tell    the workflow must be told the end of the job
  --   cancel  the task has ended, and the job may still run; 'infinity' if no cancel succeeded and
  --           none is tried any more
  owes           job_duty,
  due_at         timestamptz,
  primary key (task_id, kind),
  check (channel is not null or state in ('planned', 'waiting', 'closed')),
  check ((owes is null) = (due_at is null))
);
create index jobs_live on jobs (channel, state) where state <> 'closed';
create index jobs_queues
  on jobs (account_id, kind, hash_array_extended(channels, 0), coalesce(turn_at, waiting_since),
           task_id)
  where state = 'waiting';
create index jobs_at_generator on jobs (account_id)
  where kind = 'generation' and channel is not null and state in ('waiting', 'sending', 'open');
create index jobs_due on jobs (owes, account_id, due_at) where owes is not null;
create unique index jobs_upstream on jobs (channel, upstream_id);

-- What the loops of the workers keep between their rounds and runs: the reconciler, the audit, and
-- one watcher for each channel.
create table loops (
  kind                 text not null check (kind in ('reconciler', 'audit', 'watcher')),
  channel              text not null default '',
  -- The time of the last round or run.
  ran_at               timestamptz not null default 'epoch',
  -- Where the loop continues. For the reconciler, the last task that it checked: it checks a slice of
  -- the open tasks in each run. For a watcher, the account that was last given a turn.
  continues_after      text not null default '',
  -- The kind of the channel's last fault and its time, for operators, and the end of the longest rest
  -- that a process has given the channel. Until then the channel gives no turns. The rests themselves
  -- are in the processes.
  fault                text,
  fault_at             timestamptz,
  rests_until          timestamptz,
  -- An operator has paused the channel: since when, who, and why. It takes no new jobs.
  paused_at            timestamptz,
  paused_by            text,
  paused_why           text,
  -- For the reconciler. Many tasks that are unknown to Temporal are closed only if an operator has
  -- confirmed the loss. The confirmation is valid until this time.
  loss_confirmed_until timestamptz,
  -- For the audit: it found no difference in the movements before this time.
  agreed_until         timestamptz,
  primary key (kind, channel)
);
insert into loops (kind) values ('reconciler');
`;

/** Money: the balance of each customer, and every movement. */
const ledger = `
-- The balance of one customer. The statement that writes a movement also changes this row, so the
-- balance always equals the sum of the movements. Totals over all customers are not stored, because
-- every statement would wait for that one row. Amounts stay within the safe integers of JavaScript.
-- The fill factor leaves half of each page free, so that a changed row stays on its page.
create table balances (
  account_id text primary key references accounts (id),
  currency   text not null default 'CNY',
  -- The amount that new tasks may use. A charge above the hold or a correction can lead to a
  -- negative amount.
  available  signed_micros not null default 0,
  -- The sum of the holds of open tasks.
  held       micros not null default 0,
  open_tasks integer not null default 0 check (open_tasks >= 0),
  -- The sum of the holds of pending tasks, and their number. No money has moved for them yet, but a
  -- create may use only what they leave (accounts/pending-sums.rows.ts).
  pending    micros not null default 0,
  pending_tasks integer not null default 0 check (pending_tasks >= 0),
  -- The number of the last movement.
  last_seq   bigint not null default 0
) with (fillfactor = 50);

-- One movement of money from one ledger account (\`debit\`) to another (\`credit\`). Each customer
-- has two ledger accounts, \`available\` and \`held\`; the others are the operator's. The kinds of
-- movements and their ledger accounts are a closed list.
-- A movement is never changed and never removed.
create table transfers (
  -- Chosen by the code that moves the money, so that a repeated call moves nothing.
  id              text primary key,
  -- Without a foreign key: \`seq\` is taken from a row of \`balances\`, so the account exists.
  account_id      text not null,
  -- The number of the movement in its account, without gaps.
  seq             bigint not null,
  kind            text not null,
  debit           text not null,
  credit          text not null,
  amount          moved_micros not null,
  -- The balance after the movement.
  available_after bigint not null,
  held_after      bigint not null,
  task_id         text,
  -- Copied from the task, where they never change, so that one index is enough to sum up a budget.
  key_id          text,
  task_created_at timestamptz,
  -- The text that the customer reads; if it is empty, the text of the kind.
  reason          text not null default '',
  created_at      timestamptz not null default now(),
  unique (account_id, seq),
  constraint transfers_kinds check (
    cast(kind || ': ' || debit || ' to ' || credit as movement) is not null)
);

create index transfers_budgets on transfers (account_id, task_created_at)
  include (key_id, kind, amount) where task_created_at is not null;

-- The corrections of a task. Its other movements are found by their ids.
create index transfers_corrections on transfers (task_id)
  where kind = 'correction' and task_id is not null;

-- The credits and corrections of an account, for the summaries of its months.
create index transfers_given on transfers (account_id, created_at) where task_created_at is null;

-- The movements of a day, of all accounts (usage-parts.rows.ts). Movements are stored in the order of
-- their times, so a small index of page ranges finds them.
create index transfers_created on transfers
  using brin (created_at) with (pages_per_range = 32, autosummarize = on);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name;
end $$;
create trigger transfers_immutable before update or delete on transfers for each row
  execute function refuse_change();
create trigger transfers_not_truncated before truncate on transfers execute function refuse_change();
`;

/** Budgets: limits on the spending of accounts and keys. */
const budgets = `
-- The limit on the spending of an account, or of one of its keys, in each period. The amount spent
-- is summed from transfers and is not stored. The creates of an account are checked one
-- after the other (accept.rows.ts).
create table budgets (
  account_id   text not null references accounts (id),
  -- Null: the budget applies to all keys of the account together.
  key_id       text references api_keys (id),
  period       text not null check (period in ('day', 'month', 'total')),
  limit_micros micros not null,
  unique nulls not distinct (account_id, key_id, period)
);
`;

/** Usage: what each day brought in and cost, derived from the movements. */
const usage = `
-- What ended on a day, for one account, key, model, channel and kind of job. Hourly, the worker
-- deletes the rows of a day and derives them again (roll-up.rows.ts), so a row is never counted up. The rows stay
-- when tasks are forgotten, and contain no content. A correction of a task counts on the day on
-- which it moved.
create table usage_days (
  -- In the time zone of \`usage_state\`.
  day        date not null,
  account_id text not null,
  -- Empty if the task has no key.
  key_id     text not null,
  model      text not null,
  -- Empty if no channel had the job, or if the job is forgotten.
  channel    text not null,
  -- generation or super_resolution.
  kind       text not null,
  -- Ended tasks, those that failed, and the length of their videos. They count with the generation.
  tasks      integer not null,
  failed     integer not null,
  milliseconds bigint not null,
  -- Jobs that made a video, or ran when their task failed, and those of them whose cost is not known.
  jobs         integer not null,
  without_cost integer not null,
  charged    micros not null,
  -- What corrections of tasks gave back; below zero if they took more.
  corrected  signed_micros not null,
  -- Charges less corrections of the jobs whose cost is not known.
  revenue_without_cost signed_micros not null,
  cost       micros not null,
  -- The part of \`cost\` for videos of tasks that failed.
  lost_cost  micros not null,
  primary key (account_id, day, key_id, model, channel, kind)
);
create index usage_days_day on usage_days (day);

-- The time zone of the days in \`usage_days\`, and the time until which they contain all movements.
create table usage_state (
  only_row boolean primary key default true check (only_row),
  zone     text not null default 'UTC',
  until    timestamptz not null default 'epoch'
);
insert into usage_state default values;
`;

/** Refusals: which customer reaches its limits. */
const refusals = `
-- The refused calls of a customer on a day, in the time zone of \`usage_state\`, that tell of its limits, its
-- money or its rights. They are about right: each API process adds what it counted once a minute.
create table refusals_days (
  day        date not null,
  account_id text not null,
  code       text not null,
  calls      bigint not null,
  primary key (day, account_id, code)
);
`;

/** Callbacks: the state of each task's callback, each attempt to deliver it, and alerts. */
const callbacks = `
-- The callback of one finished task, stored by the statement that ends the task (end-task.rows.ts). Its
-- state is one of these:
--   pending    an attempt is due at \`next_at\`
--   delivered  the receiver accepted the message
--   exhausted  the last attempt failed
--   stopped    the receiver answered 410, its webhook was deleted, or an operator stopped the delivery
--              or erased the account
create table callbacks (
  task_id    text primary key references tasks (id),
  account_id text not null,
  -- The webhook that gets the message; null if the task named an address. There is no foreign key:
  -- a delivery to a deleted webhook stops.
  webhook_id text,
  -- Empty after an erasure.
  url        text not null,
  state      callback_state not null default 'pending',
  -- The number of the current delivery. Each time an operator or the caller has the message
  -- sent again, a new delivery with attempts of its own begins.
  deliveries integer not null default 1,
  -- The time of the next attempt. After a failed attempt the clock of the worker is used.
  next_at    timestamptz,
  -- If the callback is still pending at this time, a delivery is started. An end that no workflow
  -- announces makes the callback due at once. Each attempt moves the time behind the next attempt.
  due_at     timestamptz not null default now(),
  changed_at timestamptz not null default now()
);
create index callbacks_account on callbacks (account_id, state, changed_at desc, task_id desc);
create index callbacks_undelivered on callbacks (state, changed_at) where state <> 'delivered';
create index callbacks_due on callbacks (account_id, due_at) where state = 'pending';

-- One attempt to deliver a callback, stored before its request is sent. An interrupted attempt has
-- no latency.
create table callback_attempts (
  id         bigint generated always as identity primary key,
  task_id    text not null references tasks (id),
  delivery   integer not null,
  -- The number of the attempt within its delivery.
  attempt    integer not null,
  -- By the clock of the worker.
  at         timestamptz not null,
  status     integer,
  latency_ms integer,
  -- The error, and the beginning of the receiver's answer.
  error      text,
  reply      text
);
create index callback_attempts_task on callback_attempts (task_id, id);

-- One alert to a customer: the balance or a budget has crossed a limit, and a webhook of the account
-- took the event then. The webhook is chosen again by each attempt. An alert that is \`pending\` owes
-- an attempt at \`due_at\`.
create table alerts (
  id         text primary key,
  account_id text not null references accounts (id),
  event      alert_event not null,
  -- The limit that was crossed: its amount, and of a budget its key and its period.
  subject    text not null,
  -- Until then the same crossing is not announced again: the end of the budget's period, or the time
  -- at which the balance was back. 'infinity' if neither is known.
  until      timestamptz not null,
  -- The amounts at the crossing.
  data       json not null,
  created_at timestamptz not null default now(),
  state      callback_state not null default 'pending',
  due_at     timestamptz not null default now(),
  -- Attempts that had a result, and the last result.
  attempts   integer not null default 0,
  status     integer,
  error      text,
  unique (account_id, event, subject, until)
);
create index alerts_account on alerts (account_id, created_at desc);
create index alerts_until on alerts (until);
create index alerts_due on alerts (account_id, due_at) where state = 'pending';
`;

/** Files: the results of tasks, and the uploads of customers. */
const files = `
-- One file: an upload of a customer, or a result of a task. The bytes are in the storage. The state
-- of a file is one of these:
--   awaited  the bytes are still to be copied or received
--   stored   the storage has the bytes; length, type and digest are known
--   removed  the link has ended; removed_at is null until the bytes are deleted
-- The results of a failed task expire at its end.
create table files (
  id                text primary key,
  account_id        text not null references accounts (id),
  -- Null for an upload.
  task_id           text references tasks (id),
  role              file_role not null,
  state             file_state not null default 'awaited',
  -- The name of the bytes in the storage.
  key               text not null unique,
  -- The secret part of the public link.
  link_token        text not null unique,
  -- The provider's link, from which a result is copied. The provider gives the time at
  -- which the link expires; otherwise 24 hours are assumed.
  source_url        text,
  source_expires_at timestamptz,
  -- The name that the caller gave to an upload.
  name              text,
  media             file_media not null,
  content_type      text,
  -- Bytes. An awaited upload reserves the largest length that it can have.
  length            bigint check (length >= 0),
  sha256            bytea,
  -- The duration of a video, if its file contains it.
  duration_ms       integer,
  -- The size in pixels of a video that a task made.
  width             integer,
  height            integer,
  created_at        timestamptz not null default now(),
  expires_at        timestamptz not null,
  -- Each file owes its deletion. It is due at \`expires_at\`, but not before this time: until then a
  -- worker tries it, or bytes may still arrive. Null if it was not tried yet.
  due_at            timestamptz,
  -- When the bytes of a removed file were deleted.
  removed_at        timestamptz,
  removed_because   removal_cause,
  unique (task_id, role),
  check ((role = 'upload') = (task_id is null)),
  check ((state = 'removed') = (removed_because is not null)),
  check (state <> 'stored' or (content_type is not null and length is not null))
);
create index files_uploads on files (account_id, created_at desc, id desc)
  where role = 'upload' and state <> 'removed';
create index files_uploads_removed on files (removed_at) where role = 'upload' and state = 'removed';
create index files_unfinished on files (created_at)
  where state = 'awaited';
create index files_due on files (greatest(due_at, expires_at)) where removed_at is null;
`;

/** Operators: who may sign in to the console, and the log of their actions. */
const operators = `
create domain operator_role as text check (value in ('viewer', 'operator', 'owner'));

-- A person or a script that may call the admin API. Only the digest of its key is stored.
create table operators (
  id          text primary key,
  -- Stands in the log as \`who\`.
  name        text not null unique,
  role        operator_role not null,
  digest      bytea not null unique,
  last_four   text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  disabled_at timestamptz
);

-- The session of a browser. Its cookie is not stored, only the digest of the cookie.
create table operator_sessions (
  digest      bytea primary key,
  operator_id text not null references operators (id),
  -- The digest of the key that began the session.
  key_digest  bytea not null,
  created_at  timestamptz not null default now(),
  -- The time of the last call, within a minute.
  seen_at     timestamptz not null default now()
);

-- One act of an operator, stored in the transaction of the act. There is no foreign key, because
-- the act is kept longer than the rows that it changed.
create table operator_log (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  who        text not null,
  -- The database role of the connection.
  role       text not null default current_user,
  -- The command as it was typed.
  command    text not null,
  -- What the command changed, and from what to what.
  effect     text not null,
  account_id text,
  why        text,
  -- The operator who called the admin API; null for a command line.
  operator_id text,
  via        text not null default 'cli' check (via in ('cli', 'api', 'console'))
);
create index operator_log_account on operator_log (account_id, id desc);
create trigger operator_log_immutable before update or delete on operator_log for each row
  execute function refuse_change();
create trigger operator_log_not_truncated before truncate on operator_log
  execute function refuse_change();
`;

/** Vacuum of the tables that lose many rows, and of the one that only grows. */
const vacuum = `
-- Until a vacuum, searches for old tasks and lists of an account also read the index entries of
-- deleted rows. So a vacuum starts as soon as 2% of the rows are dead; the default is 20%.
${['tasks', 'task_labels', 'jobs', 'callbacks', 'callback_attempts', 'files']
  .map((table) => `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.02);`)
  .join('\n')}
-- No movement is removed, so by default a vacuum starts after 20% of the table is new. Until then,
-- the sums of a budget read the table and not only its index.
alter table transfers set (autovacuum_vacuum_insert_scale_factor = 0.01);
`;

export const schema = [
  types,
  customers,
  tasks,
  jobs,
  ledger,
  usage,
  budgets,
  refusals,
  callbacks,
  files,
  operators,
  vacuum,
].join('');
