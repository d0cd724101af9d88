// How movements become usage: the SQL that the roll-up, the reports and the audit share, so that
// they cannot disagree. A task counts on the day of its end, and a correction of it on the day on
// which it moved. A task that ended while it was pending moved no money, so it is not counted.

/** The columns that name a row of usage. */
export const usageNames = 'day, account_id, key_id, model, channel, kind';

/** The figures of a row of usage, and how the figures of several rows are added. */
export const usageFigures = [
  'tasks',
  'failed',
  'milliseconds',
  'jobs',
  'without_cost',
  'charged',
  'corrected',
  'revenue_without_cost',
  'cost',
  'lost_cost',
] as const;

export const usageSums = usageFigures
  .map((figure) => `coalesce(sum(${figure}), 0)::bigint as ${figure}`)
  .join(', ');

/** The columns of the job of one kind; a task has at most one. */
const ofJob = (kind: string) =>
  ['status', 'channel', 'cost_micros']
    .map(
      (name) =>
        `max(${name}) filter (where kind = '${kind}') as ${kind}_${name.replace('_micros', '')}`,
    )
    .join(', ');

/**
 * SQL for two `with` queries. `part` has the usage of the movements of another query, with the days
 * of a time zone. A task that succeeded has made a video, also if its job is forgotten; the channel
 * and the cost are then not known. A job that ran when its task failed may have made a video, at a
 * cost that is not known. A job that failed was free. `offset` makes PostgreSQL look up each task,
 * and then each job.
 */
export const usageParts = (movements = 'movement', zone = ':zone'): string => `
  event as (
    select task_id, account_id, created_at as at, true as is_end,
           coalesce(sum(amount) filter (where credit = 'revenue_generation'), 0) as generation,
           coalesce(sum(amount) filter (where credit = 'revenue_super_resolution'), 0)
             as super_resolution, 0 as corrected
      from ${movements} where kind in ('settle', 'extra_charge', 'refund')
     group by task_id, account_id, created_at
     union all
    select task_id, account_id, created_at, false, 0, 0,
           case credit when 'available' then amount else -amount end
      from ${movements} where kind = 'correction' and task_id is not null
  ), part as (
    select cast(event.at at time zone ${zone} as date) as day, event.account_id,
           coalesce(task.key_id, '') as key_id, task.model, coalesce(line.channel, '') as channel,
           line.kind,
           cast(is_end and is_first as integer) as tasks,
           cast(is_end and is_first and task.status = 'failed' as integer) as failed,
           case when is_end and is_first and task.status = 'succeeded'
                then coalesce(round(length * 1000), 0) else 0 end as milliseconds,
           cast(is_end and is_made as integer) as jobs,
           cast(is_end and is_made and line.cost is null as integer) as without_cost,
           line.charged, line.corrected,
           case when is_made and line.cost is null then line.charged - line.corrected
                else 0 end as revenue_without_cost,
           case when is_end then coalesce(line.cost, 0) else 0 end as cost,
           case when is_end and task.status = 'failed' then coalesce(line.cost, 0)
                else 0 end as lost_cost,
           line.status is null as is_forgotten
      from event
     cross join lateral (
           select key_id, model, status,
                  cast(coalesce(object->'usage'->>'seconds', object->>'duration') as numeric)
                    as length
             from tasks where id = event.task_id offset 0) task
     cross join lateral (
           select ${ofJob('generation')}, ${ofJob('super_resolution')}
             from jobs where task_id = event.task_id offset 0) job
     cross join lateral (values
           ('generation', true, generation, corrected,
            generation_status, generation_channel, generation_cost),
           ('super_resolution', false, super_resolution, 0,
            super_resolution_status, super_resolution_channel, super_resolution_cost))
           line (kind, is_first, charged, corrected, status, channel, cost)
     cross join lateral (
           select coalesce(line.status in ('succeeded', 'running'), false)
                  or task.status = 'succeeded' and (is_first or line.charged > 0)
                  as is_made) work
     where is_first or is_end and (line.charged > 0 or is_made)
  )`;

// Longer than a transaction that moves money takes. So the times of an account's movements and their
// numbers differ in order by less than this.
const disorder = `interval '1 minute'`;

/**
 * SQL for the number of a movement of the account `:accountId`. All movements up to this number are
 * older than the time; later ones may be older by a moment too. The numbers have no gaps, so a
 * search by halves reads some twenty movements.
 */
export const lastNumberBefore = (time: string): string => `(
  with recursive search (low, high) as (
    select cast(0 as bigint), last_seq from balances where account_id = :accountId
     union all
    select case when is_older then middle else low end,
           case when is_older then high else middle - 1 end
      from search
     cross join lateral (select (low + high + 1) / 2 as middle) halved
     cross join lateral (
           select created_at < ${time} - ${disorder} as is_older from transfers
            where account_id = :accountId and seq = middle) tried
     where low < high
  )
  select low from search where low = high)`;

/** SQL for a number after which all movements of the account are at this time or later. */
export const firstNumberAfter = (time: string): string =>
  lastNumberBefore(`(${time} + 2 * ${disorder})`);
