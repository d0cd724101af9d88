// Reads of the table `jobs`. The other files of this folder contain its writes.

import type { Knex } from 'knex';
import { prepare } from '../database/prepared-statement';
import type { JobFailure, JobKind, JobName, JobReport, JobState, JobStatus } from './job.rules';
import type { JobOwner } from './lost-job.rules';

export interface Job {
  readonly taskId: string;
  readonly kind: JobKind;
  readonly state: JobState;
  /** Null until a channel is chosen for the job. */
  readonly channel: string | null;
  readonly upstreamModel: string | null;
  readonly upstreamId: string | null;
  readonly sentAt: Date | null;
  /** True if the create can be repeated without a second job, because it had an idempotency key. */
  readonly repeatable: boolean;
  /** Time since `sentAt`, by the clock of the database; 0 if `sentAt` is null. */
  readonly sentAgoMs: number;
  readonly report: JobReport | null;
  /** Why no channel has the job; null if one has it, or may get it. */
  readonly refusal: JobFailure | null;
  /** Since this time the provider has not known the job; null if the job is not missing. */
  readonly missingSince: Date | null;
  /**
   * "wanted": the task has ended, so the job must be cancelled. "given up": no cancel succeeded.
   */
  readonly cancel: 'wanted' | 'given up' | null;
  /** What the job cost upstream; null if it is not known. */
  readonly costMicros: number | null;
}

/** A job for which a channel was chosen. `sentAt` tells if its create was sent. */
export type JobAtChannel = Job & { readonly channel: string; readonly upstreamModel: string };

export function hasChannel(job: Job | null): job is JobAtChannel {
  return job?.channel != null && job.upstreamModel !== null;
}

export const jobColumns = `
  task_id as "taskId", kind, channel, upstream_model as "upstreamModel", state,
  upstream_id as "upstreamId", sent_at as "sentAt", repeatable, report, refusal,
  missing_since as "missingSince",
  case when owes = 'cancel' then
       case due_at when 'infinity' then 'given up' else 'wanted' end end as cancel, cost_micros::float8 as "costMicros",
  coalesce(extract(epoch from clock_timestamp() - sent_at) * 1000, 0)::float8 as "sentAgoMs"`;

export async function findJob(db: Knex, name: JobName): Promise<Job | null> {
  const { rows } = await db.raw<{ rows: Job[] }>(
    `select ${jobColumns} from jobs where task_id = ? and kind = ?`,
    [name.taskId, name.kind],
  );
  return rows[0] ?? null;
}

/**
 * SQL for the seconds from the create of a job to the deadline of its task. A repeated create has the
 * same value, because a provider may refuse a known idempotency key with another body.
 */
export const secondsLeft = `
  (select floor(extract(epoch from deadline_at - sent_at))::int from tasks where id = task_id)`;

/** Time since the end of the task, by the clock of the database; 0 if the task has not ended. */
export async function sinceEndMs(db: Knex, taskId: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(
    `select coalesce(extract(epoch from clock_timestamp() - finished_at) * 1000, 0)::float8 as ms
       from tasks where id = ?`,
    [taskId],
  );
  return rows[0]?.ms ?? 0;
}

/**
 * The tasks that own these upstream jobs, by upstream id. The map has no entry for an id without an
 * owner. A task of another channel counts as the owner only if the job has the task's seed or shows
 * none, because another provider may use the same ids.
 */
export async function listOwners(
  db: Knex,
  channel: string,
  jobs: readonly { readonly upstreamId: string | null; readonly seed: number | null }[],
): Promise<ReadonlyMap<string, JobOwner>> {
  const listed = jobs.filter(({ upstreamId }) => upstreamId !== null);
  const { rows } = await db.raw<{ rows: (JobOwner & { readonly id: string })[] }>(
    `with recursive ${everyChannel}
     select upstream_id as id, task_id as "taskId", upstream_model as "upstreamModel",
            (plan->>'seed')::float8 as seed
       from channels join jobs using (channel) join tasks on tasks.id = jobs.task_id
       join json_to_recordset(?) as listed ("upstreamId" text, seed float8)
            on upstream_id = listed."upstreamId"
      where channel = ? or listed.seed is null or (plan->>'seed')::float8 = listed.seed`,
    [JSON.stringify(listed.map(({ upstreamId, seed }) => ({ upstreamId, seed }))), channel],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

// Every channel that has a job, including channels that are no longer in the catalogue. The
// recursion needs one index look-up per channel; a `distinct` would read all jobs.
export const everyChannel = `
  channels as (
    (select channel from jobs where channel is not null order by channel limit 1)
    union all
    select (select channel from jobs where jobs.channel > channels.channel order by channel limit 1)
      from channels where channel is not null)`;

/** The fields of an open job that its watcher needs. */
export interface OpenJob {
  readonly taskId: string;
  readonly kind: JobKind;
  readonly upstreamModel: string;
  readonly upstreamId: string;
  readonly status: JobStatus;
  readonly ageSeconds: number;
  /**
   * Time since the provider's first answer that the job is unknown; null if the job is not missing.
   */
  readonly missingSeconds: number | null;
}

export function listOpenJobs(db: Knex, channel: string): Promise<OpenJob[]> {
  return selectOpen(db, { channel });
}

const selectOpen = prepare<OpenJob>(
  'open_jobs',
  `
 select task_id as "taskId", kind, upstream_model as "upstreamModel",
        upstream_id as "upstreamId", status,
        extract(epoch from now() - opened_at)::int as "ageSeconds",
        extract(epoch from now() - missing_since)::float8 as "missingSeconds"
   from jobs
  where channel = :channel and state = 'open' and upstream_id is not null`,
);
