// Slots limit the number of jobs that a channel or an account has in progress. If no slot is free,
// a job waits in a queue until a channel gives the job a turn. A turn reserves a slot. Turns are
// divided between accounts by weight. Within an account the job that has waited longest is first.

import type { Knex } from 'knex';
import type { JobInput, JobName } from '../../domain/job';
import { prepare } from '../prepared-statement';
import type { Destination } from './steps';

// A turn reserves a slot for this time.
const promise = `interval '30 seconds'`;
// True while a job must not get another turn, because it did not use its last turn. This lasts one
// minute after the first turn, two minutes after the second, and at most five minutes.
const isPassedOver = `coalesce(turn_at + least(${promise} * 2 ^ least(turns, 10), interval '5 minutes'), '-infinity') > now()`;
// A job that did not use its last turn queues as if it had begun to wait at the time of that turn.
const waitsSince = 'coalesce(turn_at, waiting_since)';
const turnsMax = 500;

const keepsSlot = `
  (state in ('sending', 'open') and gone_at is null
   or state = 'waiting' and turn_at > now() - ${promise})`;

const usedSlots = `
  select count(*) from jobs where channel = :channel and task_id <> :taskId and ${keepsSlot}`;

/**
 * The number of other tasks of the account whose generation uses or has reserved a slot, in any
 * channel.
 */
const atGenerator = (accountId: string) => `
  select count(*) from jobs
   where account_id = ${accountId} and task_id <> :taskId and kind = 'generation'
     and channel is not null and state in ('waiting', 'sending', 'open') and ${keepsSlot}`;

const waitsHere = `
  state = 'waiting' and channels @> array[:channel] and task_id <> :taskId
  and not ${isPassedOver}`;

// The queues: all pairs of an account and a kind that have waiting jobs. Each pair costs one
// look-up in the index `jobs_queues`, so a long queue costs no more than a short queue.
const queues = `
  queued as (
    (select account_id, kind from jobs where state = 'waiting' order by 1, 2 limit 1)
    union all
    select after.account_id, after.kind
      from queued cross join lateral (
        select jobs.account_id, jobs.kind from jobs
         where state = 'waiting' and (jobs.account_id, jobs.kind) > (queued.account_id, queued.kind)
         order by 1, 2 limit 1) after
  )`;

/** Selects the first jobs of a queue. Jobs that do not wait for this channel are left out. */
const firstOf = (limit: string) => `
  select task_id, ${waitsSince} as since from jobs
   where account_id = queued.account_id and kind = queued.kind and ${waitsHere}
   order by ${waitsSince}, task_id limit ${limit}`;

// True if another waiting job must get a slot before this job. The jobs of an account that has
// reached its own limit do not count. If the channel has no limit, only the waiting jobs of the
// same account count.
const othersWait = `
  exists (with recursive ${queues}
          select 1 from queued left join accounts on id = account_id
            cross join lateral (${firstOf('1')}) first
           where account_id = :accountId
              or cast(:slots as int) is not null
                 and (queued.kind <> 'generation' or running_max is null
                      or running_max > (${atGenerator('queued.account_id')})))`;

const hasItsTurn = `channel = :channel and turn_at > now() - ${promise}`;

const hasNoLimit = `
  (kind <> 'generation'
   or not exists (select 1 from accounts where id = :accountId and running_max is not null))`;

const isFree = `
  case when (${usedSlots}) >= cast(:slots as int) then false
       when kind = 'generation'
            and (${atGenerator(':accountId')}) >= (select running_max from accounts
                                                    where id = :accountId) then false
       else ${hasItsTurn} or not ${othersWait} end`;

/**
 * planned or waiting → sending. This is stored before a create request is sent. `moved`: the job is
 * already past this step or its task has ended, so nothing may be sent. `full`: the channel or the
 * account has no free slot, or other waiting jobs come first. The statement locks the row of the
 * task. So a transaction that ends the task waits for this statement and then closes the job.
 */
export async function takeSlot(
  db: Knex,
  { taskId, kind, accountId }: JobInput,
  { channel, upstreamModel, repeatable = false }: Destination,
  slots: number | null,
  attempt: string,
): Promise<'taken' | 'full' | 'moved'> {
  const bindings = { taskId, kind, accountId, channel, upstreamModel, repeatable, slots, attempt };
  if (slots === null) {
    const taken = await takeUnlimited(db, bindings);
    if (taken.length > 0) return 'taken';
  }
  return db.transaction(async (trx) => {
    if (slots !== null) await lockSlots(trx, channel);
    await lockAccounts(trx, 'values (cast(:accountId as text))', bindings);
    const { rows } = await trx.raw<{ rows: unknown[] }>(takingSlot(isFree), bindings);
    if (rows.length > 0) return 'taken';
    const { rows: placeable } = await trx.raw<{ rows: unknown[] }>(
      `select 1 from jobs join tasks on tasks.id = jobs.task_id
        where task_id = :taskId and kind = :kind and state in ('planned', 'waiting')
          and finished_at is null`,
      { taskId, kind },
    );
    return placeable.length > 0 ? 'full' : 'moved';
  });
}

function takingSlot(condition: string): string {
  return `
    update jobs
       set state = 'sending', channel = :channel, upstream_model = :upstreamModel, sent_at = now(),
           repeatable = cast(:repeatable as boolean),
           attempt = :attempt, check_at = now() + interval '5 seconds'
     where task_id = :taskId and kind = :kind and state in ('planned', 'waiting')
       and exists (select 1 from tasks where id = :taskId and finished_at is null for share)
       and ${condition}
    returning 1`;
}

