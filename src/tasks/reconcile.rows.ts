// Reads for the reconciler: a slice of the open tasks in each run, and overdue tasks. The row of the
// reconciler in `loops` stores the position of the slice, and the time at which an operator's
// confirmation of lost tasks expires.

import type { Knex } from 'knex';
import type { LiveTask } from './task.rules';
import { epochMs, liveTask } from './tasks.rows';

export interface OpenRow {
  readonly id: string;
  readonly task: LiveTask;
  /**
   * The time at which the row was read. It comes from the clock of the database, like the deadline.
   */
  readonly nowMs: number;
  readonly deadlineAtMs: number;
  /** True if all jobs of the task are closed, so that no watcher reports the end of one. */
  readonly areJobsClosed: boolean;
}

// A scalar query looks up the rows of each task by its key; for an `exists` PostgreSQL may read all.
const areJobsClosed = `
  coalesce((select bool_and(state = 'closed') from jobs where task_id = tasks.id), true)`;

const columns = `
  id, ${liveTask} as task, ${epochMs('now()')} as "nowMs", ${epochMs('deadline_at')} as "deadlineAtMs",
  ${areJobsClosed} as "areJobsClosed"`;

/**
 * The next slice of the open tasks. After the last task the slice continues with the first task. So
 * the slice is smaller than `size` only if fewer tasks are open. Tasks younger than half a minute
 * are left out.
 */
export async function nextSlice(db: Knex, size: number): Promise<readonly OpenRow[]> {
  const after = await listFromCursor(db, '>', size);
  const rest = size - after.length;
  const slice = rest > 0 ? [...after, ...(await listFromCursor(db, '<=', rest))] : after;
  await db.raw(`update loops set continues_after = ? where kind = 'reconciler'`, [
    slice.at(-1)?.id ?? '',
  ]);
  return slice;
}

/** Records the end of a run in which no duty failed. An old time is an alert. */
export async function recordRun(db: Knex): Promise<void> {
  await db.raw(`update loops set ran_at = now() where kind = 'reconciler'`);
}

async function listFromCursor(db: Knex, side: '>' | '<=', limit: number): Promise<OpenRow[]> {
  const { rows } = await db.raw<{ rows: OpenRow[] }>(
    `select ${columns} from tasks
      where finished_at is null and state = 'open' and created_at < now() - interval '30 seconds'
        and id ${side} (select continues_after from loops where kind = 'reconciler')
      order by id limit ?`,
    [limit],
  );
  return rows;
}

/** The names of the services whose processes are connected to this database. */
export async function listConnectedServices(db: Knex): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select distinct application_name as name from pg_stat_activity
      where datname = current_database() and application_name in ('api', 'worker')
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Records that an operator has confirmed a loss of tasks in Temporal. For the next `hours` hours
 * the reconciler closes any number of tasks that Temporal does not know. Returns the time at which
 * the confirmation ends.
 */
export async function confirmLoss(db: Knex, hours: number): Promise<Date> {
  const { rows } = await db.raw<{ rows: { until: Date }[] }>(
    `update loops set loss_confirmed_until = now() + make_interval(hours => ?)
      where kind = 'reconciler'
     returning loss_confirmed_until as until`,
    [hours],
  );
  const [state] = rows;
  if (!state) throw new Error('The row of the reconciler is missing.');
  return state.until;
}

export async function isLossConfirmed(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from loops where kind = 'reconciler' and loss_confirmed_until > now()`,
  );
  return rows.length > 0;
}

export async function findOpenRows(db: Knex, ids: readonly string[]): Promise<readonly OpenRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.raw<{ rows: OpenRow[] }>(
    `select ${columns} from tasks where state = 'open' and id = any(?)`,
    [[...ids]],
  );
  return rows;
}

// True if the last job of the task's plan has succeeded.
const isMade = `
  exists (select 1 from jobs
           where task_id = tasks.id and status = 'succeeded'
             and kind = case when plan->>'enhancement' is null then 'generation'
                             else 'super_resolution' end)`;

/** How long after its deadline a task is left to its workflow. */
interface Grace {
  readonly graceSeconds: number;
  /** For a task whose video is made: its workflow may still have to store the video. */
  readonly madeGraceSeconds: number;
}

const isOverdue = `
  finished_at is null and state = 'open'
  -- This condition leaves nearly no task for the next one, which has to look into other tables.
  and deadline_at < now() - make_interval(secs => cast(:graceSeconds as integer))
  and deadline_at < now() - make_interval(secs =>
        case when exists (select from files where task_id = tasks.id) or ${isMade}
             then cast(:madeGraceSeconds as integer)
             else 0 end)`;

/** The open tasks whose deadline and grace period have passed. */
export async function listOverdue(db: Knex, grace: Grace): Promise<readonly OpenRow[]> {
  const { rows } = await db.raw<{ rows: OpenRow[] }>(
    `select ${columns} from tasks where ${isOverdue} order by random() limit 500`,
    { ...grace },
  );
  return rows;
}

/** True if a listed task is still overdue: its end or its video may have been stored meanwhile. */
export async function isStillOverdue(db: Knex, taskId: string, grace: Grace): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from tasks where id = :taskId and ${isOverdue}`,
    { taskId, ...grace },
  );
  return rows.length > 0;
}
