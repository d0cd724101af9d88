// Pages of tasks, newest first unless the filter says otherwise. The cost of a page is limited: an index has the tasks in the order
// of the list. A list by labels, key or error examines at most a fixed number of tasks.

import type { Knex } from 'knex';
import type { Labels } from '../contract/request';
import type { TaskStatus } from '../contract/vocabulary';
import { isFinal } from './task.rules';
import {
  askedColumn,
  isRunning,
  type ReadTask,
  rowColumns,
  shownTask,
  type TaskRow,
} from './tasks.rows';

/**
 * SQL: tasks that an operator looks for, beside those in a status. For each an index has few rows, or, for
 * the open tasks, those of an account in the order of the list.
 */
export const taskSets = {
  open: 'tasks.finished_at is null and tasks.owes is null',
  overdue: `tasks.finished_at is null and tasks.deadline_at < now() - interval '7 minutes'`,
  // No workflow has opened them. Their creates were answered pending or submitted.
  unopened: 'tasks.owes is not null',
  // An array, so that no plan tries each task of an account instead.
  unstored: `tasks.id = any(array(
    select task_id from files
     where state = 'awaited' and role <> 'upload' and expires_at > now()
       and created_at < now() - interval '10 minutes'))`,
  uncancelled: `tasks.id = any(array(
    select task_id from jobs where owes = 'cancel' and due_at = 'infinity'))`,
} as const;
export type TaskSet = keyof typeof taskSets;

interface TaskFilter {
  readonly accountId?: string;
  readonly status?: TaskStatus | null;
  readonly set?: TaskSet;
  readonly model?: string | null;
  readonly keyId?: string;
  /** The code of the error of a failed task. */
  readonly errorCode?: string;
  /** Unix seconds; `createdAfter` is inclusive, `createdBefore` exclusive. */
  readonly createdAfter?: number | null;
  readonly createdBefore?: number | null;
  /** `next` of the previous page. */
  readonly after?: string | null;
  readonly isOldestFirst?: boolean;
  /** Also reads what the callers of the tasks asked for. */
  readonly withAsked?: boolean;
  readonly limit: number;
}

interface TaskPage {
  readonly rows: readonly TaskRow[];
  /** The start of the next page; null after the last page. */
  readonly next: string | null;
}

type Label = readonly [name: string, value: string];

// No index covers two labels, a label and a model, a key or an error. So the tasks with the first
// label, or those of the list without key and error, are examined one by one, at most this many for
// one page. Each examined task costs one look-up, and one more look-up for each further label.
const examinedMax = 1_000;

export async function listTasks(
  db: Knex,
  filter: TaskFilter & { readonly labels?: Labels },
): Promise<TaskPage> {
  const { labels = {}, limit, keyId, errorCode } = filter;
  const [first, ...others] = Object.entries(labels);
  const isExamined = first || keyId !== undefined || errorCode !== undefined;
  const read = (query: Knex.QueryBuilder) =>
    filter.withAsked ? readAsked(db, filter, query) : query;
  if (!isExamined) return pageOf(await read(listTasksQuery(db, filter)), limit, null);
  const examined = first
    ? await labelledQuery(db, filter, first)
    : await listTasksQuery(db, { ...filter, limit: examinedMax - 1 });
  const ids = examined.map(({ id }: { id: string }) => id);
  const rest = ids.length === examinedMax ? ids.at(-1) : null;
  return pageOf(await read(amongQuery(db, filter, others, ids)), limit, rest);
}

// A create may have 128 KiB, so a page of a hundred prompts could have 13 MB.
const askedBytesMax = 1_000_000;

/**
 * The rows of a query, in the same order, with what the callers asked for. That of a row is null if the
 * requests of the rows before it are too large together. Only the requests that fit are parsed.
 */
function readAsked(db: Knex, filter: TaskFilter, query: Knex.QueryBuilder): Knex.QueryBuilder {
  const order = orderOf(filter);
  const before = `coalesce(sum(octet_length(request::text)) over (
    order by created_at ${order}, id ${order}
    rows between unbounded preceding and 1 preceding), 0)`;
  const measured = db.from(query.as('found')).select('id', db.raw(`${before} as before`));
  return db
    .from(measured.as('page'))
    .joinRaw('join tasks on tasks.id = page.id')
    .select(db.raw(rowColumns))
    .select(db.raw(`case when page.before < ? then ${askedColumn} end as asked`, [askedBytesMax]))
    .orderBy('tasks.created_at', order)
    .orderBy('tasks.id', order);
}

/**
 * Makes a page of the found rows. If more rows were found than are shown, the next page starts after
 * the last shown row. Otherwise `rest` is the start of the next page; null if there is no next
 * page.
 */
function pageOf(found: readonly ReadTask<TaskRow>[], limit: number, rest: string | null): TaskPage {
  const unread = found.findIndex(({ asked }) => asked === null);
  const shown = found.slice(0, unread === -1 ? limit : Math.min(limit, unread));
  const rows = shown.map((row) => shownTask(row));
  return { rows, next: found.length > shown.length ? (rows.at(-1)?.id ?? null) : rest };
}

