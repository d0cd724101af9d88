// Pending tasks: they are stored, but their workflow has not opened them yet. Every statement here
// requires that the row is still pending (`start_at` is not null). So if two statements end the
// same task, only the first one succeeds.

import type { Knex } from 'knex';
import type { TaskObject } from '../contract/task';
import { assert } from '../domain/assert';
import { createStartTurns, type StartTurns } from '../domain/start-turns';
import { failedObject, type LiveTask } from '../domain/task';
import type { TaskInput } from '../domain/task-transactions';
import { endsTask } from './end-task';
import { prepare } from './prepared-statement';
import {
  epochMs,
  findTask,
  liveTask,
  type ReadTask,
  type StoredTask,
  shownTask,
  storedColumns,
} from './tasks';

/**
 * Marks a pending task as answered before a caller gets its id, so that the task is not withdrawn.
 * If `startInSeconds` is given, the starter may start the task after this time. Returns the task,
 * even if the task is no longer pending.
 */
export async function markAnswered(
  db: Knex,
  taskId: string,
  startInSeconds: number | null,
): Promise<StoredTask> {
  const { rows } = await db.raw<{ rows: ReadTask[] }>(
    `update tasks
        set answered = true, start_at = coalesce(now() + make_interval(secs => ?), start_at)
      where id = ? and start_at is not null
        -- A repeated call without a new time writes nothing.
        and (not answered or cast(? as float8) is not null)
     returning ${storedColumns}`,
    [startInSeconds, taskId, startInSeconds],
  );
  const stored = rows[0] ? shownTask(rows[0]) : await findTask(db, taskId);
  assert(stored, `${taskId} has a row`);
  return stored;
}

/** The pending tasks that are older than `olderThanSeconds` and whose id no caller has. */
export async function listUnanswered(
  db: Knex,
  olderThanSeconds: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select id from tasks
      where start_at is not null and not answered
        and created_at < now() - make_interval(secs => ?)
      order by created_at limit ?`,
    [olderThanSeconds, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Ends a pending task as failed. No money moves. Returns null if the task is not pending, or if
 * only an unanswered task is to be ended and a caller has got the id of the task by now.
 */
export async function failPending(
  db: Knex,
  taskId: string,
  message: string,
  which: 'any' | 'unanswered' = 'any',
): Promise<{ readonly object: TaskObject; readonly hasCallback: boolean } | null> {
  const { rows } = await db.raw<{ rows: { task: LiveTask; nowSeconds: number }[] }>(
    `select ${liveTask} as task, floor(extract(epoch from now()))::int as "nowSeconds"
       from tasks where id = ? and start_at is not null`,
    [taskId],
  );
  if (!rows[0]) return null;
  const object = failedObject(rows[0].task, message, rows[0].nowSeconds);
  const [ended] = await endPending(db, { taskId, which, object: JSON.stringify(object) });
  return ended ? { object, ...ended } : null;
}

const endPending = prepare<{ readonly hasCallback: boolean }>(
  'end_pending',
  `with ${endsTask(`start_at is not null and (not answered or cast(:which as text) = 'any')`)}
   select "hasCallback" from result`,
);

const inputColumns = `
  tasks.id as "taskId", tasks.account_id as "accountId", plan, trace_id as "traceId",
  ${epochMs('tasks.created_at')} as "createdAtMs",
  ${epochMs('deadline_at')} as "deadlineAtMs",
  request->'metadata'->'labels' as labels`;

interface ClaimOptions {
  readonly limit: number;
  /**
   * Maximum number of starts in progress of one account.
   */
  readonly perAccountMax: number;
  /** The number of starts in progress of each account. */
  readonly running?: Readonly<Record<string, number>>;
  /** The turns that earlier claims gave. This claim adds its own turns. */
  readonly turns?: StartTurns;
  /** For this time no other caller can claim the rows. */
  readonly leaseSeconds: number;
  /** Claims only rows that have been due for at least this time. */
  readonly dueForSeconds?: number;
}

/**
 * Claims pending tasks that are due. Accounts take turns, and the oldest task of an account is
 * first. Concurrent callers get different rows. At most `perAccountMax` tasks of an
 * account are selected, so a long queue of one account does not slow down the others.
 */
export async function claimStarts(db: Knex, options: ClaimOptions): Promise<readonly TaskInput[]> {
  const { turns = createStartTurns(), running = {}, dueForSeconds = 0, ...limits } = options;
  const { rows } = await db.raw<{ rows: (TaskInput & { turn: number })[] }>(
    `with recursive account as (
       (select account_id as id from tasks where start_at is not null order by 1 limit 1)
       union all
       select (select account_id from tasks
                where start_at is not null and account_id > account.id order by 1 limit 1)
         from account where account.id is not null
     ), share as (
       select account.id,
              greatest(cast(last.value as float8) + 1, cast(:begun as float8)) as turn,
              cast(:perAccountMax as int) - coalesce(cast(running.value as int), 0) as room
         from account
              left join json_each_text(cast(:last as json)) last on last.key = account.id
              left join json_each_text(cast(:running as json)) running on running.key = account.id
        where account.id is not null
     ), due as materialized (
       select task.id, created_at, turn, room,
              row_number() over (partition by share.id order by created_at) as nth
         from share cross join lateral (
           select tasks.id, tasks.created_at from tasks
            where account_id = share.id and answered
              and start_at <= now() - make_interval(secs => :dueForSeconds)
            order by created_at limit :perAccountMax for update skip locked) task
        where room > 0
     ), next as (
       select id, turn + nth - 1 as turn from due where nth <= room
        order by 2, created_at limit :limit
     )
     update tasks set start_at = now() + make_interval(secs => :leaseSeconds)
       from next where tasks.id = next.id
     returning ${inputColumns}, cast(next.turn as float8) as turn`,
    {
      ...limits,
      dueForSeconds,
      begun: turns.begun,
      last: JSON.stringify(turns.last),
      running: JSON.stringify(running),
    },
  );
  return rows.map(({ turn, ...input }) => {
    turns.give(input.accountId, turn);
    return input;
  });
}

/** Releases a claimed task, so that it is due again after this time. */
export async function releaseStart(db: Knex, taskId: string, inSeconds: number): Promise<void> {
  await db.raw(
    `update tasks set start_at = now() + make_interval(secs => ?)
      where id = ? and start_at is not null`,
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
