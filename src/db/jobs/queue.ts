// The queue position of a task that waits for its start or for a slot. Only the tasks of the same
// account are counted.

import type { Knex } from 'knex';
import { gathered } from '../gathered';
import { type PreparedStatement, prepare } from '../prepared-statement';

/** The queue position as a reply shows it. It reveals nothing about other accounts. */
export interface QueuePosition {
  /** 1 for the first task. */
  readonly position: number;
  /** The number of tasks of the same account in front of this task. */
  readonly ahead: number;
}

// The tasks that wait for a slot, in the order in which they get turns (slots.ts).
const waitingPositions = `
  select task_id as id, position::int from (
    select task_id, row_number() over (partition by account_id
             order by coalesce(turn_at, waiting_since), task_id) as position
      from jobs
     where state = 'waiting' and kind = 'generation'
       and account_id in (select account_id from jobs
                           where task_id = any(:ids) and state = 'waiting')) queue
   where task_id = any(:ids)`;

// The pending tasks, in the order in which they are started. Those tasks of the same account that
// already wait for a slot come before all pending tasks.
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
