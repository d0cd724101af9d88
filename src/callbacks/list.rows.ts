// Pages of callbacks, the last changed first.

import type { Knex } from 'knex';
import { type CallbackState, callbackStates } from '../contract/vocabulary';
import { isTaskId } from '../database/ids';
import { type Attempt, attemptColumns, type CallbackRow, callbackColumns } from './callbacks.rows';
import { hasReceiver } from './receiver.rows';

interface CallbackFilter {
  /** Those in these states only. The delivered ones of all accounts have no index. */
  readonly states?: readonly CallbackState[];
  readonly accountId?: string;
  /** The last callback of the page before. */
  readonly after?: ChangedCallback | null;
  readonly limit: number;
}

/** The place of a callback in the list. A Date would cut off the microseconds. */
export interface ChangedCallback {
  readonly changedMicros: number;
  readonly taskId: string;
}

export const cursorOf = ({ changedMicros, taskId }: ChangedCallback) =>
  `${changedMicros}.${taskId}`;

/** Null for a text that is not the cursor of a callback. */
export function readCursor(text: string): ChangedCallback | null {
  const [, micros, taskId = ''] = /^(\d{1,16})\.(.+)$/.exec(text) ?? [];
  return isTaskId(taskId) ? { changedMicros: Number(micros), taskId } : null;
}

/**
 * Callbacks, the last changed first. One that changes moves to the front, so no page repeats it. An
 * index has the callbacks of one state in this order, so each state is read by itself.
 */
export async function listCallbacks(
  db: Knex,
  { states = callbackStates, accountId, after, limit }: CallbackFilter,
): Promise<readonly (CallbackRow & ChangedCallback)[]> {
  const place = `(timestamptz 'epoch' + :changedMicros * interval '1 microsecond', :taskId)`;
  const ofState = (state: CallbackState) => `(
    select ${callbackColumns},
           cast(extract(epoch from changed_at) * 1000000 as bigint) as "changedMicros"
      from callbacks c
     where state = '${state}' ${accountId === undefined ? '' : 'and account_id = :accountId'}
           ${after ? `and (changed_at, task_id) < ${place}` : ''}
     order by changed_at desc, task_id desc
     limit :limit)`;
  const { rows } = await db.raw<{ rows: (CallbackRow & ChangedCallback)[] }>(
    `select * from (${states.map(ofState).join(' union all ')}) as found
     order by "changedMicros" desc, "taskId" desc
     limit :limit`,
    { limit, accountId: accountId ?? '', ...(after ?? {}) },
  );
  return rows;
}

/** The last attempt of each of these callbacks that had one. */
export async function lastAttempts(
  db: Knex,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, Attempt>> {
  const { rows } = await db.raw<{ rows: (Attempt & { readonly taskId: string })[] }>(
    `select asked.id as "taskId", last.*
       from unnest(cast(? as text[])) as asked (id)
       join lateral (select ${attemptColumns} from callback_attempts
                      where task_id = asked.id order by id desc limit 1) last on true`,
    [[...taskIds]],
  );
  return new Map(rows.map(({ taskId, ...attempt }) => [taskId, attempt]));
}

interface GivenUp {
  readonly accountId: string;
  readonly since: Date;
}

/** The tasks of an account whose callbacks were given up since then and can be sent, the earliest first. */
export async function listExhausted(
  db: Knex,
  { limit, ...which }: GivenUp & { readonly limit: number },
): Promise<readonly string[]> {
  const found = givenUp(db, which).whereRaw(hasReceiver).limit(limit);
  return found.orderBy('changed_at').orderBy('c.task_id').pluck('c.task_id');
}

/** How many of them cannot be sent, because no webhook takes them. */
export async function countWithoutReceiver(db: Knex, which: GivenUp): Promise<number> {
  const found = givenUp(db, which).whereNot('c.url', '').whereRaw(`not (${hasReceiver})`);
  return Number((await found.count({ count: '*' }).first())?.count);
}

function givenUp(db: Knex, { accountId, since }: GivenUp): Knex.QueryBuilder {
  const found = db('callbacks as c').join('tasks', 'tasks.id', 'c.task_id');
  return found
    .where({ 'c.account_id': accountId, 'c.state': 'exhausted' })
    .where('changed_at', '>=', since);
}
