// The gate of a channel that takes only so many jobs at once. Places are given out fairly: one to
// each account in turn, the longest waiting first, so that one customer's burst does not starve the
// others.

import type { Knex } from 'knex';
import type { JobName, JobOrder } from '../../workflows/messages';

/**
 * Takes a place for this job or queues it; a place that was promised to another a moment ago is not
 * free. The lock is the channel's own, so other channels are not held up.
 */
export async function takePlace(
  db: Knex,
  order: JobOrder,
  to: { readonly channel: string; readonly upstreamModel: string },
  placesMax: number,
): Promise<'taken' | 'waiting' | 'known'> {
  return db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtext(?))', [`gate:${to.channel}`]);
    const { rows } = await trx.raw<{ rows: { state: string }[] }>(
      `insert into jobs (task_id, kind, account_id, channel, upstream_model, state, sent_at)
       select ?, ?, ?, ?, ?,
              case when used.count < ? then 'sending' else 'waiting' end,
              case when used.count < ? then now() end
         from (select count(*) from jobs
                where channel = ? and task_id <> ?
                  and (state in ('sending', 'open')
                       or (state = 'waiting' and signalled_at > now() - interval '30 seconds'))
              ) used
        where exists (select 1 from tasks where id = ? and finished_at is null for share)
       on conflict (task_id, kind) do update
          set channel = excluded.channel, upstream_model = excluded.upstream_model,
              state = excluded.state, sent_at = excluded.sent_at, signalled_at = null
        where jobs.state = 'waiting'
       returning state`,
      [
        order.taskId,
        order.kind,
        order.accountId,
        to.channel,
        to.upstreamModel,
        placesMax,
        placesMax,
        to.channel,
        order.taskId,
        order.taskId,
      ],
    );
    const state = rows[0]?.state;
    if (!state) return 'known';
    return state === 'sending' ? 'taken' : 'waiting';
  });
}

/**
 * Whose turn it is, as many as there are free places. Those told a moment ago keep their turn but
 * are left out of the answer, so that a task is not woken again while it is on its way.
 */
export async function giveTurns(
  db: Knex,
  channel: string,
  placesMax: number,
): Promise<readonly JobName[]> {
  const { rows } = await db.raw<{ rows: JobName[] }>(
    `with used as (
       select count(*) from jobs where channel = ? and state in ('sending', 'open')
     ), line as (
       select task_id, kind,
              row_number() over (partition by account_id order by waiting_since, task_id) as turn,
              waiting_since, signalled_at
         from jobs where channel = ? and state = 'waiting'
     )
     , next as (
       select task_id, kind, signalled_at from line
        order by turn, waiting_since
        limit greatest(0, ? - (select count from used))
     )
     select task_id as "taskId", kind from next
      where signalled_at is null or signalled_at < now() - interval '30 seconds'`,
    [channel, channel, placesMax],
  );
  return rows;
}
