// Slots limit the number of jobs that a channel or an account has in progress. If no slot is free,
// a job waits in a queue until a channel gives the job a turn. A turn reserves a slot. The accounts
// take turns in the order of their ids, beginning after the account that had the last turn. Within
// an account the job that has waited longest is first.

import type { Knex } from 'knex';
import { isInState, isOwing } from '../database/by-key';
import { prepare } from '../database/prepared-statement';
import type { JobInput, JobName } from './job.rules';
import { changeNamed } from './named-jobs.rows';
import { placingLease, reserved, toldAgain } from './owed.rows';
import { secondsLeft } from './queries.rows';
import type { Destination } from './steps.rows';

// A job that did not use its turn gets the next one after this time at the earliest, and queues as if
// it had begun to wait when it got the turn.
const passedOver = `interval '1 minute'`;
const mayHaveTurn = `coalesce(turn_at <= now() - ${passedOver}, true)`;
const turnsMax = 500;

/** SQL for the condition that a job uses a slot or has reserved one. */
export const keepsSlot = `
  (state in ('sending', 'open') and missing_since is null
   or state = 'waiting' and turn_at > now() - ${reserved})`;

/** SQL for the condition that an operator has paused the channel. It then counts as full. */
const isPaused = `
  exists (select from loops
           where kind = 'watcher' and loops.channel = :channel and paused_at is not null)`;

/** The slots of the channel that other jobs use or have reserved. */
const usedSlots = `
  select count(*) from jobs where channel = :channel and task_id <> :taskId and ${keepsSlot}`;

/**
 * The number of further generations that the limit of an account allows in all channels together;
 * null if the account has no limit.
 */
const roomOf = (accountId: string) => `
  select running_max - (select count(*) from jobs
                         where account_id = accounts.id and task_id <> :taskId
                           and kind = 'generation' and channel is not null
                           and state in ('waiting', 'sending', 'open') and ${keepsSlot})
    from accounts where id = ${accountId} and running_max is not null`;

// The index has the hash of the list, because an entry of an index cannot hold a long list.
const hashOfChannels = 'hash_array_extended(channels, 0)';

/**
 * `line` contains the other jobs that wait for the channel and may run: of each account the
 * first `depth` jobs, numbered by `nth`. There is a queue for each account, kind and list of channels
 * (waitForTurn in steps.rows.ts keeps the lists few). Each queue costs one look-up in the index
 * `jobs_queues`, so a long queue costs no more than a short one, whichever channel it is for.
 */
const lineOf = (depth: string) => `
  recursive queue as (
    (select account_id, kind, ${hashOfChannels} as hash, channels from jobs
      where state = 'waiting' order by 1, 2, 3 limit 1)
    union all
    select next.* from queue cross join lateral (
      select account_id, kind, ${hashOfChannels}, channels from jobs
       where state = 'waiting'
         and (account_id, kind, ${hashOfChannels}) > (queue.account_id, queue.kind, queue.hash)
       order by 1, 2, 3 limit 1) next
  ), first as (
    select account_id, queue.kind, task_id, room,
           row_number() over (partition by account_id, queue.kind order by since, task_id) as nth
      from (select * from queue where channels @> array[:channel]) queue
      left join lateral (${roomOf('queue.account_id')}) limits (room)
           on queue.kind = 'generation'
     cross join lateral (
       select task_id, coalesce(turn_at, waiting_since) as since from jobs
        where account_id = queue.account_id and kind = queue.kind
          and ${hashOfChannels} = queue.hash and state = 'waiting' and task_id <> :taskId
          and ${mayHaveTurn}
        order by 2, 1 limit greatest(0, least(${depth}, room))) job
  ), line as (
    select account_id, kind, task_id, nth from first where nth <= least(${depth}, room)
  )`;

const hasItsTurn = `channel = :channel and turn_at > now() - ${reserved}`;

/** True if the job may run now: a slot is free, and no other job is first. */
const mayRun = `
  case when ${isPaused} then false
       when (${usedSlots}) >= cast(:slots as int) then false
       when kind = 'generation' and (${roomOf(':accountId')}) <= 0 then false
       else ${hasItsTurn} or not exists (select 1 from line) end`;

