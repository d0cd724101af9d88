// Reads the balance of an account from the ledger.

import type { Knex } from 'knex';
import { prepare } from '../../src/database/prepared-statement';

interface Funds {
  readonly availableMicros: number;
  readonly heldMicros: number;
  readonly openTasks: number;
}

/** All values are zero for an account without a balance row. */
export async function findFunds(db: Knex, accountId: string): Promise<Funds> {
  const [row] = await selectFunds(db, { accountId });
  return row ?? { availableMicros: 0, heldMicros: 0, openTasks: 0 };
}

const selectFunds = prepare<Funds>(
  'find_funds',
  `select available as "availableMicros", held as "heldMicros", open_tasks as "openTasks"
     from balances where account_id = :accountId`,
);
