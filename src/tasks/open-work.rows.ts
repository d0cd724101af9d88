// Counts for the metrics: open tasks and jobs, late callbacks, held money. Only open rows and
// balances are read, so the cost does not grow with the number of finished tasks.

import type { Knex } from 'knex';
import { runningStage } from './tasks.rows';

export interface OpenWork {
  readonly tasks: readonly OpenTasks[];
  readonly taskOverdueSeconds: number;
  readonly jobs: readonly OpenJobs[];
  readonly watchers: readonly { readonly channel: string; readonly silentSeconds: number }[];
  /** The channels that an operator has paused. */
  readonly paused: readonly { readonly channel: string; readonly pausedSeconds: number }[];
  readonly callbacksPending: number;
  readonly callbackOverdueSeconds: number;
  readonly resultAwaitedSeconds: number;
  readonly heldMicros: number;
  readonly reconcilerAgeSeconds: number;
  /** Null if no audit has run yet. */
  readonly auditAgeSeconds: number | null;
  /** The age of the newest movements that the roll-up of usage contains. */
  readonly usageAgeSeconds: number;
  readonly archivingFails: boolean;
}

interface OpenTasks {
  readonly model: string;
  readonly status: string;
  readonly stage: string | null;
  readonly count: number;
}

interface OpenJobs {
  readonly channel: string;
  readonly state: string;
  readonly count: number;
}

/**
 * Whether PostgreSQL could not archive its newest WAL, or has archived none for some time although a
 * complete segment waits: on a mount whose server is away the command neither ends nor fails. On a quiet
 * server no segment waits, since `archive_timeout` completes one only after a write. Where nothing was ever
 * archived it is not known whether one waits; there the reconciler writes in each run. Every role may read
 * this view.
 */
export const archivingFails = (silence = '10 minutes') => `(
  select current_setting('archive_mode') <> 'off'
         and (coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)
              or case when pg_is_in_recovery() or current_setting('archive_timeout') = '0' then false
                      else coalesce(last_archived_time, greatest(stats_reset, pg_postmaster_start_time()))
                             < now() - interval '${silence}'
                           -- Without the timeline, and without what follows the name of a ".backup".
                           and coalesce(substr(last_archived_wal, 9, 16), '') collate "C"
                             < substr(pg_walfile_name(pg_current_wal_insert_lsn()
                                 - pg_size_bytes(current_setting('wal_segment_size'))), 9) end)
    from pg_stat_archiver)`;

/** Reads all counts in one statement, so that a scrape holds a connection only for a moment. */
export async function readOpenWork(db: Knex): Promise<OpenWork> {
  const { rows } = await db.raw<{ rows: OpenWork[] }>(`
    with open_tasks as (
      select model, stage, count(*) as count, max(overdue) as overdue,
             case when pending then 'pending' when stage is null then 'submitted' else 'running' end
               as status
        from (select model, state = 'pending' as pending,
                     extract(epoch from now() - deadline_at) as overdue,
                     (select ${runningStage} from jobs job where job.task_id = tasks.id) as stage
                from tasks
               where finished_at is null) open
       group by model, pending, stage
    ), open_jobs as (
      select coalesce(channel, channels[1]) as channel, state, count(*) as count,
             min(opened_at) filter (where state in ('open', 'reported')) as opened_at
        from jobs where state in ('waiting', 'sending', 'open', 'reported')
       group by 1, state
    ), watched as (
      select channel,
             extract(epoch from now() - greatest(min(opened_at),
               (select ran_at from loops
                 where kind = 'watcher' and loops.channel = open_jobs.channel)))
               as silent
        from open_jobs
       where opened_at is not null
       group by channel
    ), due as (
      select count(*) as count, max(extract(epoch from now() - next_at)) as overdue
        from callbacks where state = 'pending'
    )
    select coalesce((select json_agg(json_build_object('model', model, 'status', status,
                       'stage', stage, 'count', count)) from open_tasks), '[]') as tasks,
           coalesce((select greatest(0, max(overdue)) from open_tasks), 0)::float8
             as "taskOverdueSeconds",
           coalesce((select json_agg(json_build_object('channel', channel, 'state', state,
                       'count', count)) from open_jobs), '[]') as jobs,
           coalesce((select json_agg(json_build_object('channel', channel,
                       'silentSeconds', greatest(0, silent))) from watched), '[]') as watchers,
           coalesce((select json_agg(json_build_object('channel', channel, 'pausedSeconds',
                       extract(epoch from now() - paused_at))) from loops
                      where kind = 'watcher' and paused_at is not null), '[]') as paused,
           (select count from due) as "callbacksPending",
           coalesce((select greatest(0, overdue) from due), 0)::float8 as "callbackOverdueSeconds",
           coalesce((select greatest(0, extract(epoch from now() - min(created_at))) from files
                      where state = 'awaited' and role <> 'upload' and expires_at > now()), 0)::float8
             as "resultAwaitedSeconds",
           (select coalesce(sum(held), 0) from balances)::float8 as "heldMicros",
           (select extract(epoch from now() - ran_at)::float8 from loops where kind = 'reconciler')
             as "reconcilerAgeSeconds",
           (select extract(epoch from now() - ran_at)::float8 from loops where kind = 'audit')
             as "auditAgeSeconds",
           (select extract(epoch from now() - until)::float8 from usage_state)
             as "usageAgeSeconds",
           ${archivingFails()} as "archivingFails"`);
  const [open] = rows;
  if (!open) throw new Error('A select without a table answers one row.');
  return open;
}
