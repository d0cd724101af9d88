// The rows of `jobs`: what is open upstream, for whom, and what was last heard of it. The order of
// writes is what keeps a task from being generated twice: `sending` is stored before a create
// leaves, the upstream id as soon as it is known.

import type { Knex } from 'knex';
import type { JobKind, JobName, JobOrder, JobReport } from '../../workflows/messages';
import { prepared } from './prepared';

export interface Job {
  readonly taskId: string;
  readonly kind: JobKind;
  readonly channel: string;
  readonly upstreamModel: string;
  readonly state: 'waiting' | 'sending' | 'open' | 'reported' | 'closed';
  readonly upstreamId: string | null;
  readonly sentAt: Date | null;
  /** By the database's clock, which also wrote `sentAt`. */
  readonly sentAgoMs: number;
  readonly report: JobReport | null;
}

const columns = `
  task_id as "taskId", kind, channel, upstream_model as "upstreamModel", state,
  upstream_id as "upstreamId", sent_at as "sentAt", report,
  coalesce(extract(epoch from clock_timestamp() - sent_at) * 1000, 0)::float8 as "sentAgoMs"`;

export async function findJob(db: Knex, name: JobName): Promise<Job | null> {
  const { rows } = await db.raw<{ rows: Job[] }>(
    `select ${columns} from jobs where task_id = ? and kind = ?`,
    [name.taskId, name.kind],
  );
  return rows[0] ?? null;
}

/**
 * Says that a create is about to leave. A row that is already being sent, or is further, is left as
 * it is. For a task that has ended nothing is sent any more, and one that ends at this moment waits
 * for this row, so that who stops its jobs finds it.
 */
export async function markSending(
  db: Knex,
  order: JobOrder,
  to: { readonly channel: string; readonly upstreamModel: string },
): Promise<'taken' | 'known'> {
  const marking = db.raw<{ rows: unknown[] }>(
    `insert into jobs (task_id, kind, account_id, channel, upstream_model, state, sent_at)
     select ?, ?, ?, ?, ?, 'sending', now()
      where exists (select 1 from tasks where id = ? and finished_at is null for share)
     on conflict (task_id, kind) do update
        set channel = excluded.channel, upstream_model = excluded.upstream_model,
            state = 'sending', sent_at = now()
      where jobs.state = 'waiting'
     returning 1`,
    [order.taskId, order.kind, order.accountId, to.channel, to.upstreamModel, order.taskId],
  );
  const { rows } = await marking.options(prepared('mark_sending'));
  return rows.length > 0 ? 'taken' : 'known';
}

/**
 * Nothing was accepted: the next channel may be tried. A row that was closed meanwhile, because its
 * task has ended, goes as well: it would say that a create is on its way.
 */
export async function forgetSending(db: Knex, name: JobName): Promise<void> {
  await db.raw(
    `delete from jobs
      where task_id = ? and kind = ?
        and (state = 'sending' or state = 'closed' and upstream_id is null)`,
    [name.taskId, name.kind],
  );
}

/**
 * Stores the id of an accepted job, and who waits for its end. False when another task owns that
 * job already, which only a lost job that was looked up can meet.
 */
export async function storeOpened(
  db: Knex,
  name: JobName,
  upstreamId: string,
  activityId: string | null,
): Promise<boolean> {
  const opening = db.raw<{ rows: unknown[] }>(
    `with opened as (
       update jobs set state = case when state = 'sending' then 'open' else state end,
              upstream_id = ?, activity_id = ?, opened_at = coalesce(opened_at, now())
        where task_id = ? and kind = ?
          and not exists (select 1 from jobs other
                           where other.channel = jobs.channel and other.upstream_id = ?
                             and other.task_id <> jobs.task_id)
       returning task_id
     ), placed as (
       delete from unplaced using opened where unplaced.task_id = opened.task_id
     )
     select 1 from opened`,
    [upstreamId, activityId, name.taskId, name.kind, upstreamId],
  );
  const { rows } = await opening.options(prepared('store_opened'));
  return rows.length > 0;
}

/** 0 for a task that goes on. By the database's clock. */
export async function sinceEndMs(db: Knex, taskId: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(
    `select coalesce(extract(epoch from clock_timestamp() - finished_at) * 1000, 0)::float8 as ms
       from tasks where id = ?`,
    [taskId],
  );
  return rows[0]?.ms ?? 0;
}

/**
 * Whether another task's create on this channel was lost at about the same time and asked for a job
 * that looks the same: then a job that is found may be either's.
 */
export async function hasLostTwin(
  db: Knex,
  { taskId, plan }: JobOrder,
  channel: string,
  sentAgoMs: number,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from jobs join tasks on tasks.id = jobs.task_id
      where jobs.channel = ? and jobs.task_id <> ? and jobs.upstream_id is null
        and jobs.state in ('sending', 'closed') and jobs.kind = 'generation'
        and jobs.sent_at > clock_timestamp() - make_interval(secs => ?)
        and tasks.plan->>'seed' = ? and tasks.plan->>'resolution' = ?
      limit 1`,
    [channel, taskId, (sentAgoMs + 600_000) / 1000, String(plan.seed), plan.resolution],
  );
  return rows.length > 0;
}

/** Upstream ids of the given ones that belong to other tasks. */
export async function ownedByOthers(
  db: Knex,
  channel: string,
  taskId: string,
  upstreamIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select upstream_id as id from jobs where channel = ? and upstream_id = any(?) and task_id <> ?`,
    [channel, [...upstreamIds], taskId],
  );
  return new Set(rows.map((row) => row.id));
}

/**
 * The second step has begun: the task's row shows it before anybody else can say so, for of two
 * answers, one from the row and one from the workflow, the later must never be the older. With that
 * the end of the first step has been heard, and there is a job to be placed again.
 */
export async function beginEnhancing(db: Knex, taskId: string, message: string): Promise<void> {
  await db.raw(
    `with begun as (
       update tasks
          set status = 'running', stage = 'super_resolution', version = 3,
              object = (object::jsonb || jsonb_build_object(
                'status', 'running', 'stage', 'super_resolution', 'message', ?::text))::json
        where id = ? and finished_at is null and version < 3
       returning id
     ), heard as (
       update jobs set state = 'closed' from begun
        where task_id = begun.id and kind = 'generation' and state = 'reported'
     )
     insert into unplaced (task_id) select id from begun on conflict do nothing`,
    [message, taskId],
  );
}
