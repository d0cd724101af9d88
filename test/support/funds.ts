// The balance of an account, as the books have it.

import type { Knex } from 'knex';
import { askPrepared } from '../../src/db/prepared-statements';

interface Funds {
  readonly availableMicros: number;
  readonly heldMicros: number;
  readonly openTasks: number;
}

/** All amounts are zero for an account without books. */
export async function findFunds(db: Knex, accountId: string): Promise<Funds> {
  const text = `
    select available as "availableMicros", held as "heldMicros", open_tasks as "openTasks"
      from balances where account_id = $1`;
  const [row] = await askPrepared<Funds>(db, 'find_funds', text, [accountId]);
  return row ?? { availableMicros: 0, heldMicros: 0, openTasks: 0 };
}
