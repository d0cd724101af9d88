// Pages of tasks, newest first. The cost of a page is limited: an index gives its order, and a list
// by labels examines a fixed number of tasks with its first label.

import type { Knex } from 'knex';
import type { Labels } from '../contract/request';
import type { TaskStatus } from '../contract/vocabulary';
import { isFinal } from '../domain/task';
import { rowColumns, type TaskRow, unsealed } from './tasks';

interface TaskFilter {
  readonly accountId?: string;
  readonly status?: TaskStatus | null;
  readonly model?: string | null;
  /** Unix seconds; `createdAfter` is inclusive, `createdBefore` exclusive. */
  readonly createdAfter?: number | null;
  readonly createdBefore?: number | null;
  /** The `next` of the previous page. */
  readonly after?: string | null;
  readonly limit: number;
}

interface TaskPage {
  readonly rows: readonly TaskRow[];
  /** The start of the next page; null after the last one. */
  readonly next: string | null;
}

type Label = readonly [name: string, value: string];

// No index covers two labels, or a label and a model, so tasks are examined one by one; each costs
// two look-ups.
const examinedMax = 1_000;

export async function listTasks(
  db: Knex,
  filter: TaskFilter & { readonly labels?: Labels },
): Promise<TaskPage> {
  const { labels = {}, limit } = filter;
  const [first, ...others] = Object.entries(labels);
  if (!first) return pageOf(db, await listTasksQuery(db, filter), limit, null);
  const examined = await labelledQuery(db, filter, first);
  const ids = examined.map(({ id }: { id: string }) => id);
  const rest = ids.length === examinedMax ? ids.at(-1) : null;
  return pageOf(db, await amongQuery(db, filter, others, ids), limit, rest);
}

/** Expects one row more than `limit`, which shows whether there is another page. */
function pageOf(db: Knex, found: readonly TaskRow[], limit: number, rest: string | null): TaskPage {
  const rows = found.slice(0, limit).map((row) => unsealed(db, row));
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : rest };
}

export function listTasksQuery(db: Knex, filter: TaskFilter): Knex.QueryBuilder {
  const query = db('tasks').select(db.raw(rowColumns)).orderBy('created_at', 'desc');
  query.orderBy('id', 'desc').limit(filter.limit + 1);
  return narrow(inPeriod(query, filter, 'id'), filter);
}

/** The ids of tasks with this label, newest first. */
export function labelledQuery(db: Knex, filter: TaskFilter, [name, value]: Label) {
  const query = db('task_labels').select('task_id as id').where({ name, value });
  query.orderBy('created_at', 'desc').orderBy('task_id', 'desc').limit(examinedMax);
  return inPeriod(query, filter, 'task_id');
}

/** Selects the tasks among these ids that match the other labels and the filter. */
function amongQuery(db: Knex, filter: TaskFilter, others: readonly Label[], ids: string[]) {
  const query = db('tasks')
    .select(db.raw(rowColumns))
    .joinRaw('join unnest(?::text[]) with ordinality as given (id, place) using (id)', [ids])
    .orderBy('place')
    .limit(filter.limit + 1);
  for (const other of others) {
    query.whereRaw(
      `exists (select 1 from task_labels other
                where other.task_id = tasks.id and other.name = ? and other.value = ?)`,
      [...other],
    );
  }
  return narrow(query, filter);
}

function inPeriod(query: Knex.QueryBuilder, filter: TaskFilter, id: string): Knex.QueryBuilder {
  const { accountId, createdAfter, createdBefore, after } = filter;
  if (accountId) query.where('account_id', accountId);
  if (typeof createdAfter === 'number')
    query.whereRaw('created_at >= to_timestamp(?)', [createdAfter]);
  if (typeof createdBefore === 'number')
    query.whereRaw('created_at < to_timestamp(?)', [createdBefore]);
  if (after) {
    // A task of another account gives an empty page, as an unknown id does.
    const own = accountId ? ' and account_id = ?' : '';
    query.whereRaw(
      `(created_at, ??) < (select created_at, id from tasks where id = ?${own})`,
      accountId ? [id, after, accountId] : [id, after],
    );
  }
  return query;
}

function narrow(query: Knex.QueryBuilder, { status, model }: TaskFilter): Knex.QueryBuilder {
  if (status && isFinal(status)) query.where('ended_as', status).whereNotNull('finished_at');
  // This filter has no index of its own: the number of unfinished tasks per account is limited.
  else if (status) query.where('status', status).whereNull('finished_at');
  if (model) query.where('model', model);
  return query;
}
