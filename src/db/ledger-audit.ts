// Proves the books in one run, on one unmoving view of them: balances are the sums of their
// movements, numbers have no gaps, every final task has exactly its movements, no hold outlives its
// task. PostgreSQL does the sums and answers only what differs, so a million movements need no
// memory here.

import type { Knex } from 'knex';
import { auditChecks } from './ledger-audit-checks';

export interface Audit {
  readonly accounts: number;
  readonly transfers: number;
  readonly differences: readonly Difference[];
}

interface Difference {
  readonly check: string;
  readonly subject: string;
  readonly found: string;
}

type Found = Omit<Difference, 'check'> & { readonly rule: string };

// More than this many of one kind say the same as this many.
const shownMax = 100;

export async function audit(db: Knex): Promise<Audit> {
  return db.transaction(
    async (trx) => {
      await trx.raw(`set local statement_timeout = '10min'`);
      // Sums over everything: worth sorting in memory once, and no loop over an index is cheaper
      // than reading it all.
      await trx.raw(`set local work_mem = '64MB'`);
      const differences: Difference[] = [];
      for (const sql of auditChecks) {
        const { rows } = await trx.raw<{ rows: Found[] }>(`${sql} limit ${shownMax}`);
        differences.push(...rows.map(({ rule, ...found }) => ({ check: rule, ...found })));
      }
      const { rows } = await trx.raw<{ rows: { accounts: number; transfers: number }[] }>(
        `select (select count(*) from balances) as accounts,
                (select count(*) from transfers) as transfers`,
      );
      return { accounts: 0, transfers: 0, ...rows[0], differences };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
