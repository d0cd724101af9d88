// Pending tasks: they are stored, but their workflow has not opened them yet. Every statement here
// requires that the row is still pending (`start_at` is not null). So if two statements end the
// same task, only the first one succeeds.

import type { Knex } from 'knex';
import { uncountPending } from '../accounts/pending-sums.rows';
import type { TaskObject } from '../contract/task';
import { isPending } from '../database/by-key';
import { prepare } from '../database/prepared-statement';
import { endsTask } from './end-task.rows';
import { failedObject, type LiveTask } from './task.rules';
import type { TaskInput } from './task-transactions.rules';
import { epochMs, liveTask } from './tasks.rows';

/** The oldest pending tasks that were created before this time. */
export async function listPending(
  db: Knex,
  before: Date,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select id from tasks where start_at is not null and created_at < ?
      order by created_at limit ?`,
    [before, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Ends a pending task as failed. No money moves. Returns null if the task is not pending. Its callback
 * is due at once, unless the caller announces the end within `announcedInSeconds`.
 */
export async function failPending(
  db: Knex,
  taskId: string,
  message: string,
  announcedInSeconds = 0,
): Promise<{ readonly object: TaskObject; readonly hasCallback: boolean } | null> {
  const { rows } = await db.raw<{ rows: { task: LiveTask; nowSeconds: number }[] }>(
    `select ${liveTask} as task, floor(extract(epoch from now()))::float8 as "nowSeconds"
       from tasks where id = ? and ${isPending}`,
    [taskId],
  );
  if (!rows[0]) return null;
  const object = failedObject(rows[0].task, message, rows[0].nowSeconds);
  const [ended] = await endPending(db, {
    taskId,
    object: JSON.stringify(object),
    announcedInSeconds,
  });
  return ended ? { object, ...ended } : null;
}

const endPending = prepare<{ readonly hasCallback: boolean }>(
  'end_pending',
  `with ${endsTask(isPending)}
   , uncounted as (${uncountPending}
   )
   select "hasCallback" from result`,
);

const inputColumns = `
  tasks.id as "taskId", tasks.account_id as "accountId", plan, trace_id as "traceId",
  ${epochMs('tasks.created_at')} as "createdAtMs",
  ${epochMs('deadline_at')} as "deadlineAtMs",
  request->'metadata'->'labels' as labels`;

interface ClaimOptions {
  readonly limit: number;
  /** The account that had the last turn in an earlier claim of this caller. */
  readonly lastTurn?: string;
  /**
   * For this time no other caller can claim the rows, except one with `olderThanSeconds`. The lease of
   * an older task is as long as its age: its workflow was probably started and waits for a worker.
   */
  readonly leaseSeconds: number;
  /**
   * Claims rows that are older than this, even if another caller has a lease. By default only rows
   * that are due are claimed.
   */
  readonly olderThanSeconds?: number;
}

const isDue = `start_at is not null
  and case when cast(:olderThanSeconds as float8) is null then start_at <= now()
           else created_at < now() - make_interval(secs => :olderThanSeconds) end`;

/** SQL for the next account with due tasks: in the order of the ids, and after the last the first. */
const accountAfter = (id: string) => `
  select coalesce((select account_id from tasks where ${isDue} and account_id > ${id}
                    order by account_id, created_at limit 1),
                  (select account_id from tasks where ${isDue}
                    order by account_id, created_at limit 1)) as id`;

/**
 * Claims pending tasks that are due. Concurrent callers get different rows. Accounts take turns,
 * beginning after the account that had the last turn. Each account of a round may start as many tasks
 * as the others, its oldest first. The last task belongs to the account with the last turn.
 */
export async function claimStarts(db: Knex, options: ClaimOptions): Promise<readonly TaskInput[]> {
  const { rows } = await db.raw<{ rows: TaskInput[] }>(
    `with recursive turns as (
       select id, id as first, 1 as turn from (${accountAfter(':lastTurn')}) next
        where id is not null
       union all
       select next.id, first, turn + 1
         from turns cross join lateral (${accountAfter('turns.id')}) next
        where turn < :limit and next.id <> first
     ), due as materialized (
       select task.id, turn
         from turns cross join lateral (
           select tasks.id from tasks
            where account_id = turns.id and ${isDue}
            order by created_at limit greatest(1, :limit / (select count(*) from turns))
              for update skip locked) task
     ), claimed as (
       update tasks
          set start_at = now() + greatest(make_interval(secs => :leaseSeconds), now() - created_at)
         from due where tasks.id = due.id
       returning turn, ${inputColumns}
     )
     select "taskId", "accountId", plan, "traceId", "createdAtMs", "deadlineAtMs", labels
       from claimed order by turn`,
    { lastTurn: '', olderThanSeconds: null, ...options },
  );
  return rows;
}

/** Releases a claimed task, so that it is due again after this time. */
export async function releaseStart(db: Knex, taskId: string, inSeconds: number): Promise<void> {
  await db.raw(
    `update tasks set start_at = now() + make_interval(secs => ?)
      where id = ? and ${isPending}`,
    [inSeconds, taskId],
  );
}

/** The pending tasks whose deadline has passed, each with its time limit. */
export async function listExpiredPending(
  db: Knex,
  limit: number,
): Promise<readonly { readonly id: string; readonly expiresAfterSeconds: number }[]> {
  const { rows } = await db.raw<{ rows: { id: string; expiresAfterSeconds: number }[] }>(
    `select id, (plan->>'expiresAfterSeconds')::int as "expiresAfterSeconds" from tasks
      where start_at is not null and deadline_at <= now() order by deadline_at limit ?`,
    [limit],
  );
  return rows;
}
