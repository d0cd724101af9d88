// The scheduled audit: checks each account from its checkpoint on, in batches of accounts. Its cost
// depends on new movements only. Its transactions are short, so that they do not delay a vacuum. A
// batch with a difference gets no checkpoints. So if the audit dies, the next audit finds the
// difference again.

import type { Knex } from 'knex';
import { type Difference, runChecks } from './ledger-audit';
import type { Scope } from './ledger-audit-checks';
import { withSlowStatements } from './silent-connections';

interface Checkpoint {
  readonly account_id: string;
  readonly seq: number;
  readonly available: number;
  readonly held: number;
}

/** The current balances of one account, and the checkpoint of its last audit. */
interface Books extends Checkpoint {
  readonly audited: Checkpoint | null;
}

interface Batch {
  readonly books: readonly Books[];
  readonly differences: readonly Difference[];
}

const accountsInBatch = 500;

// The hold of a task may be older than the checkpoint. So the holds of all tasks with new movements
// are read too.
const sinceCheckpoint: Scope = {
  start: `select * from json_to_recordset(?)
                     as audited (account_id text, seq bigint, available bigint, held bigint)`,
  books: 'select balances.* from start join balances using (account_id)',
  movement: `select transfers.* from start join transfers
                 on transfers.account_id = start.account_id and transfers.seq > start.seq`,
  task_movement: `select * from movement where task_id is not null
                  union select hold.* from movement
                          join transfers hold on hold.id = movement.task_id || ':hold'`,
  task: 'select * from tasks where id in (select task_id from movement)',
  open_task: `select tasks.* from start join tasks using (account_id)
               where tasks.finished_at is null and tasks.start_at is null`,
};

/** Returns the differences in the movements after the checkpoint of each account. */
export async function auditNewMovements(db: Knex): Promise<readonly Difference[]> {
  const differences = [...(await listRemovedBooks(db))];
  let after = '';
  for (;;) {
    const batch = await checkBatch(db, after);
    const last = batch.books.at(-1);
    if (!last) break;
    after = last.account_id;
    differences.push(...batch.differences);
    if (batch.differences.length === 0) await storeCheckpoints(db, batch.books);
    else await dropCheckpoints(db, batch.books);
  }
  await db.raw('update reconcile_state set audited_at = now()');
  return differences;
}

async function listRemovedBooks(db: Knex): Promise<readonly Difference[]> {
  const { rows } = await db.raw<{ rows: Difference[] }>(
    `select 'every movement belongs to an account with books' as check, account_id as subject,
            format('%s movements', seq) as found
       from audited_books
      where not exists (select 1 from balances
                         where balances.account_id = audited_books.account_id)
      limit 100`,
  );
  return rows;
}

function checkBatch(db: Knex, after: string): Promise<Batch> {
  const check = async (trx: Knex.Transaction): Promise<Batch> => {
    const { rows: books } = await trx.raw<{ rows: Books[] }>(
      `select balances.account_id, last_seq as seq, balances.available, balances.held,
              case when audited_books.account_id is not null
                   then to_json(audited_books) end as audited
         from balances left join audited_books using (account_id)
        where balances.account_id > ? order by balances.account_id limit ?`,
      [after, accountsInBatch],
    );
    const start = books.map(
      ({ account_id, audited }) => audited ?? { account_id, seq: 0, available: 0, held: 0 },
    );
    return { books, differences: await runChecks(trx, sinceCheckpoint, [JSON.stringify(start)]) };
  };
  return db.transaction((trx) => withSlowStatements(trx, 10 * 60_000, () => check(trx)), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
}

/**
 * Stores the balances as checkpoints. The audit has just checked, in the same snapshot, that these
 * balances equal the sums of the movements.
 */
async function storeCheckpoints(db: Knex, books: readonly Books[]): Promise<void> {
  const moved = books.filter(({ seq, audited }) => seq > (audited?.seq ?? -1));
  if (moved.length === 0) return;
  await db.raw(
    `insert into audited_books (account_id, seq, available, held)
     select account_id, seq, available, held
       from json_to_recordset(?)
            as books (account_id text, seq bigint, available bigint, held bigint)
     on conflict (account_id) do update
        set seq = excluded.seq, available = excluded.available, held = excluded.held
      where audited_books.seq < excluded.seq`,
    [JSON.stringify(moved)],
  );
}

/**
 * Deletes the checkpoints of a batch with a difference. The next audits check these accounts from
 * their first movement on, until there is no difference any more. So differences in old movements
 * are found too, and repaired accounts are accepted again.
 */
async function dropCheckpoints(db: Knex, books: readonly Books[]): Promise<void> {
  await db.raw('delete from audited_books where account_id = any(?)', [
    books.map(({ account_id }) => account_id),
  ]);
}
