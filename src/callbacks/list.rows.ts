// Pages of callbacks, for operators.

import type { Knex } from 'knex';
import { slowTransaction } from '../database/silent-connections';
import { type CallbackRow, type CallbackState, callbackColumns } from './callbacks.rows';

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
  // Without an account, the query may read all callbacks.
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

/** The tasks of an account whose callbacks were given up since then, the earliest first. */
export async function listExhausted(
  db: Knex,
  { accountId, since, limit }: { accountId: string; since: Date; limit: number },
): Promise<readonly string[]> {
  const found = db('callbacks').where({ account_id: accountId, state: 'exhausted' });
  found.where('changed_at', '>=', since).whereNot('url', '');
  return found.orderBy('changed_at').orderBy('task_id').limit(limit).pluck('task_id');
}
