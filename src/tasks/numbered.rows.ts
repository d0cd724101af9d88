// Numbered pages of an account's tasks, newest first, and how many tasks there are. Both reach a fixed
// number of tasks only, so that no page and no count reads a whole history.

import type { Knex } from 'knex';
import { cancelledMessage } from './task.rules';
import { isRunning, type ReadTask, rowColumns, shownTask, type TaskRow } from './tasks.rows';

export const reachedMax = 10_000;

export const numberedStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

interface NumberedFilter {
  readonly accountId: string;
  readonly status: (typeof numberedStatuses)[number] | null;
  readonly model: string | null;
  /** Null for tasks with any id. */
  readonly ids: readonly string[] | null;
  readonly offset: number;
  readonly limit: number;
}

interface NumberedPage {
  readonly rows: readonly TaskRow[];
  /** The number of all tasks that fit; `reachedMax` also stands for more. */
  readonly total: number;
}

export async function listNumbered(db: Knex, filter: NumberedFilter): Promise<NumberedPage> {
  const { offset, limit } = filter;
  const [counted] = await db.from(reachedQuery(db, filter).as('reached')).count('* as total');
  const total = Number(counted?.total);
  if (offset >= total) return { rows: [], total };
  const page = reachedQuery(db, filter)
    .offset(offset)
    .limit(Math.min(limit, total - offset));
  const found: ReadTask<TaskRow>[] = await newestFirst(
    db('tasks')
      .select(db.raw(rowColumns))
      .whereIn('id', db.select('id').from(page.as('page'))),
  );
  return { rows: found.map((row) => shownTask(row)), total };
}

/**
 * The newest tasks that fit. A cancelled task is a failed one by its row, so of the newest failed tasks
 * those are taken that were cancelled, or that were not.
 */
export function reachedQuery(
  db: Knex,
  { accountId, status, model, ids }: Omit<NumberedFilter, 'offset' | 'limit'>,
): Knex.QueryBuilder {
  const query = newestFirst(db('tasks').where('account_id', accountId)).limit(reachedMax);
  if (model !== null) query.where('model', model);
  if (ids !== null) query.whereIn('id', [...ids]);
  if (status === null) return query.select('id', 'created_at');
  if (status === 'queued') {
    query.whereNull('finished_at').whereRaw(`(tasks.state = 'pending' or not ${isRunning})`);
    return query.select('id', 'created_at');
  }
  if (status === 'running') {
    query.whereNull('finished_at').whereRaw(`tasks.state = 'open' and ${isRunning}`);
    return query.select('id', 'created_at');
  }
  query.whereNotNull('finished_at').where('status', status === 'cancelled' ? 'failed' : status);
  if (status === 'succeeded') return query.select('id', 'created_at');
  const failed = query.select('id', 'created_at', 'object').as('failed');
  const isCancelled = `object->'error'->>'message' is not distinct from ?`;
  return newestFirst(db.from(failed).select('id', 'created_at'))
    .whereRaw(`(${isCancelled}) = ?`, [cancelledMessage, status === 'cancelled'])
    .limit(reachedMax);
}

function newestFirst(query: Knex.QueryBuilder): Knex.QueryBuilder {
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc');
}
