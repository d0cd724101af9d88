// Generates books of any size by SQL, within seconds. Each finished task has three movements: hold,
// settle and refund. The movements, the balances and the bills agree.

import type { Knex } from 'knex';
import type { LedgerTask, ledgerTasks } from './ledger-task';

interface Size {
  readonly accounts: number;
  readonly tasksEach: number;
}

const templateId = 'task_template';
const opening = 10 ** 12;

/** Returns the number of movements that were written. */
export async function writeBooks(
  db: Knex,
  makeTask: ReturnType<typeof ledgerTasks>,
  { accounts, tasksEach }: Size,
): Promise<number> {
  const template = makeTask(templateId, '');
  const { heldMicros: held, charge } = template.close;
  const charged = charge.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  await db.transaction(async (trx) => {
    const sized = { accounts, tasksEach, opening, held, charged };
    await trx.raw(insertAccounts, sized);
    await trx.raw(insertTasks, { ...sized, ...rowOf(template) });
    await trx.raw(insertCredits, sized);
    await trx.raw(insertMovements, sized);
  });
  for (const table of ['accounts', 'balances', 'tasks', 'transfers']) {
    await db.raw(`vacuum analyze ${table}`);
  }
  return accounts * (1 + 3 * tasksEach);
}

function rowOf({ create, close }: LedgerTask) {
  const { request, plan } = create;
  return {
    object: JSON.stringify(close.object),
    request: JSON.stringify(request),
    plan: JSON.stringify(plan),
    templateId,
  };
}

const insertAccounts = `
  with new as (
    insert into accounts (id, name)
    select 'acct_' || n, 'bench' from generate_series(1, cast(:accounts as int)) n
    returning id
  )
  insert into balances (account_id, available, last_seq)
  select id, :opening - cast(:charged as bigint) * :tasksEach, 1 + 3 * cast(:tasksEach as bigint)
    from new`;

const insertTasks = `
  insert into tasks (id, account_id, model, object, request, plan, request_hash,
                     trace_id, hold_micros, created_at, deadline_at, finished_at)
  select id, account_id, 'studio-2.0', replace(:object, :templateId, id)::json,
         cast(:request as json), cast(:plan as json), 'bench', 'bench', 0, now(), now(), now()
    from (select 'acct_' || a as account_id, 'task_' || a || '_' || n as id
            from generate_series(1, cast(:accounts as int)) a,
                 generate_series(1, cast(:tasksEach as int)) n) new`;

const insertCredits = `
  insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                         held_after)
  select 'acct_' || a || ':credit:opening', 'acct_' || a, 1, 'credit', 'credits', 'available',
         :opening, :opening, 0
    from generate_series(1, cast(:accounts as int)) a`;

// The movements of the accounts are mixed in the table, as in real use.
const insertMovements = `
  insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                         held_after, task_id)
  select 'task_' || a || '_' || n || ':' || kind, 'acct_' || a, 1 + 3 * (n - 1) + place, kind,
         debit, credit, amount,
         :opening - cast(:charged as bigint) * (n - 1) + available_change, held_after,
         'task_' || a || '_' || n
    from generate_series(1, cast(:tasksEach as int)) n,
         generate_series(1, cast(:accounts as int)) a,
         (values (1, 'hold', 'available', 'held', cast(:held as bigint), -cast(:held as bigint),
                  cast(:held as bigint)),
                 (2, 'settle', 'held', 'revenue_generation', cast(:charged as bigint),
                  -cast(:held as bigint), cast(:held as bigint) - :charged),
                 (3, 'refund', 'held', 'available', cast(:held as bigint) - :charged,
                  -cast(:charged as bigint), 0))
         step (place, kind, debit, credit, amount, available_change, held_after)`;
