// The audit: checks the books by the rules in audit-checks.rows.ts, in batches of accounts. Its
// transactions are short, so that they do not delay a vacuum. PostgreSQL computes the sums and
// returns only differences, so the process needs little memory. The scheduled audit reads only what
// moved since the last audit without a difference. Operators start the full audit.

import type { Knex } from 'knex';
import { slowTransaction } from '../database/silent-connections';
import { checksOf } from './audit-checks.rows';

export interface Audit {
  readonly accounts: number;
  /** The number of movements that were read. */
  readonly transfers: number;
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly check: string;
  readonly subject: string;
  readonly found: string;
}

type Found = Omit<Difference, 'check'> & { readonly rule: string };

// A batch ends at the account with which it has this many movements, so that PostgreSQL needs a
// bounded part of the disk to sort them.
const accountsInBatch = 500;
const movementsInBatch = 1_000_000;
// Each check of a batch returns at most this many differences, and an audit stops at the second
// number. More of them would not help an operator.
const shownMax = 100;
const differencesMax = 1_000;
// Every movement that is older than this is visible to an audit. A transaction that moves money
// takes seconds at most.
const margin = `interval '10 minutes'`;

/** Checks all movements of all accounts. */
export function audit(db: Knex): Promise<Audit> {
  return auditSince(db, null, () => undefined);
}

/**
 * Checks the movements since the last audit without a difference. So every following audit reports a
 * difference again until it is repaired, and an audit that dies hides nothing. `goOn` is called before
 * each batch, and ends the audit by an error.
 */
export async function auditNewMovements(
  db: Knex,
  goOn: () => void = () => undefined,
): Promise<readonly Difference[]> {
  const { rows } = await db.raw<{ rows: { since: Date | null; until: Date }[] }>(
    `select (select agreed_until from loops where kind = 'audit') as since,
            now() - ${margin} as until`,
  );
  const [{ since, until } = { since: null, until: null }] = rows;
  const { differences } = await auditSince(db, since, goOn);
  await db.raw(
    `insert into loops (kind, ran_at, agreed_until) values ('audit', now(), ?)
     on conflict (kind, channel) do update
        set ran_at = now(), agreed_until = coalesce(excluded.agreed_until, loops.agreed_until)`,
    [differences.length === 0 ? until : null],
  );
  return differences;
}

async function auditSince(db: Knex, since: Date | null, goOn: () => void): Promise<Audit> {
  const total = { accounts: 0, transfers: 0, differences: [] as Difference[] };
  for (let after = ''; total.differences.length < differencesMax; ) {
    goOn();
    const accounts = await nextAccounts(db, after);
    const last = accounts.at(-1);
    if (last === undefined) break;
    after = last;
    let batch = await checkBatch(db, accounts, since);
    // Old movements explain a difference, so they are read too.
    if (batch.differences.length > 0 && since) batch = await checkBatch(db, accounts, null);
    total.accounts += accounts.length;
    total.transfers += batch.transfers;
    total.differences.push(...batch.differences);
  }
  return total;
}

/** The next accounts, also those that have movements but no row of their own any more. */
async function nextAccounts(db: Knex, after: string): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with recursive moved (account_id, position) as (
       select :after, 0
       union all
       select next.account_id, position + 1
         from moved cross join lateral (select account_id from transfers
                where account_id > moved.account_id order by account_id limit 1) next
        where position < :limit
     ), next (id) as (
       select account_id from moved where position > 0
        union (select id from accounts where id > :after order by id limit :limit)
        order by 1 limit :limit
     )
     select id from (select id, sum(last_seq) over (order by id rows between unbounded preceding
                                                     and 1 preceding) as before
                       from next left join balances on account_id = id) counted
      where coalesce(before, 0) < :most order by id`,
    { after, limit: accountsInBatch, most: movementsInBatch },
  );
  return rows.map(({ id }) => id);
}

function checkBatch(
  db: Knex,
  accounts: readonly string[],
  since: Date | null,
): Promise<Pick<Audit, 'transfers' | 'differences'>> {
  const check = async (trx: Knex.Transaction) => {
    // With this memory PostgreSQL can sort the movements of a batch.
    await trx.raw(`set local work_mem = '64MB'`);
    const { counting, checks } = checksOf(since === null);
    const bindings = { accounts, since };
    const counted = await trx.raw<{ rows: { transfers: number }[] }>(counting, bindings);
    const differences: Difference[] = [];
    for (const sql of checks) {
      const { rows } = await trx.raw<{ rows: Found[] }>(`${sql} limit ${shownMax}`, bindings);
      differences.push(...rows.map(({ rule, ...found }) => ({ check: rule, ...found })));
    }
    return { transfers: counted.rows[0]?.transfers ?? 0, differences };
  };
  return slowTransaction(db, check, { isolationLevel: 'repeatable read', readOnly: true });
}
