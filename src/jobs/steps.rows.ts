// Writes the states of a job: planned → sending → open → reported → closed, with `waiting` before
// `sending` if a channel is full and no other takes the job. The steps back are listed at the table in
// schema.ts. The step to `sending` and the turns of waiting jobs are in slots.rows.ts, and the end of a
// job with its task is in cancels.rows.ts. No task is generated twice: `sending` is stored before the
// create request is sent, and the upstream id is stored as soon as it is known.

import type { Knex } from 'knex';
import { assert } from '../assert';
import { withoutBadRows } from '../database/bad-rows';
import { isInState, isOneOf } from '../database/by-key';
import { prepare } from '../database/prepared-statement';
import { afterWorkflow, isNotKnownToEnd } from './cancels.rows';
import { costsOf, nameOf } from './costs.rows';
import {
  isFinalReport,
  type JobFailure,
  type JobName,
  type JobReport,
  unreadable,
  unreadableReport,
} from './job.rules';
import { placingLease, toldEndAgain } from './owed.rows';
import type { Stored } from './placing.rules';

export interface JobNews extends JobName {
  readonly report: JobReport;
}

/** A channel to which the job may be sent, and the name of the model at this channel. */
export interface Destination {
  readonly channel: string;
  readonly upstreamModel: string;
  /** True if a repeated create makes no second job; false by default. */
  readonly repeatable?: boolean;
}

/** Part of the statement that opens a task: plans its first job in the same transaction. */
export const planFirstJob = `
  insert into jobs (task_id, kind, account_id, owes, due_at)
  select id, 'generation', account_id, 'place', now() + ${placingLease} from opened`;

/**
 * planned or waiting → waiting, because a channel is full (takeSlot) and no other takes the job. The first
 * channel with a free slot gives the job a turn. A channel may have done so since this attempt began, after
 * it was found full: this turn is kept for the next attempt, and its workflow is to be told once this attempt
 * has ended. Returns false if the job is already past this step or its task has ended.
 */
