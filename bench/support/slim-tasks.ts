// Writes any number of ended tasks by SQL, ten million within minutes, with the movements that their
// bills require. Most tasks are forgotten (slim rows). The newest are kept: they have their request,
// plan, labels, job and delivered callback. The tasks are three years old at most and written in the
// order of their times, with the accounts mixed. One account has a tenth of all tasks. The books agree.

import type { Knex } from 'knex';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { billing } from '../../src/planning/pricing.rules';
import { erasedObject, failedObject } from '../../src/tasks/task.rules';
import { ledgerTasks } from './ledger-task';
import { connectWithoutLimits } from './own-database';

export interface SlimSize {
  readonly accounts: number;
  readonly tasks: number;
  /** How many of the tasks are kept. */
  readonly kept: number;
}

/** The account with a tenth of the tasks. */
export const largestAccount = 'acct_00000000000000000001';
export const commonModel = 'studio-2.0';
/** Each hundred-thousandth task is of this model. All of these are of the largest account and failed. */
export const rareModel = 'bench-rare';

const opening = 10 ** 14;
const templateId = 'task_template';
const rowsInStatement = 500_000;

/** Calls `onRows` with the number of tasks whose movements are written. */
export async function writeSlimTasks(
  url: string,
  catalogue: Catalogue,
  size: SlimSize,
  onRows: (tasks: number) => void = () => undefined,
): Promise<void> {
  const values = { ...size, ...valuesOf(catalogue), opening };
  await connected(url, async (db) => {
    await db.raw(insertAccounts, values);
    await db.raw(insertCredits, values);
  });
  await Promise.all([
    connected(url, (db) => fill(db, 'tasks', insertTasks, values)),
    connected(url, (db) => fill(db, 'transfers', insertMovements, values, onRows)),
  ]);
  await connected(url, async (db) => {
    for (const insert of [insertLabels, insertJobs, insertCallbacks]) await db.raw(insert, values);
    await db.raw(insertBalances, values);
    await db.raw('vacuum analyze');
    await db.raw('checkpoint');
  });
}

