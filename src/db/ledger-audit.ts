// The full audit: checks all accounts and all movements on one snapshot, by the rules in
// ledger-audit-checks.ts. PostgreSQL computes the sums and returns only differences, so the process
// needs little memory. Operators start the full audit; the scheduled audit is in
// ledger-audit-new.ts.

import type { Knex } from 'knex';
import { checksOf, type Scope } from './ledger-audit-checks';
import { withSlowStatements } from './silent-connections';

export interface Audit {
  readonly accounts: number;
  readonly transfers: number;
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly check: string;
  readonly subject: string;
  readonly found: string;
}

type Found = Omit<Difference, 'check'> & { readonly rule: string };

// Each check returns at most this many differences. More of them would not help an operator.
const shownMax = 100;

// The scope of the full audit: all rows. The sums begin at zero, because no checkpoints are used.
const everything: Scope = {
  start: `select '' as account_id, 0::bigint as seq, 0::bigint as available, 0::bigint as held
           where false`,
  books: 'select * from balances',
  movement: 'select * from transfers',
  task_movement: 'select * from transfers where task_id is not null',
  task: 'select * from tasks',
  open_task: 'select * from tasks where finished_at is null and start_at is null',
};

export async function audit(db: Knex): Promise<Audit> {
  return db.transaction((trx) => withSlowStatements(trx, 10 * 60_000, () => checkAll(trx)), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
}

async function checkAll(trx: Knex.Transaction): Promise<Audit> {
  // With this memory PostgreSQL can sort all rows. Every row is read in any case, so a sort in
  // memory is cheaper than many look-ups in an index.
  await trx.raw(`set local work_mem = '64MB'`);
  const differences = await runChecks(trx, everything);
  const { rows } = await trx.raw<{ rows: { accounts: number; transfers: number }[] }>(
    `select (select count(*) from balances) as accounts,
                (select count(*) from transfers) as transfers`,
  );
  return { accounts: 0, transfers: 0, ...rows[0], differences };
}

export async function runChecks(
  trx: Knex.Transaction,
  scope: Scope,
  bindings: readonly string[] = [],
): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const sql of checksOf(scope)) {
    const { rows } = await trx.raw<{ rows: Found[] }>(`${sql} limit ${shownMax}`, [...bindings]);
    differences.push(...rows.map(({ rule, ...found }) => ({ check: rule, ...found })));
  }
  return differences;
}
