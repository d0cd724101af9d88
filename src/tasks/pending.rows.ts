// Pending tasks: they are stored, but their workflow has not opened them yet. Every change here requires
// that the row is still pending. So if two statements end or open the same task, only the first one
// succeeds.

import type { Knex } from 'knex';
import { uncountPending } from '../accounts/pending-sums.rows';
import type { TaskObject } from '../contract/task';
import { prepare } from '../database/prepared-statement';
import { claimInTurns } from '../owed/claim.rows';
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
    `select id from tasks where owes is not null and created_at < ?
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
       from tasks where id = ? and state = 'pending'`,
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
  `with ${endsTask(`state = 'pending'`)}
   , uncounted as (${uncountPending}
   )
   select "hasCallback" from result`,
);

// Longer than a start waits for its answer (engine/connection.ts).
export const startLeaseSeconds = 35;

export interface Owing extends TaskInput {
  readonly isExpired: boolean;
}

/** Claims pending tasks whose workflow must be started. */
export const claimStarts = (db: Knex) =>
  claimInTurns<Owing>(db, {
    table: 'tasks',
    key: 'id',
    owing: `owes = 'start'`,
    lease: `interval '${startLeaseSeconds} seconds'`,
    columns: `
      id as "taskId", account_id as "accountId", plan, trace_id as "traceId",
      ${epochMs('created_at')} as "createdAtMs", ${epochMs('deadline_at')} as "deadlineAtMs",
      request->'metadata'->'labels' as labels, deadline_at <= now() as "isExpired"`,
  });

/**
 * Temporal has answered, so the workflow probably waits for a worker. It is started again after as much
 * time as the task is old, at its deadline at the latest, but never before the lease ends: the clock of
 * the caller may be ahead.
 */
export async function startLater(db: Knex, taskId: string): Promise<void> {
  await db.raw(
    `update tasks set due_at = greatest(due_at, now() + least(now() - created_at, deadline_at - now()))
      where id = ? and state = 'pending'`,
    [taskId],
  );
}

/** Releases a claimed task, so that it is due again after this time. */
export async function releaseStart(db: Knex, taskId: string, inSeconds: number): Promise<void> {
  await db.raw(
    `update tasks set due_at = now() + make_interval(secs => ?)
      where id = ? and state = 'pending'`,
    [inSeconds, taskId],
  );
}