/** Each part has a connection of its own, because a pool closes one that is idle for half a minute. */
async function connected(url: string, work: (db: Knex) => Promise<void>): Promise<void> {
  const db = await connectWithoutLimits(url);
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

/** Writes the rows of one table. Without its indexes and its checks of foreign keys, this is faster. */
async function fill(
  db: Knex,
  table: string,
  insert: string,
  values: SlimSize,
  onRows: (tasks: number) => void = () => undefined,
): Promise<void> {
  const indexes = await dropIndexes(db, table);
  await db.raw('set session_replication_role = replica');
  for (let from = 1; from <= values.tasks; from += rowsInStatement) {
    const to = Math.min(values.tasks, from + rowsInStatement - 1);
    await db.raw(insert, { ...values, from, to });
    onRows(to);
  }
  await db.raw('set session_replication_role = origin');
  for (const index of indexes) await db.raw(index);
}

/** Drops the indexes that no constraint needs, and returns the statements that create them again. */
async function dropIndexes(db: Knex, table: string): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { name: string; definition: string }[] }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index
      where indrelid = cast(? as regclass)
        and not exists (select from pg_constraint where conindid = indexrelid)`,
    [table],
  );
  for (const { name } of rows) await db.raw(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

function valuesOf(catalogue: Catalogue) {
  const { create, close } = ledgerTasks(catalogue)(templateId, '');
  const { plan, request } = create;
  const { id, trace_id: traceId, model, created_at: createdAt } = close.object;
  const identity = { id, traceId, model, createdAt };
  const bill = billing(plan, { lines: [], final: true });
  const failed = failedObject(identity, 'The generator failed.', createdAt + 60, bill);
  return {
    held: close.heldMicros,
    charged: close.charge.reduce((sum, { amountMicros }) => sum + amountMicros, 0),
    request: JSON.stringify(request),
    plan: JSON.stringify(plan),
    succeeded: JSON.stringify(close.object),
    failed: JSON.stringify(failed),
    slimSucceeded: JSON.stringify(erasedObject(close.object)),
    slimFailed: JSON.stringify(erasedObject(failed)),
    templateId,
    commonModel,
    rareModel,
    traceId: '0'.repeat(32),
  };
}

const accountOf = (number: string) => `'acct_' || lpad((${number})::text, 20, '0')`;
const idOf = (number: string) => `'task_' || lpad((${number})::text, 26, '0')`;
/** The id of the nth task. Each tenth task is of the largest account. */
export const slimTaskId = (nth: number) => `task_${String(nth).padStart(26, '0')}`;
const keyOf = (number: string) => `'key_' || lpad((${number})::text, 16, '0')`;

// Each fourth task of an account failed. It has two movements, the others have three.
const numbered = (from: string, to: string) => `
  select k, ${idOf('k')} as id, ${accountOf('a')} as account_id, ${keyOf('a')} as key_id, n,
         n % 4 = 0 as failed, k > cast(:tasks as int) - cast(:kept as int) as kept,
         case when k % 100000 = 0 then :rareModel else :commonModel end as model,
         now() - interval '3 years'
           + k * (interval '3 years' - interval '1 hour') / cast(:tasks as int) as created_at
    from (select k, case when k % 10 = 0 then 1 else 2 + (k - k / 10 - 1) % (cast(:accounts as int) - 1) end as a,
                 case when k % 10 = 0 then k / 10
                      else 1 + (k - k / 10 - 1) / (cast(:accounts as int) - 1) end as n
            from generate_series(${from}, ${to}) k) placed`;
const aStatement = numbered('cast(:from as int)', 'cast(:to as int)');
const theKept = numbered('cast(:tasks as int) - cast(:kept as int) + 1', 'cast(:tasks as int)');

const insertAccounts = `
  insert into accounts (id, name)
  select ${accountOf('a')}, 'bench' from generate_series(1, cast(:accounts as int)) a`;

const insertCredits = `
  insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                         held_after, created_at)
  select account_id || ':credit:opening', account_id, 1, 'credit', 'credits', 'available',
         :opening, :opening, 0, now() - interval '3 years'
    from (select ${accountOf('a')} as account_id
            from generate_series(1, cast(:accounts as int)) a) new`;

const insertTasks = `
  insert into tasks (id, account_id, key_id, model, object, request, plan, request_hash, trace_id,
                     hold_micros, created_at, deadline_at, finished_at)
  select id, account_id, key_id, model,
         replace(case when kept and failed then :failed when kept then :succeeded
                      when failed then :slimFailed else :slimSucceeded end, :templateId, id)::json,
         case when kept then :request else '{}' end::json,
         case when kept then :plan else '{}' end::json,
         case when kept then repeat('0', 64) else '' end, :traceId, cast(:held as bigint),
         created_at, created_at + interval '2 days', created_at + interval '1 minute'
    from (${aStatement}) task`;

// The seq of an account's last movement before its nth task, and how many tasks were charged.
const seqBefore = '1 + 3 * (n - 1) - (n - 1) / 4';
const chargedBefore = '(n - 1 - (n - 1) / 4)';

const insertMovements = `
  insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                         held_after, task_id, key_id, task_created_at, created_at)
  select id || ':' || kind, account_id, ${seqBefore} + place, kind, debit, credit, amount,
         :opening - cast(:charged as bigint) * ${chargedBefore} + change, held_after, id, key_id,
         created_at, created_at + (place - 1) * interval '30 seconds'
    from (${aStatement}) task
    join (values
           (false, 1, 'hold', 'available', 'held', cast(:held as bigint), -cast(:held as bigint),
            cast(:held as bigint)),
           (false, 2, 'settle', 'held', 'revenue_generation', :charged, -cast(:held as bigint),
            cast(:held as bigint) - :charged),
           (false, 3, 'refund', 'held', 'available', cast(:held as bigint) - :charged,
            -cast(:charged as bigint), 0),
           (true, 1, 'hold', 'available', 'held', :held, -cast(:held as bigint), :held),
           (true, 2, 'refund', 'held', 'available', :held, 0, 0))
         step (failed, place, kind, debit, credit, amount, change, held_after) using (failed)
   order by k, place`;

const insertBalances = `
  insert into balances (account_id, available, last_seq)
  select id, available_after, seq
    from accounts cross join lateral (select seq, available_after from transfers
           where account_id = accounts.id order by seq desc limit 1) last`;

const insertLabels = `
  insert into task_labels (task_id, account_id, name, value, created_at)
  select id, account_id, name, value, created_at
    from (${theKept}) task
   cross join lateral (values ('team', 'team-' || k / 10 % 10), ('order', k::text)) label (name, value)`;

const insertJobs = `
  insert into jobs (task_id, kind, account_id, channel, upstream_model, state, upstream_id, status,
                    report, sent_at, opened_at, cost_micros)
  select id, 'generation', account_id, 'studio', model, 'closed', 'upstream-' || k,
         case when failed then 'failed' else 'succeeded' end,
         json_build_object('status', case when failed then 'failed' else 'succeeded' end),
         created_at, created_at, case when failed then null else 200000 end
    from (${theKept}) task`;

const insertCallbacks = `
  insert into callbacks (task_id, account_id, url, state, changed_at)
  select id, account_id, 'https://hooks.example.com/videos', 'delivered',
         created_at + interval '1 minute'
    from (${theKept}) task`;