const hasNoLimit = `
  (kind <> 'generation'
   or not exists (select 1 from accounts where id = :accountId and running_max is not null))
   and not ${isPaused}`;

// After its deadline a task fails, even if its workflow has not ended it yet.
const placeableTask = `
  select 1 from tasks where id = :taskId and state <> 'ended' and deadline_at > now()`;

interface Taken {
  /** The time from the create to the deadline of the task. */
  readonly secondsLeft: number;
}

type Slot = ({ readonly outcome: 'taken' } & Taken) | { readonly outcome: 'full' | 'moved' };

/**
 * planned or waiting → sending. This is stored before a create request is sent. `moved`: the job is
 * already past this step, or its task is past its deadline or has ended, so nothing may be sent.
 * `full`: the channel is paused, the channel or the account has no free slot, other waiting jobs come
 * first, or a later attempt has queued the job: then its workflow waits for a turn, and would not go
 * on with what this attempt leaves. The statement locks the row of the task. So a transaction that
 * ends the task waits for this statement and then closes the job.
 */
export async function takeSlot(
  db: Knex,
  { taskId, kind, accountId }: JobInput,
  { channel, upstreamModel, repeatable = false }: Destination,
  slots: number | null,
  attempt: string,
): Promise<Slot> {
  const bindings = { taskId, kind, accountId, channel, upstreamModel, repeatable, slots, attempt };
  if (slots === null) {
    const [taken] = await takeUnlimited(db, bindings);
    if (taken) return { outcome: 'taken', ...taken };
  }
  return db.transaction(async (trx) => {
    if (slots !== null) await lockSlots(trx, channel);
    await lockAccounts(trx, 'values (cast(:accountId as text))', bindings);
    const { rows } = await trx.raw<{ rows: Taken[] }>(
      `with ${lineOf('1')} ${takingSlot(mayRun)}`,
      bindings,
    );
    if (rows[0]) return { outcome: 'taken', ...rows[0] };
    const { rows: placeable } = await trx.raw<{ rows: unknown[] }>(
      `select 1 from jobs
        where task_id = :taskId and kind = :kind and ${isInState('planned', 'waiting')}
          and exists (${placeableTask})`,
      { taskId, kind },
    );
    return { outcome: placeable.length > 0 ? 'full' : 'moved' };
  });
}

function takingSlot(condition: string): string {
  return `
    update jobs
       set state = 'sending', channel = :channel, upstream_model = :upstreamModel, sent_at = now(),
           repeatable = cast(:repeatable as boolean), searched_since = null,
           attempt = :attempt, owes = 'place', due_at = now() + ${placingLease}
     where task_id = :taskId and kind = :kind and ${isInState('planned', 'waiting')}
       and ${isOwing('place')}
       and exists (${placeableTask} for share)
       and ${condition}
    returning ${secondsLeft} as "secondsLeft"`;
}

const takeUnlimited = prepare<Taken>('take_slot', takingSlot(hasNoLimit));

// Null if the channel has no limit; LEAST ignores it.
const turnsAtMost = `least(${turnsMax}, cast(:slots as int))`;

/**
 * Gives turns to waiting jobs and reserves a slot for each turn: first to the first job of each
 * account, then to the second jobs, until no slot is free. A job past its deadline can use no slot, so
 * it loses its turn at once. A channel that rests or is paused gives no turns, so that the jobs can go
 * to their other channels. If another process has placed a job there since the fault, only the process
 * of the fault rests, for example because of an old key.
 */
