// SQL that keeps the sums of an account's pending tasks in its row of `balances`. The sums move no
// money. The statements that store and end a pending task contain these parts; the statement that
// opens it changes the sums together with the balance (ledger.rows.ts).

import type { Knex } from 'knex';

/**
 * SQL that counts a new task. A statement that has waited for another create checks the newest row. So
 * two creates never both pass on the last money or the last place in the queue. The lock is held until
 * the commit, so the creates of an account are stored one after the other.
 */
export const countPending = `
  update balances
     set pending = pending + cast(:hold as bigint), pending_tasks = pending_tasks + 1
    from allowed
   where balances.account_id = :accountId and balances.currency = :currency
     and balances.available - balances.pending >= cast(:hold as bigint)
     and balances.open_tasks + balances.pending_tasks < allowed."queuedMax"
  returning 1`;

/** SQL that removes the task `ended` from the sums of its account. */
export const uncountPending = `
  update balances
     set pending = pending - hold_micros, pending_tasks = pending_tasks - 1
    from ended
   where balances.account_id = ended.account_id`;

/** Locks the row of the sums. Until the transaction ends, no other create of the account is stored. */
export async function lockPending(trx: Knex.Transaction, accountId: string): Promise<void> {
  await trx.raw('select 1 from balances where account_id = ? for no key update', [accountId]);
}
