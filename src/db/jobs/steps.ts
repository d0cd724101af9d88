// Writes the steps of a job's life: planned → waiting → sending → open → reported → closed. The
// step to `sending` and the turns of waiting jobs are in slots.ts. A task is not generated twice
// because `sending` is stored before the create request leaves, and the upstream id as soon as it
// is known.

import type { Knex } from 'knex';
import type { TaskObject } from '../../contract/task';
import type { JobName, JobReport } from '../../domain/job';
import { runningObject, stepOf } from '../../domain/task';
import { prepare } from '../prepared-statement';
import { sealValue, unsealValue } from '../sealed';

/** A report on a job, and the activity that waits for the job's end. */
export interface JobNews extends JobName {
  readonly activityId: string;
  readonly report: JobReport;
}

/** The channel a job may be sent to, and the model's name there. */
export interface Destination {
  readonly channel: string;
  readonly upstreamModel: string;
}

/** Part of the statement that opens a task, so the first job is planned in the same transaction. */
export const planFirstJob = `
  insert into jobs (task_id, kind, account_id) select id, 'generation', account_id from opened`;

/** Part of the statement that erases tasks. */
export const eraseReports = `
  update jobs set report = json_build_object('status', report->'status') from erased
   where jobs.task_id = erased.id and report is not null`;

/**
 * planned or waiting → waiting, because all channels the job could be sent to are full. The first
 * of them with a free slot gives the job its turn. False if the job is past this step, or its task
 * has ended.
 */
export async function waitForTurn(
  db: Knex,
  { taskId, kind }: JobName,
  channels: readonly string[],
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update jobs
        set state = 'waiting', channels = ?, channel = null, check_at = 'infinity',
            waiting_since = coalesce(waiting_since, now())
      where task_id = ? and kind = ? and state in ('planned', 'waiting')
        and exists (select 1 from tasks where id = ? and finished_at is null for share)
     returning 1`,
    [[...channels], taskId, kind, taskId],
  );
  return rows.length > 0;
}

/**
 * sending → planned: the channel did not accept the job, so the next one may be tried. If the task
 * has ended meanwhile, the job stays closed, and only its `sent_at` is removed: no create is on its
 * way. False if another attempt has taken the job over, which may have sent the create again.
 */
export async function forgetSending(
  db: Knex,
  { taskId, kind }: JobName,
  attempt: string,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update jobs
        set state = case state when 'sending' then 'planned' else state end, sent_at = null,
            channel = case state when 'sending' then null else channel end
      where task_id = ? and kind = ? and attempt = ?
        and (state = 'sending' or state = 'closed' and upstream_id is null)
     returning 1`,
    [taskId, kind, attempt],
  );
  return rows.length > 0;
}

/**
 * sending → open, with the upstream id and the activity that waits for the end. A rejection that an
 * earlier attempt stored is removed. If the task has ended, the job stays closed. `refused`: the job
 * has another upstream id already, or another task owns this upstream job, which can only happen
 * when a lost job is looked up.
 */
export async function storeOpened(
  db: Knex,
  { taskId, kind }: JobName,
  upstreamId: string,
  activityId: string,
): Promise<'open' | 'closed' | 'refused'> {
  const [stored] = await openSent(db, { taskId, kind, upstreamId, activityId });
  if (!stored) return 'refused';
  return stored.state === 'closed' ? 'closed' : 'open';
}

const openSent = prepare<{ state: string }>(
  'store_opened',
  `
 update jobs
    set state = case state when 'sending' then 'open' else state end,
        upstream_id = :upstreamId, activity_id = :activityId, opened_at = coalesce(opened_at, now()),
        report = case when upstream_id is not null then report end
  where task_id = :taskId and kind = :kind and (upstream_id is null or upstream_id = :upstreamId)
    and not exists (select 1 from jobs other
                     where other.channel = jobs.channel and other.upstream_id = :upstreamId
                       and other.task_id <> jobs.task_id)
 returning state`,
);

/**
 * Stores why no channel has the job, for operators; the state stays. If a later attempt has taken
 * the job over, nothing is stored.
 */
