// The movements of one task. Each has an id that is made from the id of the task, so they are found
// by keys.

import type { Knex } from 'knex';
import type { TaskMovement } from './task-money.rules';
import { holdId } from './transfers.rules';

export async function findMovements(db: Knex, taskId: string): Promise<readonly TaskMovement[]> {
  const closing = ['settle', 'settle_super_resolution', 'refund'];
  const extra = ['extra_charge', 'extra_charge_super_resolution'];
  const ids = [holdId(taskId), ...[...closing, ...extra].map((name) => `${taskId}:${name}`)];
  const { rows } = await db.raw<{ rows: TaskMovement[] }>(
    `select seq as number, kind, amount as "amountMicros", debit, credit, created_at as at
       from transfers where id = any(?)
      union all
     select seq, kind, amount, debit, credit, created_at
       from transfers where task_id = ? and kind = 'correction'
      order by number`,
    [ids, taskId],
  );
  return rows;
}
