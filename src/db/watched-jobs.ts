// What the watcher reads of `jobs` and writes there: what is open, what was heard of it, and which
// tasks have been told.

import type { Knex } from 'knex';
import type { JobKind, JobName, JobReport, JobStatus } from '../../workflows/messages';

/** What the watcher needs of an open job. */
export interface OpenJob {
  readonly taskId: string;
  readonly kind: JobKind;
  readonly upstreamId: string;
  /** Of the activity that ends with the job; null for a task that is signalled. */
  readonly activityId: string | null;
  readonly status: JobStatus;
  readonly ageSeconds: number;
}

/** News of a job, and whom to tell. */
export interface JobNews extends JobName {
  readonly activityId: string | null;
  readonly report: JobReport;
}

export async function listOpenJobs(
  db: Knex,
  channel: string,
  shard: number,
  shards: number,
): Promise<OpenJob[]> {
  const { rows } = await db.raw<{ rows: OpenJob[] }>(
    `select task_id as "taskId", kind, upstream_id as "upstreamId", activity_id as "activityId", status,
            extract(epoch from now() - opened_at)::int as "ageSeconds"
       from jobs
      where channel = ? and state = 'open' and upstream_id is not null
        and (? = 1 or abs(hashtext(task_id)) % ? = ?)`,
    [channel, shards, shards, shard],
  );
  return rows;
}

/**
 * Stores what changed, in one statement for any number of jobs, and shows a job that began to run
 * on its task's row. A task only ever steps forward, so two watchers of one channel cannot harm
 * each other.
 */
export async function storeReports(
  db: Knex,
  changes: readonly (JobName & { readonly report: JobReport })[],
  running: { readonly generation: string; readonly super_resolution: string },
): Promise<void> {
  await db.raw(
    `with change as (
       select * from json_to_recordset(?) as c (task_id text, kind text, status text, report json)
     ), stored as (
       update jobs set status = change.status, report = change.report,
              state = case when change.status in ('queued', 'running') then 'open' else 'reported' end
         from change
        where jobs.task_id = change.task_id and jobs.kind = change.kind and jobs.state = 'open'
     )
     update tasks
        set status = 'running', stage = change.kind,
            version = case change.kind when 'generation' then 2 else 3 end,
            object = (tasks.object::jsonb || jsonb_build_object(
              'status', 'running', 'stage', change.kind, 'message',
              case change.kind when 'generation' then ?::text else ?::text end))::json
       from change
      where tasks.id = change.task_id and tasks.finished_at is null
        and change.status in ('running', 'succeeded')
        and tasks.version < case change.kind when 'generation' then 2 else 3 end`,
    [
      JSON.stringify(
        changes.map(({ taskId, kind, report }) => ({
          task_id: taskId,
          kind,
          status: report.status,
          report,
        })),
      ),
      running.generation,
      running.super_resolution,
    ],
  );
}

/** Ended jobs whose task has not acknowledged it and was not told within the last while. */
export async function listUnacknowledged(
  db: Knex,
  channel: string,
  shard: number,
  shards: number,
  toldBeforeSeconds: number,
): Promise<JobNews[]> {
  const { rows } = await db.raw<{ rows: JobNews[] }>(
    `select task_id as "taskId", kind, activity_id as "activityId", report from jobs
      where channel = ? and state = 'reported'
        and (? = 1 or abs(hashtext(task_id)) % ? = ?)
        and (signalled_at is null or signalled_at < now() - make_interval(secs => ?))
      limit 1000`,
    [channel, shards, shards, shard, toldBeforeSeconds],
  );
  return rows;
}

export async function markSignalled(db: Knex, names: readonly JobName[]): Promise<void> {
  if (names.length === 0) return;
  await db.raw(
    `update jobs set signalled_at = now()
       from json_to_recordset(?) as told (task_id text, kind text)
      where jobs.task_id = told.task_id and jobs.kind = told.kind`,
    [JSON.stringify(names.map(({ taskId, kind }) => ({ task_id: taskId, kind })))],
  );
}

/**
 * No activity waits for the end of this job any more. What its task has gone on to may have to be
 * placed.
 */
export async function closeReported(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `with closed as (
       update jobs set state = 'closed' where task_id = ? and kind = ? and state = 'reported'
       returning task_id
     )
     insert into unplaced (task_id) select task_id from closed on conflict do nothing`,
    [taskId, kind],
  );
}

export async function recordRound(
  db: Knex,
  channel: string,
  shard: number,
  open: number,
): Promise<void> {
  await db.raw(
    `insert into watchers (channel, shard, round_at, open) values (?, ?, now(), ?)
     on conflict (channel, shard) do update set round_at = now(), open = excluded.open`,
    [channel, shard, open],
  );
}
