// The balance of an account, as the books have it.

import type { Knex } from 'knex';
import { prepare } from '../../src/db/prepared-statement';

interface Funds {
  readonly availableMicros: number;
  readonly heldMicros: number;
  readonly openTasks: number;
}

/** All amounts are zero for an account without books. */
export async function findFunds(db: Knex, accountId: string): Promise<Funds> {
  const [row] = await selectFunds(db, { accountId });
  return row ?? { availableMicros: 0, heldMicros: 0, openTasks: 0 };
}

const selectFunds = prepare<Funds>(
  'find_funds',
  `select available as "availableMicros", held as "heldMicros", open_tasks as "openTasks"
     from balances where account_id = :accountId`,
);
