// Queue positions of tasks that wait for their start or for a slot, among the tasks of their account.

import type { Knex } from 'knex';
import { gathered } from '../gathered';
import { type PreparedStatement, prepare } from '../prepared-statement';

/** The queue position in a task's reply. It reveals nothing about other accounts. */
export interface QueuePosition {
  /** The first has 1. */
  readonly position: number;
  /** Number of tasks of the same account in front. */
  readonly ahead: number;
}

// The order is the one in which turns are given (slots.ts).
const waitingPositions = `
  select task_id as id, position::int from (
    select task_id, row_number() over (partition by account_id
             order by coalesce(turn_at, waiting_since), task_id) as position
      from jobs
     where state = 'waiting' and kind = 'generation'
       and account_id in (select account_id from jobs
                           where task_id = any(:ids) and state = 'waiting')) queue
   where task_id = any(:ids)`;

// The order is the one in which pending tasks are started. Those that wait for a slot are in front.
const pendingPositions = `
  select id, (nth + waiting.count)::int as position from (
    select id, account_id, row_number() over (partition by account_id order by created_at) as nth
      from tasks
     where start_at is not null
       and account_id in (select account_id from tasks
                           where id = any(:ids) and start_at is not null)) queue
   cross join lateral (
     select count(*) from jobs
      where state = 'waiting' and kind = 'generation' and account_id = queue.account_id) waiting
   where id = any(:ids)`;

type FindPosition = (taskId: string) => Promise<QueuePosition | null>;

/** The position of a submitted task; null if it does not wait for a slot. */
export const gatheredFindPosition = (db: Knex): FindPosition => positions(db, findWaiting);

/** The position of a pending task; null if it is not pending any more. */
export const gatheredFindPendingPosition = (db: Knex): FindPosition => positions(db, findPending);

type Find = PreparedStatement<{ readonly id: string; readonly position: number }>;

const findWaiting: Find = prepare('find_positions', waitingPositions);
const findPending: Find = prepare('find_pending_positions', pendingPositions);

function positions(db: Knex, find: Find): FindPosition {
  return gathered(async (ids) => {
    const rows = await find(db, { ids });
    return new Map(rows.map(({ id, position }) => [id, { position, ahead: position - 1 }]));
  });
}