export async function giveTurns(
  db: Knex,
  channel: string,
  slots: number | null,
): Promise<readonly JobName[]> {
  // This query runs before the locks, because most rounds of a watcher find no waiting job.
  if ((await selectOneWaiting(db, { channel })).length === 0) return [];
  const bindings = { channel, slots, taskId: '' };
  return db.transaction(async (trx) => {
    await lockSlots(trx, channel);
    await lockAccounts(trx, `with ${lineOf('1')} select account_id from line`, bindings);
    const { rows } = await trx.raw<{ rows: (JobName & { readonly isInTime: boolean })[] }>(
      `with ${lineOf(turnsAtMost)}, next as (
         select line.*, row_number() over (order by nth, account_id <= last_turn, account_id) as place
           from line, (select coalesce(max(continues_after), '') as last_turn from loops
                        where kind = 'watcher' and channel = :channel) before
          order by place
          limit greatest(0, least(${turnsMax}, cast(:slots as int) - (${usedSlots})))
       ), locked as materialized (
         -- Another channel may have given one of these jobs a turn meanwhile, or be about to.
         select jobs.task_id, jobs.kind, place,
                (select deadline_at > now() from tasks where id = task_id) as is_in_time
           from jobs join next using (task_id, kind)
          where ${isInState('waiting')} and ${mayHaveTurn}
            for no key update of jobs skip locked
       ), remembered as (
         insert into loops (kind, channel, continues_after)
         select 'watcher', :channel, account_id from next join locked using (place)
          order by place desc limit 1
         on conflict (kind, channel) do update set continues_after = excluded.continues_after
       )
       update jobs
          set channel = case when is_in_time then :channel end,
              -- Not the start of the transaction, which may have waited for the lock: an attempt that
              -- began meanwhile must see that the turn is newer than itself (waitForTurn).
              turn_at = clock_timestamp(),
              -- An attempt that is at work needs no signal.
              owes = case when is_in_time then coalesce(owes, 'turn') else owes end,
              due_at = case when is_in_time then coalesce(due_at, now() + ${toldAgain}) else due_at end
         from locked
        where jobs.task_id = locked.task_id and jobs.kind = locked.kind
          -- The channel may have been paused since the query before the locks.
          and not ${isPaused}
       returning jobs.task_id as "taskId", jobs.kind, is_in_time as "isInTime"`,
      bindings,
    );
    return rows.filter(({ isInTime }) => isInTime).map(({ taskId, kind }) => ({ taskId, kind }));
  });
}

// With this order PostgreSQL uses the index `jobs_queues` even if the statistics of the table are
// outdated.
const selectOneWaiting = prepare(
  'one_waiting_job',
  `with first as (
     select kind from jobs where state = 'waiting' order by account_id, kind limit 1
   )
   select 1 from first
    -- The name of "first" makes PostgreSQL read the rest only if a job waits.
    where not exists (select from loops
                       where first.kind is not null and loops.kind = 'watcher'
                         and loops.channel = :channel
                         and (paused_at is not null
                              or rests_until > now()
                                 and not exists (select from jobs placed
                                                  where placed.channel = :channel
                                                    and state = 'open'
                                                    and opened_at > fault_at)))`,
);

/**
 * waiting → planned, for jobs whose channels are all missing in the catalogue. No channel can give
 * such a job a turn. So its workflow is told, and its activity retries until one of these channels is
 * in the catalogue again.
 */
export async function releaseStranded(db: Knex, channels: readonly string[]): Promise<void> {
  await db.raw(
    `update jobs set state = 'planned', owes = 'turn', due_at = now()
      where (task_id, kind) in (select task_id, kind from jobs
                                 where state = 'waiting' and not channels && cast(? as text[])
                                   and owes is distinct from 'place'
                                 limit ${turnsMax})
        and ${isInState('waiting')}`,
    [[...channels]],
  );
}

/**
 * Takes back the turns of jobs whose tasks could not be notified. The jobs queue as if they had got no
 * turn. A job with an attempt at work keeps its turn: the attempt uses it, or leaves it owed
 * (waitForTurn). If its worker dies, the lease lapses and the next attempt uses the turn.
 */
export async function takeBackTurns(db: Knex, names: readonly JobName[]): Promise<void> {
  await changeNamed(db, names, {
    set: 'channel = null, turn_at = null, owes = null, due_at = null',
    where: `${isInState('waiting')} and ${isOwing('turn')}`,
  });
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
