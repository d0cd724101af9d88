// Stores the time of the last round of each watcher loop and the last fault of each channel, and
// finds the channels that need a loop.
// The loops themselves are in activities/jobs/watch-channel.ts.

import type { Knex } from 'knex';
import { prepare } from '../database/prepared-statement';

/**
 * Stores the time of a round at most once in five seconds, because a channel may be polled ten
 * times a second.
 */
export async function recordRound(db: Knex, channel: string): Promise<void> {
  await upsertRound(db, { channel });
}

const upsertRound = prepare(
  'record_round',
  `insert into loops (kind, channel, ran_at) values ('watcher', :channel, now())
   on conflict (kind, channel) do update set ran_at = now()
    where loops.ran_at < now() - interval '5 seconds'`,
);

/** Channels that have open or reported jobs, but no loop that finished a round in the last `quietSeconds`. */
export async function listUnwatched(db: Knex, quietSeconds: number): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    `select distinct jobs.channel from jobs
      where state in ('open', 'reported') and opened_at < now() - make_interval(secs => ?)
        and not exists (select 1 from loops
                         where kind = 'watcher' and loops.channel = jobs.channel
                           and ran_at > now() - make_interval(secs => ?))`,
    [quietSeconds, quietSeconds],
  );
  return rows.map((row) => row.channel);
}

/** Channels with jobs in progress, including channels that are no longer in the catalogue. */
export async function listChannelsInUse(db: Knex): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    `select distinct channel from jobs where state in ('sending', 'open', 'reported')`,
  );
  return rows.map((row) => row.channel);
}

/**
 * Stores the last fault of a channel and the end of its rest. A shorter rest ends no longer one. During
 * a rest, faults without one are not stored, so that `fault_at` stays the time of a fault that the rest
 * is for.
 */
export async function recordFault(
  db: Knex,
  channel: string,
  kind: string,
  restMs: number,
): Promise<void> {
  await db.raw(
    `insert into loops (kind, channel, fault, fault_at, rests_until)
     values ('watcher', :channel, :kind, now(), now() + make_interval(secs => :seconds))
     on conflict (kind, channel) do update
        set fault = excluded.fault, fault_at = now(),
            rests_until = greatest(loops.rests_until, excluded.rests_until)
      where excluded.rests_until > now() or coalesce(loops.rests_until <= now(), true)`,
    { channel, kind, seconds: restMs / 1_000 },
  );
}

/** Pauses a channel. Returns false if it is paused already; the first pause then stays. */
export async function pauseChannel(
  db: Knex,
  channel: string,
  by: string,
  why: string,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `insert into loops (kind, channel, paused_at, paused_by, paused_why)
     values ('watcher', :channel, now(), :by, :why)
     on conflict (kind, channel) do update
        set paused_at = now(), paused_by = :by, paused_why = :why
      where loops.paused_at is null
     returning 1`,
    { channel, by, why },
  );
  return rows.length > 0;
}

/** Returns false if the channel is not paused. */
export async function resumeChannel(db: Knex, channel: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update loops set paused_at = null, paused_by = null, paused_why = null
      where kind = 'watcher' and channel = ? and paused_at is not null
     returning 1`,
    [channel],
  );
  return rows.length > 0;
}

export interface ChannelState {
  readonly channel: string;
  /** Unfinished tasks whose plan names the channel. */
  readonly tasks: number;
  readonly waiting: number;
  readonly sending: number;
  readonly open: number;
  readonly reported: number;
  /** The last round of the watcher; null if there was none. */
  readonly roundAt: Date | null;
  readonly roundAgoSeconds: number | null;
  /** A kind of fault; null if the channel never had one. */
  readonly fault: string | null;
  readonly faultAt: Date | null;
  /** The end of the rest; null if the channel does not rest now. */
  readonly restsUntil: Date | null;
  /** Null if no operator has paused the channel. */
  readonly pausedAt: Date | null;
  readonly pausedBy: string | null;
  readonly pausedWhy: string | null;
}

/** The channels that have tasks or jobs or had a watcher, including those that left the catalogue. */
export async function listChannelStates(db: Knex): Promise<readonly ChannelState[]> {
  const { rows } = await db.raw<{ rows: ChannelState[] }>(
    `with jobs_of as (
       -- A waiting job counts for the channel that it prefers.
       select coalesce(channel, channels[1]) as channel, state, count(*)::int as jobs
         from jobs where state in ('waiting', 'sending', 'open', 'reported')
        group by 1, 2
     ), summed as (
       select channel,
              sum(jobs) filter (where state = 'waiting') as waiting,
              sum(jobs) filter (where state = 'sending') as sending,
              sum(jobs) filter (where state = 'open') as open,
              sum(jobs) filter (where state = 'reported') as reported
         from jobs_of group by channel
     ), planned as (
       select channel, count(distinct id) as tasks
         from tasks, lateral (
           select choice ->> 'channel' as channel
             from json_array_elements(plan -> 'channels') as choice
           union all
           select channel
             from json_array_elements_text(plan #> '{enhancement,channels}') as channel) named
        where finished_at is null
        group by channel
     )
     select channel, coalesce(tasks, 0)::int as tasks, coalesce(waiting, 0)::int as waiting, coalesce(sending, 0)::int as sending,
            coalesce(open, 0)::int as open, coalesce(reported, 0)::int as reported,
            nullif(ran_at, 'epoch') as "roundAt",
            extract(epoch from now() - nullif(ran_at, 'epoch'))::float8 as "roundAgoSeconds",
            fault, fault_at as "faultAt",
            case when rests_until > now() then rests_until end as "restsUntil",
            paused_at as "pausedAt", paused_by as "pausedBy", paused_why as "pausedWhy"
       from summed
       full join planned using (channel)
       full join (select * from loops where kind = 'watcher') watchers using (channel)
      where channel is not null
      order by channel`,
  );
  return rows;
}