export async function waitForTurn(
  db: Knex,
  { taskId, kind }: JobName,
  channels: readonly string[],
  atWorkSeconds = 0,
): Promise<boolean> {
  const hasNewTurn = 'turn_at > now() - make_interval(secs => :atWorkSeconds)';
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update jobs
        set state = 'waiting', channels = :channels, waiting_since = coalesce(waiting_since, now()),
            channel = case when ${hasNewTurn} then channel end,
            owes = case when ${hasNewTurn} then 'turn' end,
            due_at = case when ${hasNewTurn} then now() + interval '1 second' end
      where task_id = :taskId and kind = :kind and ${isInState('planned', 'waiting')}
        and exists (select 1 from tasks where id = :taskId and state <> 'ended' for share)
     returning 1`,
    {
      ...{ taskId, kind, atWorkSeconds },
      // Each list is a queue, and each task has drawn its own order. So a channel starts few lists.
      channels: [...channels.slice(0, 1), ...channels.slice(1).sort()],
    },
  );
  return rows.length > 0;
}

/**
 * sending → planned: the channel did not accept the job, so the next channel may be tried. If the
 * task has ended meanwhile, the job stays closed, and only `sent_at` is removed: no create request
 * is in progress any more. Returns false if another attempt has taken the job over. That attempt
 * may have sent the create again.
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
 * sending → open: stores the upstream id. A rejection that an earlier attempt stored is removed. If
 * the task has ended, the job stays closed, and its cancel is wanted from now on. An answer to an
 * earlier attempt counts if the job is still at the same channel, because the task then has this
 * upstream job and must not get a second one.
 */
export async function storeOpened(
  db: Knex,
  { taskId, kind }: JobName,
  { channel, upstreamId }: { readonly channel: string; readonly upstreamId: string },
): Promise<Stored> {
  const [row] = await openSent(db, { taskId, kind, channel, upstreamId });
  assert(row, 'a select without a table answers one row');
  return row.stored;
}

const isUnwanted = `(state = 'closed' and ${isNotKnownToEnd})`;

const openSent = prepare<{ readonly stored: Stored }>(
  'store_opened',
  `
 with owner as (
   select 1 from jobs
    where channel = :channel and upstream_id = :upstreamId and task_id <> :taskId
 ), stored as (
   update jobs
      set state = case state when 'sending' then 'open' else state end,
          upstream_id = :upstreamId, opened_at = coalesce(opened_at, now()),
          refusal = null,
          owes = case when ${isUnwanted} then 'cancel' when state = 'sending' then null else owes end,
          due_at = case when ${isUnwanted} then now() + ${afterWorkflow}
                        when state = 'sending' then null else due_at end
    where task_id = :taskId and kind = :kind and channel = :channel
      and (state in ('sending', 'closed') and upstream_id is null or upstream_id = :upstreamId)
      and not exists (select 1 from owner)
   returning case owes when 'cancel' then 'unwanted' else 'open' end as outcome
 )
 select case when exists (select 1 from owner) then 'not ours'
             else coalesce((select outcome from stored), 'second') end as stored`,
);

/**
 * Stores for operators why no channel has the job. The state of the job does not change.
 * Nothing is stored if a later attempt has taken the job over.
 */
export async function storeRejected(
  db: Knex,
  { taskId, kind }: JobName,
  attempt: string,
  failure: JobFailure,
): Promise<void> {
  const store = async ([stored]: readonly JobFailure[]) => {
    await db.raw(
      `update jobs set refusal = ?
        where task_id = ? and kind = ? and attempt = ? and upstream_id is null`,
      [JSON.stringify(stored), taskId, kind, attempt],
    );
    return [];
  };
  const { bad } = await withoutBadRows([failure], store);
  if (bad.length > 0) await store([unreadable]);
}

/**
 * Records that the list of the channel was searched, and that it does not show whether the job is
 * there. Returns the time since the first such search, in milliseconds.
 */
export async function storeSearched(
  db: Knex,
  { taskId, kind }: JobName,
  attempt: string,
): Promise<number> {
  const { rows } = await db.raw<{ rows: { forMs: number }[] }>(
    `update jobs set searched_since = coalesce(searched_since, now())
      where task_id = ? and kind = ? and attempt = ?
     returning (extract(epoch from now() - searched_since) * 1000)::float8 as "forMs"`,
    [taskId, kind, attempt],
  );
  return rows[0]?.forMs ?? 0;
}

/** A report that could not be stored, with the SQLSTATE of the error. */
type OnUnreadable = (name: JobName, state: string) => void;

/**
 * Stores reports and returns the stored changes. If the report of a job's end cannot be stored, the
 * job gets a report of ours instead, so that its task ends. The reports of the other jobs are stored.
 */
export async function storeReports<News extends JobNews>(
  db: Knex,
  changes: readonly News[],
  onUnreadable: OnUnreadable = () => undefined,
): Promise<readonly News[]> {
  const store = (some: readonly News[]) => storeTogether(db, some);
  const { done, bad } = await withoutBadRows(changes, store);
  for (const { row, state } of bad) onUnreadable(row, state);
  const ours = bad
    .filter(({ row }) => isFinalReport(row.report))
    .map(({ row }) => ({ ...row, report: unreadableReport(row.report) }));
  if (ours.length === 0) return done;
  return [...done, ...(await withoutBadRows(ours, store)).done];
}

/**
 * open → open or reported: stores any number of reports in one statement. If a generation has
 * succeeded and the task has a super-resolution, the job for it is planned too. What callers see of
 * a live task is derived from these rows, so the row of the task does not change. The cost of a
 * succeeded job is stored too, because the report and the plan are forgotten earlier. Returns the
 * changes that were stored; the caller tells them. The others came too late: the row has the report of
 * the job's end, or the job is closed.
 */
async function storeTogether<News extends JobNews>(
  db: Knex,
  changes: readonly News[],
): Promise<readonly News[]> {
  const costs = await costsOf(db, changes);
  const rows = changes.map(({ taskId, kind, report }) => ({
    task_id: taskId,
    kind,
    status: report.status,
    report,
    cost: costs.get(nameOf({ taskId, kind })) ?? null,
  }));
  const stored = await updateReported(db, {
    ids: changes.map(({ taskId }) => taskId),
    rows: JSON.stringify(rows),
  });
  const names = new Set(stored.map(nameOf));
  return changes.filter((change) => names.has(nameOf(change)));
}

const hasEnded = `change.status not in ('queued', 'running')`;

// A job that its provider has queued again is still shown as running.
const updateReported = prepare<JobName>(
  'store_reports',
  `
 with change as (
   select * from json_to_recordset(:rows)
          as c (task_id text, kind text, status text, report jsonb, cost bigint)
 ), stored as (
   update jobs set status = case change.status when 'queued' then jobs.status else change.status end,
          report = change.report, cost_micros = change.cost,
          state = case when ${hasEnded} then 'reported' else 'open' end,
          owes = case when ${hasEnded} then 'tell' end,
          due_at = case when ${hasEnded} then now() + ${toldEndAgain} end
     from change
    where jobs.task_id = change.task_id and jobs.kind = change.kind and ${isInState('open')}
      and ${isOneOf('jobs.task_id', ':ids')}
   returning jobs.task_id, jobs.kind, jobs.status
 ), planned as (
   insert into jobs (task_id, kind, account_id, owes, due_at)
   select tasks.id, 'super_resolution', tasks.account_id, 'place', now() + ${placingLease}
     from stored join tasks on tasks.id = stored.task_id and ${isOneOf('tasks.id', ':ids')}
    where stored.kind = 'generation' and stored.status = 'succeeded'
      and tasks.state <> 'ended' and tasks.plan->>'enhancement' is not null
   on conflict do nothing
 )
 select task_id as "taskId", kind from stored`,
);

/**
 * Stores the success of a job that was lost, or given up as gone, and whose task has failed meanwhile.
 * Then nothing is left to cancel. Returns false if the row knows the end of the job or another
 * upstream id, or if the upstream job belongs to another task.
 */
export async function storeLate(db: Knex, late: JobNews) {
  const { taskId, kind, report } = late;
  const costs = await costsOf(db, [late]);
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update jobs set upstream_id = :upstreamId, status = 'succeeded', cost_micros = :cost,
            state = 'closed', owes = null, due_at = null,
            -- The links of a forgotten task are not stored any more.
            report = case when exists (select from tasks
                                        where id = :taskId and request::text <> '{}')
                          then cast(:report as jsonb)
                          else jsonb_build_object('status', 'succeeded') end
      where task_id = :taskId and kind = :kind
        and (upstream_id is null or upstream_id = :upstreamId and owes = 'cancel')
        and not exists (select 1 from jobs other
                         where other.channel = jobs.channel and other.upstream_id = :upstreamId
                           and other.task_id <> jobs.task_id)
     returning 1`,
    {
      ...{ taskId, kind, upstreamId: report.upstreamId, report: JSON.stringify(report) },
      cost: costs.get(nameOf(late)) ?? null,
    },
  );
  return rows.length > 0;
}

/**
 * reported → closed: the workflow has begun the next job, or no activity waits for this one. An
 * activity that begins later reads the report in the row.
 */
export async function closeReported(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed', owes = null, due_at = null
      where task_id = ? and kind = ? and ${isInState('reported')}`,
    [taskId, kind],
  );
}