export function listTasksQuery(db: Knex, filter: TaskFilter): Knex.QueryBuilder {
  const { accountId, status, set } = filter;
  // The tasks of the other sets and statuses are few, so they are all read and sorted.
  const isOrdered = set ? set === 'open' : !status || isFinal(status);
  if (!accountId && isOrdered) return ofAllAccountsQuery(db, filter);
  return inOrder(db('tasks').select(db.raw(columnsOf(filter))), filter).limit(filter.limit + 1);
}

/**
 * No index has the tasks of all accounts in the order of the list. So the first tasks of each account
 * are read from the indexes of its own lists. A few of each account are read before, to find a time
 * behind which no task can be on the page.
 */
function ofAllAccountsQuery(db: Knex, filter: TaskFilter): Knex.QueryBuilder {
  const { limit, isOldestFirst } = filter;
  const few = db.raw('(select 1 + 2 * ? / greatest(1, count(*)) from accounts)', [limit]);
  const last = ofEachAccount(db, filter, db.raw('true'), few);
  last.select('task.created_at').offset(limit).limit(1);
  const bound = isOldestFirst ? "<= coalesce(?, 'infinity')" : ">= coalesce(?, '-infinity')";
  const untilLast = db.raw(`created_at ${bound}`, [last]);
  const first = ofEachAccount(db, filter, untilLast, db.raw('?', [limit + 1]));
  first.select('task.id').limit(limit + 1);
  const query = db('tasks')
    .select(db.raw(columnsOf(filter)))
    .whereIn('id', first);
  return query.orderBy('created_at', orderOf(filter)).orderBy('id', orderOf(filter));
}

function ofEachAccount(
  db: Knex,
  filter: TaskFilter,
  condition: Knex.Raw,
  limit: Knex.Raw,
): Knex.QueryBuilder {
  const each = inOrder(db('tasks').select('id', 'created_at'), filter);
  each.whereRaw('account_id = accounts.id').where(condition);
  const query = db('accounts').crossJoin(db.raw('lateral (? limit ?) as task', [each, limit]));
  const order = orderOf(filter);
  return query.orderBy('task.created_at', order).orderBy('task.id', order);
}

function inOrder(query: Knex.QueryBuilder, filter: TaskFilter): Knex.QueryBuilder {
  const order = orderOf(filter);
  query.orderBy('created_at', order).orderBy('id', order);
  return narrow(inPeriod(query, filter, 'id'), filter);
}

function columnsOf({ withAsked = false }: TaskFilter): string {
  return withAsked ? 'tasks.id, tasks.created_at, tasks.request' : rowColumns;
}

function orderOf({ isOldestFirst = false }: TaskFilter): 'asc' | 'desc' {
  return isOldestFirst ? 'asc' : 'desc';
}

/** The ids of tasks with this label, in the order of the list. */
export function labelledQuery(db: Knex, filter: TaskFilter, [name, value]: Label) {
  const query = db('task_labels').select('task_id as id').where({ name, value });
  const order = orderOf(filter);
  query.orderBy('created_at', order).orderBy('task_id', order).limit(examinedMax);
  return inPeriod(query, filter, 'task_id');
}

/** Of the tasks with these ids, selects those that match the other labels and the whole filter. */
function amongQuery(db: Knex, filter: TaskFilter, others: readonly Label[], ids: string[]) {
  const query = db('tasks')
    .select(db.raw(columnsOf(filter)))
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
  const { keyId, errorCode } = filter;
  if (keyId !== undefined) query.where('key_id', keyId);
  if (errorCode !== undefined) query.whereRaw(`object->'error'->>'code' = ?`, [errorCode]);
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
    // The id of another account's task gives an empty page, like an unknown id.
    const own = accountId ? ' and account_id = ?' : '';
    query.whereRaw(
      `(created_at, ??) ${filter.isOldestFirst ? '>' : '<'} (select created_at, id from tasks where id = ?${own})`,
      accountId ? [id, after, accountId] : [id, after],
    );
  }
  return query;
}

const liveStatus = {
  pending: "tasks.state = 'pending' and told_pending",
  submitted: `(tasks.state = 'pending' and not told_pending or tasks.state = 'open' and not ${isRunning})`,
  running: `tasks.state = 'open' and ${isRunning}`,
} as const;

function narrow(query: Knex.QueryBuilder, { status, set, model }: TaskFilter): Knex.QueryBuilder {
  if (status && isFinal(status)) query.where('status', status).whereNotNull('finished_at');
  // There is no index for this filter, because the number of unfinished tasks per account is
  // limited.
  else if (status) query.whereNull('finished_at').whereRaw(liveStatus[status]);
  if (set) query.whereRaw(taskSets[set]);
  if (model) query.where('model', model);
  return query;
}
