// Reads of task rows, and changes of final objects. The object of a live task is not stored: it is
// derived from the rows of the task and its jobs. The object of an ended task was stored by its end
// (end-task.rows.ts).

import type { Knex } from 'knex';
import type { VideoRequest } from '../contract/request';
import type { TaskObject } from '../contract/task';
import type { TaskStatus } from '../contract/vocabulary';
import type { Gather, Gathered } from '../database/gathered';
import { prepare } from '../database/prepared-statement';
import { everyChannel } from '../jobs/queries.rows';
import type { Plan } from '../planning/plan-types.rules';
import { type LiveStage, type LiveTask, liveObject, waitingMessage } from './task.rules';

/** The columns of a task's row that the API needs for its replies. */
export interface StoredTask {
  readonly id: string;
  readonly accountId: string;
  readonly status: TaskStatus;
  /** The public task object as JSON text, sent unchanged by GET. */
  readonly object: string;
  /** What the object of a live task is derived from; null once the task is final. */
  readonly live: Live | null;
  readonly requestHash: string;
  /** The API key whose repeats the task answers (repeated.rows.ts); null for most tasks. */
  readonly repeatedBy: string | null;
  /** Only a statement with `askedColumn` reads it. */
  readonly asked?: Asked;
}

/** What the caller of a task asked for, and its object does not repeat. */
export interface Asked {
  /** Empty if the content of the task was erased. */
  readonly prompt: string | null;
  /** Empty if the task was forgotten long after its end. */
  readonly plan: Partial<Plan>;
}

export interface Live {
  readonly task: LiveTask;
  readonly stage: LiveStage;
}

export interface TaskRow extends StoredTask {
  /** The API key that created the task. */
  readonly keyId: string | null;
  readonly traceId: string;
  readonly createdAt: Date;
  readonly deadlineAt: Date;
}

/** SQL for the fields of a task that never change, as a `LiveTask`. */
export const liveTask = `json_build_object(
  'id', tasks.id, 'traceId', tasks.trace_id, 'model', tasks.model,
  'createdAt', floor(extract(epoch from tasks.created_at))::float8,
  'labels', tasks.request->'metadata'->'labels', 'plan', tasks.plan,
  'toldPending', tasks.told_pending)`;

/** SQL for the stage of a running task, from the rows of its jobs; null until the first of them runs. */
export const runningStage = `
  case when bool_or(job.status = 'succeeded' and job.kind =
              case when tasks.plan->>'enhancement' is null then 'generation'
                   else 'super_resolution' end) then 'storing'
       when bool_or(job.kind = 'super_resolution') then 'super_resolution'
       when bool_or(job.status <> 'queued') then 'generation' end`;

/** SQL for a live task and its stage, from rows that are found by a primary key. */
const liveColumn = `
  case when tasks.finished_at is null then (
    select json_build_object(
             'task', ${liveTask},
             'stage', case when tasks.state = 'pending' then 'accepted'
                           else coalesce(${runningStage}, 'opened') end,
             'waitsForSlot', coalesce(bool_or(job.state = 'waiting'), false))
      from jobs job where job.task_id = tasks.id) end as live`;

/**
 * SQL for the condition that a live task is running. A scalar query looks up the rows of each task by
 * its key; for an `exists` PostgreSQL may read all rows.
 */
export const isRunning = `
  coalesce((select bool_or(job.status <> 'queued' or job.kind = 'super_resolution')
              from jobs job where job.task_id = tasks.id), false)`;

export const storedColumns = `
  tasks.id, tasks.account_id as "accountId", tasks.status, tasks.object::text as object,
  tasks.request_hash as "requestHash", ${liveColumn},
  case when tasks.repeats is not null then tasks.key_id end as "repeatedBy"`;
export const rowColumns = `${storedColumns},
  tasks.key_id as "keyId", trace_id as "traceId", tasks.created_at as "createdAt",
  deadline_at as "deadlineAt"`;

/** SQL for an `Asked`. */
export const askedColumn = `
  json_build_object('prompt', tasks.request->'prompt', 'plan', tasks.plan)`;

/** SQL for a time in milliseconds, with fractions. */
export const epochMs = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

/** Reads only the columns that a poll needs, because polls are the most frequent query. */
export async function findTask(db: Knex, id: string): Promise<StoredTask | null> {
  return (await findTasks(db, [id])).get(id) ?? null;
}

/** Like `findTask`, but concurrent calls share one statement. */
export function gatheredFindTask(db: Knex, gather: Gather): Gathered<StoredTask> {
  return gather((ids) => findTasks(db, ids));
}

/** Like `gatheredFindTask`, but the tasks have what their callers asked for. */
export function gatheredFindAsked(db: Knex, gather: Gather): Gathered<StoredTask> {
  return gather((ids) => findTasks(db, ids, findAskedByIds));
}