export async function storeRejected(
  db: Knex,
  { taskId, kind }: JobName,
  attempt: string,
  report: JobReport,
): Promise<void> {
  await db.raw(
    `update jobs set report = ?
      where task_id = ? and kind = ? and attempt = ? and upstream_id is null`,
    [JSON.stringify(sealValue(db, report, { status: report.status })), taskId, kind, attempt],
  );
}

/**
 * open → open or reported: stores any number of reports in one statement, and updates the task's
 * row if a job began to run. The end of a generation also plans its super-resolution. The version
 * of a task only grows, so two watchers of one channel do no harm.
 */
export async function storeReports(
  db: Knex,
  changes: readonly (JobName & { readonly report: JobReport })[],
): Promise<void> {
  const begun = changes.filter(({ report }) => ['running', 'succeeded'].includes(report.status));
  const objects = await liveObjects(
    db,
    begun.map(({ taskId }) => taskId),
  );
  const rows = changes.map((change) => {
    const { taskId, kind, report } = change;
    const known = begun.includes(change) ? objects.get(taskId) : undefined;
    const object = known && runningObject(known, kind);
    const shown = object ? { object, version: stepOf(object) } : {};
    const sealed = sealValue(db, report, { status: report.status });
    return { task_id: taskId, kind, status: report.status, report: sealed, ...shown };
  });
  await db.raw(
    `with change as (
       select * from json_to_recordset(?) as c
              (task_id text, kind text, status text, report json, object json, version smallint)
     ), stored as (
       update jobs set status = change.status, report = change.report,
              state = case when change.status in ('queued', 'running') then 'open' else 'reported' end
         from change
        where jobs.task_id = change.task_id and jobs.kind = change.kind and jobs.state = 'open'
     ), planned as (
       insert into jobs (task_id, kind, account_id)
       select tasks.id, 'super_resolution', tasks.account_id
         from change join tasks on tasks.id = change.task_id
        where change.kind = 'generation' and change.status = 'succeeded'
          and tasks.finished_at is null and tasks.plan->>'enhancement' is not null
       on conflict do nothing
     )
     update tasks
        set status = 'running', stage = change.kind, version = change.version,
            object = change.object
       from change
      where tasks.id = change.task_id and tasks.finished_at is null
        and tasks.version < change.version`,
    [JSON.stringify(rows)],
  );
}

/**
 * Moves the task's row to super-resolution. The workflow has acknowledged the end of the generation
 * by then, so that job is closed.
 */
export async function beginEnhancing(db: Knex, taskId: string): Promise<void> {
  const known = (await liveObjects(db, [taskId])).get(taskId);
  if (!known) return;
  const object = runningObject(known, 'super_resolution');
  await db.raw(
    `with begun as (
       update tasks set status = 'running', stage = 'super_resolution', version = ?, object = ?
        where id = ? and finished_at is null and version < ?
       returning id
     )
     update jobs set state = 'closed' from begun
      where task_id = begun.id and kind = 'generation' and state = 'reported'`,
    [stepOf(object), JSON.stringify(object), taskId, stepOf(object)],
  );
}

async function liveObjects(
  db: Knex,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, TaskObject>> {
  if (taskIds.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: { id: string; object: TaskObject }[] }>(
    'select id, object from tasks where id = any(?) and finished_at is null',
    [[...taskIds]],
  );
  return new Map(rows.map(({ id, object }) => [id, unsealValue(db, object)]));
}

/**
 * Records when the tasks of these jobs were notified of the end. Without an acknowledgement they
 * are notified again.
 */
export async function markNotified(db: Knex, names: readonly JobName[]): Promise<void> {
  if (names.length === 0) return;
  await db.raw(
    `update jobs set notified_at = now()
       from json_to_recordset(?) as n (task_id text, kind text)
      where jobs.task_id = n.task_id and jobs.kind = n.kind`,
    [JSON.stringify(names.map(({ taskId, kind }) => ({ task_id: taskId, kind })))],
  );
}

/**
 * reported → closed: this activity has ended. If another activity waits for the job by now, the job
 * stays reported for that one.
 */
export async function closeReported(
  db: Knex,
  { taskId, kind, activityId }: JobName & { readonly activityId: string },
): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed'
      where task_id = ? and kind = ? and activity_id = ? and state = 'reported'`,
    [taskId, kind, activityId],
  );
}
