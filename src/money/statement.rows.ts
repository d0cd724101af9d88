// The account statement of a customer: the movements of the account, newest first, in pages. A
// settlement is taken out of the hold, so it does not change the available balance. The settlement
// is still listed with its amount.

import type { Knex } from 'knex';
import type { MovementKind } from '../contract/vocabulary';

export interface StatementRow {
  readonly seq: number;
  readonly kind: MovementKind;
  readonly amountMicros: number;
  /** The change of the available balance; 0 for a settlement. */
  readonly changeMicros: number;
  readonly availableAfterMicros: number;
  readonly currency: string;
  readonly taskId: string | null;
  readonly reason: string;
  readonly credit: string;
  readonly at: Date;
}

export async function statement(
  db: Knex,
  page: { readonly accountId: string; readonly after?: number | null; readonly limit: number },
): Promise<readonly StatementRow[]> {
  const { rows } = await db.raw<{ rows: StatementRow[] }>(
    `select seq, kind, amount as "amountMicros",
            case when credit = 'available' then amount when debit = 'available' then -amount else 0
             end as "changeMicros",
            available_after as "availableAfterMicros", currency, task_id as "taskId", reason, credit,
            created_at as at
       from transfers join balances using (account_id)
      where account_id = ? and seq < ?
      order by seq desc limit ?`,
    [page.accountId, page.after ?? Number.MAX_SAFE_INTEGER, page.limit],
  );
  return rows;
}

/** A correction of a task's bill. The amount is positive if the customer got it. */
interface TaskCorrection {
  readonly reference: string;
  readonly changeMicros: number;
  readonly reason: string;
  readonly at: Date;
}

/** The corrections of a task, the first one first. */
export async function correctionsOf(db: Knex, taskId: string): Promise<readonly TaskCorrection[]> {
  const { rows } = await db.raw<{ rows: TaskCorrection[] }>(
    `select substr(id, length(account_id || ':correction:') + 1) as reference,
            case credit when 'available' then amount else -amount end as "changeMicros",
            reason, created_at as at
       from transfers where task_id = ? and kind = 'correction' order by seq`,
    [taskId],
  );
  return rows;
}