const takeUnlimited = prepare('take_slot', takingSlot(hasNoLimit));

/**
 * For each account with waiting jobs: its next turn, which is a number, and how many more jobs its
 * own limit allows. The next turn is never below the highest turn of the channel, so an account
 * that did not wait for some time gets no advantage.
 */
const shares = `
  select queued.account_id, weight, greatest(last.turn + 1.0 / weight, begun.turn, 0) as turn,
         running_max - (${atGenerator('queued.account_id')}) as room
    from (select distinct account_id from queue) queued
    join lateral (select coalesce(max(weight), 1) as weight, max(running_max) as running_max
                    from accounts where id = queued.account_id) terms on true
   cross join (select max(turn) as turn from account_turns where channel = :channel) begun
    left join account_turns last
      on last.channel = :channel and last.account_id = queued.account_id`;

/**
 * Gives turns to waiting jobs and reserves a slot for each turn. The free slots of the channel and
 * the limits of the accounts determine the number of turns.
 */
export async function giveTurns(
  db: Knex,
  channel: string,
  slots: number | null,
): Promise<readonly JobName[]> {
  // This query runs before the locks, because most rounds of a watcher find no waiting job.
  const { rows: waiting } = await db.raw<{ rows: unknown[] }>(
    // With this order PostgreSQL uses the index `jobs_queues` even if the statistics of the table
    // are outdated.
    `select 1 from jobs where state = 'waiting' order by account_id, kind limit 1`,
  );
  if (waiting.length === 0) return [];
  const bindings = { channel, slots, taskId: '' };
  return db.transaction(async (trx) => {
    await lockSlots(trx, channel);
    await lockAccounts(trx, `with recursive ${queues} select account_id from queued`, bindings);
    const { rows } = await trx.raw<{ rows: JobName[] }>(
      `with recursive ${queues}, free as (
         select case when cast(:slots as int) is null then ${turnsMax}
                     else greatest(0, least(${turnsMax}, :slots - (${usedSlots}))) end as slots
       ), queue as (
         select task_id, kind, account_id, since,
                row_number() over (partition by account_id, kind order by since, task_id) as nth
           from queued cross join lateral (${firstOf('(select slots from free)')}) first
       ), share as (${shares}
       ), next as (
         select task_id, kind, account_id, share.turn + (nth - 1.0) / weight as turn
           from queue join share using (account_id)
          where kind <> 'generation' or room is null or nth <= room
          order by 4, since, task_id
          limit (select slots from free)
       ), given as (
         update jobs
            set channel = :channel, turn_at = now(), turns = turns + 1,
                planned_at = now(), check_at = now() + interval '5 seconds'
           from next
          where jobs.task_id = next.task_id and jobs.kind = next.kind and state = 'waiting'
         returning jobs.task_id, jobs.kind, jobs.account_id, next.turn
       ), counted as (
         insert into account_turns (channel, account_id, turn)
         select :channel, account_id, max(turn) from given group by account_id
         on conflict (channel, account_id) do update set turn = excluded.turn
       )
       select task_id as "taskId", kind from given`,
      bindings,
    );
    return rows;
  });
}

/**
 * waiting → planned, for jobs whose channels are all missing in the catalogue. No channel can give
 * such a job a turn. So the activity of the job retries until one of these channels is in the
 * catalogue again. If the task was not signalled, the next check of the job signals the task
 * (activities/jobs/recover-stalled-placements.ts).
 */
export async function releaseStranded(
  db: Knex,
  channels: readonly string[],
): Promise<readonly JobName[]> {
  const { rows } = await db.raw<{ rows: JobName[] }>(
    `update jobs
        set state = 'planned', planned_at = now(), check_at = now() + interval '5 seconds'
      where (task_id, kind) in (select task_id, kind from jobs
                                 where state = 'waiting' and not channels && cast(? as text[])
                                 limit ${turnsMax})
     returning task_id as "taskId", kind`,
    [[...channels]],
  );
  return rows;
}

/**
 * Takes back the turns of jobs whose tasks could not be notified. The jobs keep their positions in
 * the queue.
 */
export async function takeBackTurns(db: Knex, names: readonly JobName[]): Promise<void> {
  if (names.length === 0) return;
  await db.raw(
    `update jobs
        set state = 'waiting', channel = null, turn_at = null, turns = greatest(0, turns - 1),
            check_at = 'infinity'
       from json_to_recordset(?) as n (task_id text, kind text)
      where jobs.task_id = n.task_id and jobs.kind = n.kind
        and state in ('planned', 'waiting')`,
    [JSON.stringify(names.map(({ taskId, kind }) => ({ task_id: taskId, kind })))],
  );
}

/** Each channel has its own lock, so that channels do not wait for each other. */
async function lockSlots(trx: Knex.Transaction, channel: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtext(?))', [`slots:${channel}`]);
}

/**
 * Locks the accounts that have a `running_max`, because this limit counts the jobs in all channels.
 * The lock of the channel is always taken first, and then the accounts in the order of their ids.
 * This order prevents deadlocks.
 */
async function lockAccounts(
  trx: Knex.Transaction,
  accountIds: string,
  bindings: Knex.ValueDict,
): Promise<void> {
  await trx.raw(
    `select 1 from accounts where id in (${accountIds}) and running_max is not null
      order by id for no key update`,
    bindings,
  );
}
