// Stores the time of the last round of each watcher loop, and finds the channels that need a loop.
// The loops themselves are in activities/jobs/watch-channel.ts.

import type { Knex } from 'knex';

/**
 * Stores the time of a round at most once in five seconds, because a channel may be polled ten
 * times a second.
 */
export async function recordRound(db: Knex, channel: string): Promise<void> {
  await db.raw(
    `insert into watchers (channel, round_at) values (?, now())
     on conflict (channel) do update set round_at = now()
      where watchers.round_at < now() - interval '5 seconds'`,
    [channel],
  );
}

/** Channels that have open jobs, but no loop that finished a round in the last `quietSeconds`. */
export async function listUnwatched(db: Knex, quietSeconds: number): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    `select distinct jobs.channel from jobs
      where state in ('open', 'reported') and opened_at < now() - make_interval(secs => ?)
        and not exists (select 1 from watchers
                         where watchers.channel = jobs.channel
                           and round_at > now() - make_interval(secs => ?))`,
    [quietSeconds, quietSeconds],
  );
  return rows.map((row) => row.channel);
}

/** Channels with jobs in progress, including channels that are no longer in the catalogue. */
export async function listChannelsInUse(db: Knex): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    // No index contains all three states, but each select has an index for its states.
    `select channel from jobs where state = 'sending'
      union select channel from jobs where state in ('open', 'reported')`,
  );
  return rows.map((row) => row.channel);
}
