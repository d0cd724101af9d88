// The loops that watch channels: the time of each loop's last round, and the channels that need a
// loop.

import type { Knex } from 'knex';

/** Written at most every five seconds, since a channel may be polled ten times a second. */
export async function recordRound(db: Knex, channel: string, shard: number): Promise<void> {
  await db.raw(
    `insert into watchers (channel, shard, round_at) values (?, ?, now())
     on conflict (channel, shard) do update set round_at = now()
      where watchers.round_at < now() - interval '5 seconds'`,
    [channel, shard],
  );
}

/** Channels with open jobs whose loop has finished no round for a while. */
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

/** Channels that have jobs, including channels that are gone from the catalogue. */
export async function listChannelsInUse(db: Knex): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    // Two selects, since each can use an index of jobs in these states.
    `select channel from jobs where state = 'sending'
      union select channel from jobs where state in ('open', 'reported')`,
  );
  return rows.map((row) => row.channel);
}
