// Reading task rows. They are written by the two doors (ledger.ts) and by the watcher (jobs.ts).

import DataLoader from 'dataloader';
import type { Knex } from 'knex';
import type { TaskObject } from '../contract/task';
import type { TaskStatus } from '../contract/vocabulary';
import { askPrepared } from './prepared';

/** A task as callers are answered. */
export interface StoredTask {
  readonly id: string;
  readonly accountId: string;
  readonly status: TaskStatus;
  readonly version: number;
  /** The public object as JSON text: GET sends it as it is. */
  readonly object: string;
  readonly requestHash: string;
}

export interface TaskRow extends StoredTask {
  readonly traceId: string;
  readonly createdAt: Date;
  readonly deadlineAt: Date;
}

const storedColumns = `
  id, account_id as "accountId", status, version, object::text as object,
  request_hash as "requestHash"`;
const columns = `${storedColumns},
  trace_id as "traceId", created_at as "createdAt", deadline_at as "deadlineAt"`;

/** What a poll reads, and nothing besides: it is the query that is asked most. */
export async function findTask(db: Knex, id: string): Promise<StoredTask | null> {
  return (await findTasks(db, [id])).get(id) ?? null;
}

/**
 * As `findTask`, for callers that come in crowds: who asks in the same turn of the event loop is
 * answered by one question. Nobody is answered by one that was asked before he came.
 */
export function gatheredFindTask(db: Knex): (id: string) => Promise<StoredTask | null> {
  const loader = new DataLoader<string, StoredTask | null>(
    async (ids) => {
      const found = await findTasks(db, ids);
      return ids.map((id) => found.get(id) ?? null);
    },
    { cache: false, maxBatchSize: 100, batchScheduleFn: setImmediate },
  );
  return (id) => loader.load(id);
}

async function findTasks(
  db: Knex,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredTask>> {
  const text = `select ${storedColumns} from tasks where id = any($1)`;
  const rows = await askPrepared<StoredTask>(db, 'find_tasks', text, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findTaskRow(db: Knex, id: string): Promise<TaskRow | null> {
  const { rows } = await db.raw<{ rows: TaskRow[] }>(`select ${columns} from tasks where id = ?`, [
    id,
  ]);
  return rows[0] ?? null;
}

/** What the doors find of a task that is there already. */
export async function findStored(db: Knex, taskId: string) {
  const { rows } = await db.raw<{
    rows: { object: TaskObject; accountId: string; requestHash: string; finished: boolean }[];
  }>(
    `select object, account_id as "accountId", request_hash as "requestHash",
            finished_at is not null as finished
       from tasks where id = ?`,
    [taskId],
  );
  return rows[0];
}

/** The task that a job was made for, by the job's id upstream. */
export async function findTaskOfJob(db: Knex, upstreamId: string): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    'select task_id as id from jobs where upstream_id = ? limit 1',
    [upstreamId],
  );
  return rows[0]?.id ?? null;
}

interface TaskFilter {
  readonly accountId?: string;
  readonly status?: TaskStatus;
  readonly model?: string;
  /** The id of the last task of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/**
 * Newest first: ids are made in the order of time, except those derived from an Idempotency-Key.
 */
export async function listTasks(db: Knex, filter: TaskFilter): Promise<readonly TaskRow[]> {
  const { accountId, status, model, after, limit } = filter;
  const query = db('tasks').select(db.raw(columns)).orderBy('created_at', 'desc');
  query.orderBy('id', 'desc').limit(limit);
  if (accountId) query.where('account_id', accountId);
  if (status) query.where('status', status);
  if (model) query.where('model', model);
  if (after) {
    // Of the account's own only: a foreign id answers like one that does not exist.
    const own = accountId ? ' and account_id = ?' : '';
    query.whereRaw(
      `(created_at, id) < (select created_at, id from tasks where id = ?${own})`,
      accountId ? [after, accountId] : [after],
    );
  }
  return (await query) as TaskRow[];
}
