// Pages of callbacks, for operators.

import type { Knex } from 'knex';
import type { CallbackState } from '../contract/vocabulary';
import { slowTransaction } from '../database/silent-connections';
import { type CallbackRow, callbackColumns } from './callbacks.rows';
import { hasReceiver } from './receiver.rows';

const changedMicros = 'cast(extract(epoch from changed_at) * 1000000 as bigint)';

interface CallbackFilter {
  readonly state?: CallbackState;
  readonly accountId?: string;
  /** The last callback of the page before. */
  readonly after?: ChangedCallback;
  readonly limit: number;
}

/** The place of a callback in the list. A Date would cut off the microseconds. */
export interface ChangedCallback {
  readonly changedMicros: number;
  readonly taskId: string;
}

/** Callbacks, the last changed first. One that changes moves to the front, so no page repeats it. */
export async function listCallbacks(
  db: Knex,
  filter: CallbackFilter,
): Promise<readonly (CallbackRow & ChangedCallback)[]> {
  const { state, accountId, after, limit } = filter;
  // The callbacks of all accounts have an index unless they were delivered.
  return slowTransaction(db, async (trx) => {
    const query = trx('callbacks as c')
      .select(trx.raw(`${callbackColumns}, ${changedMicros} as "changedMicros"`))
      .orderBy('changed_at', 'desc')
      .orderBy('task_id', 'desc');
    if (after) {
      query.whereRaw(
        `(changed_at, task_id) < (timestamptz 'epoch' + ? * interval '1 microsecond', ?)`,
        [after.changedMicros, after.taskId],
      );
    }
    if (state) query.where('state', state);
    if (accountId) query.where('account_id', accountId);
    return (await query.limit(limit)) as (CallbackRow & ChangedCallback)[];
  });
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