async function findTasks(
  db: Knex,
  ids: readonly string[],
  read = findByIds,
): Promise<ReadonlyMap<string, StoredTask>> {
  const rows = await read(db, { ids });
  return new Map(rows.map((row) => [row.id, shownTask(row)]));
}

/** A row as `storedColumns` reads it. A live task has no status and no object. */
export type ReadTask<T extends StoredTask = StoredTask> = Omit<T, 'live'> & {
  readonly live: (Live & { readonly waitsForSlot: boolean }) | null;
};

/** The row with the status and the object that callers see. */
export function shownTask<T extends StoredTask>(row: ReadTask<T>): T {
  if (!row.live) return row as unknown as T;
  const { task, stage, waitsForSlot } = row.live;
  const object = liveObject(task, stage, waitsForSlot ? waitingMessage : undefined);
  return { ...row, status: object.status, object: JSON.stringify(object) } as unknown as T;
}

const findByIds = prepare<ReadTask>(
  'find_tasks',
  `select ${storedColumns} from tasks where id = any(:ids)`,
);

const findAskedByIds = prepare<ReadTask>(
  'find_asked_tasks',
  `select ${storedColumns}, ${askedColumn} as asked from tasks where id = any(:ids)`,
);

export async function findTaskRow(db: Knex, id: string): Promise<TaskRow | null> {
  const { rows } = await db.raw<{ rows: ReadTask<TaskRow>[] }>(
    `select ${rowColumns} from tasks where id = ?`,
    [id],
  );
  return rows[0] ? shownTask(rows[0]) : null;
}

/**
 * The stored end of a task. openTask and closeTask return it if the task is not in the state that
 * they expect. `object` is null while the task lives.
 */
export async function findStored(db: Knex, taskId: string) {
  const { rows } = await db.raw<{
    rows: {
      object: TaskObject | null;
      accountId: string;
      hasCallback: boolean;
    }[];
  }>(
    `select object, account_id as "accountId",
            exists (select from callbacks where task_id = tasks.id) as "hasCallback"
       from tasks where id = ?`,
    [taskId],
  );
  return rows[0];
}

/**
 * Changes the object of a final task while its row is locked. If the task is live or `change`
 * returns null, nothing changes.
 */
export async function changeFinalObject(
  trx: Knex.Transaction,
  taskId: string,
  change: (object: TaskObject) => Promise<TaskObject | null>,
): Promise<void> {
  const { rows } = await trx.raw<{ rows: { object: TaskObject | null }[] }>(
    'select object from tasks where id = ? for update',
    [taskId],
  );
  const object = rows[0]?.object;
  const changed = object && (await change(object));
  if (!changed) return;
  await trx.raw('update tasks set object = ? where id = ?', [JSON.stringify(changed), taskId]);
}

/** The id of the task that owns an upstream job; null if no task owns the job. */
export async function findTaskOfJob(db: Knex, upstreamId: string): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with recursive ${everyChannel}
     select task_id as id from channels join jobs using (channel) where upstream_id = ? limit 1`,
    [upstreamId],
  );
  return rows[0]?.id ?? null;
}

export async function listUnfinishedTasks(db: Knex, accountId: string): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    'select id from tasks where account_id = ? and finished_at is null order by created_at',
    [accountId],
  );
  return rows.map(({ id }) => id);
}

/** The parsed body of the create; without fields once the task is forgotten. */
export async function findRequest(db: Knex, taskId: string): Promise<Partial<VideoRequest>> {
  const { rows } = await db.raw<{ rows: { request: Partial<VideoRequest> }[] }>(
    'select request from tasks where id = ?',
    [taskId],
  );
  return rows[0]?.request ?? {};
}

/**
 * The options of creates, by the id of the task, without what may be long: all that is no option here,
 * and tools of more than 1,000 bytes. So many requests are neither sent nor parsed as a whole.
 */
export async function findOptions(
  db: Knex,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Partial<VideoRequest>>> {
  const { rows } = await db.raw<{ rows: { id: string; options: object; metadata: object }[] }>(
    `select tasks.id,
            json_build_object('resolution', sent.resolution, 'ratio', sent.ratio,
              'duration', sent.duration) as options,
            json_build_object('seed', extra.seed, 'generate_audio', extra.generate_audio,
              'draft', extra.draft, 'execution_expires_after', extra.execution_expires_after,
              'safety_identifier', extra.safety_identifier,
              'tools', case when octet_length(extra.tools::text) <= 1000 then extra.tools end)
              as metadata
       from tasks
       left join json_to_record(tasks.request)
              as sent (resolution json, ratio json, duration json, metadata json) on true
       left join json_to_record(sent.metadata)
              as extra (seed json, generate_audio json, draft json, tools json,
                        execution_expires_after json, safety_identifier json) on true
      where tasks.id = any(?)`,
    [[...ids]],
  );
  return new Map(
    rows.map(({ id, options, metadata }) => [
      id,
      { ...present(options), metadata: present(metadata) } as Partial<VideoRequest>,
    ]),
  );
}

/** The fields that have a value. */
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
