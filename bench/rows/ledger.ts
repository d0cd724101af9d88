// Measures the transactions of a task with sixteen clients at once. The reference does what a plain
// program would do: each of its transactions for hold and settle writes a balance and a movement, in
// four statements without names, and its accept stores the request. The clients first use many
// accounts. Then all use one account, so that they wait for the lock on its row. The accounts have
// ended tasks, because without any task PostgreSQL would have no statistics for its plans. The bench
// fails if the books do not agree.

import { join } from 'node:path';
import type { Knex } from 'knex';
import { Pool } from 'pg';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { projectFolder } from '../../src/commands/package-info';
import { connect } from '../../src/database/database';
import { audit } from '../../src/money/audit.rows';
import { closeTask, openTask } from '../../src/money/ledger.rows';
import { acceptTask } from '../../src/tasks/accept.rows';
import { atLeast, type Finding, type Row } from '../row';
import { type LedgerTask, ledgerTasks } from '../support/ledger-task';
import { writeBooks } from '../support/many-movements';
import { inOwnDatabase } from '../support/own-database';
import { alternate, compare } from '../support/rounds';
import type { World } from '../world';

const clients = 16;
const accounts = 200;
const accepting = { queuedTasksMax: 1_000_000 };

export const ledgerRow: Row = {
  name: 'ledger',
  async measure({ stack, settings }: World): Promise<readonly Finding[]> {
    const catalogue = await readCatalogue(join(projectFolder(), 'catalogue.yaml'), {});
    const makeTask = ledgerTasks(catalogue);
    return inOwnDatabase(stack.addresses.databaseUrl, 'bench_ledger', async (one, url) => {
      await writeBooks(one, makeTask, { accounts, tasksEach: 50 });
      await one.raw(bareSchema);
      const db = connect({ url, poolMax: clients, applicationName: 'bench' });
      const pool = new Pool({ connectionString: url, max: clients });
      try {
        const cycles = settings.quick ? 160 : 1_600;
        let last = 0;
        const take = (account: string) => {
          last += 1;
          return makeTask(`task_bench_${last}`, account);
        };
        const spread = () => `acct_${1 + (last % accounts)}`;
        const accept = ({ create }: LedgerTask) => acceptTask(db, create, accepting);
        const settle = (task: LedgerTask) => holdAndSettle(db, task);
        const bare = (task: LedgerTask) => bareMoves(pool, task);
        const accepted = async (account: () => string): Promise<LedgerTask[]> => {
          const tasks = Array.from({ length: cycles }, () => take(account()));
          await rate(tasks, accept);
          return tasks;
        };
        const taken = (account: () => string) =>
          Array.from({ length: cycles }, () => take(account()));
        const moves = async (account: () => string) =>
          compare(
            await alternate(
              settings.rounds,
              async () => rate(await accepted(account), settle),
              () => rate(taken(account), bare),
            ),
          );
        const many = await moves(spread);
        const single = await moves(() => 'acct_1');
        const whole = compare(
          await alternate(
            settings.rounds,
            () =>
              rate(taken(spread), async (task) => {
                await accept(task);
                await settle(task);
              }),
            () =>
              rate(taken(spread), async (task) => {
                await bareAccept(pool, task);
                await bare(task);
              }),
          ),
        );
        await expectBooks(one);
        return findings(many, single, whole);
      } finally {
        await pool.end();
        await db.destroy();
      }
    });
  },
};

async function holdAndSettle(db: Knex, { open, close }: LedgerTask): Promise<void> {
  const opened = await openTask(db, open);
  const closed = await closeTask(db, close);
  if (opened.outcome !== 'opened' || !closed.first) {
    throw new Error('A task was not opened and closed.');
  }
}

async function bareMoves(pool: Pool, { open: { taskId, accountId } }: LedgerTask): Promise<void> {
  await move(pool, `${taskId}:hold`, accountId, 5_009_400);
  await move(pool, `${taskId}:settle`, accountId, -409_400);
}

async function expectBooks(db: Knex): Promise<void> {
  const { differences } = await audit(db);
  if (differences.length > 0) {
    throw new Error(`The books do not agree: ${JSON.stringify(differences.slice(0, 3))}`);
  }
}

type Compared = ReturnType<typeof compare>;

function findings(many: Compared, single: Compared, whole: Compared): readonly Finding[] {
  const share = Math.round((single.ours / many.ours) * 100);
  const note = `all clients on one account have ${share} % of the rate they have on ${accounts}`;
  return [
    atLeast('hold + settle, 16 clients', '/s', many, 0.8),
    atLeast('hold + settle, 16 clients, one account', '/s', single, 0.8, note),
    atLeast('accept, hold + settle, 16 clients', '/s', whole, 0.8),
  ];
}

/** Works on the tasks with all clients, and returns the tasks per second. */
async function rate(
  tasks: readonly LedgerTask[],
  work: (task: LedgerTask) => Promise<unknown>,
): Promise<number> {
  const left = [...tasks];
  const client = async () => {
    for (let task = left.pop(); task; task = left.pop()) await work(task);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return (tasks.length / (performance.now() - started)) * 1_000;
}

const bareSchema = `
  create table bare_balances (account_id text primary key, available bigint not null);
  create table bare_movements (
    id text primary key, account_id text not null, amount bigint not null,
    created_at timestamptz not null default now());
  create table bare_tasks (id text primary key, account_id text not null, request json, plan json);
  insert into bare_balances
  select 'acct_' || n, 1000000000000000 from generate_series(1, ${accounts}) n`;

async function move(pool: Pool, id: string, account: string, amount: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(
      'update bare_balances set available = available - $1 where account_id = $2',
      [amount, account],
    );
    await client.query('insert into bare_movements (id, account_id, amount) values ($1, $2, $3)', [
      id,
      account,
      amount,
    ]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function bareAccept(pool: Pool, { create }: LedgerTask): Promise<void> {
  const { taskId, accountId, request, plan } = create;
  await pool.query(
    'insert into bare_tasks (id, account_id, request, plan) values ($1, $2, $3, $4)',
    [taskId, accountId, JSON.stringify(request), JSON.stringify(plan)],
  );
}
