// Measures the real transactions of a task (accept, hold, settle) with sixteen clients at once. The
// reference is the minimum: two transactions, each of which writes a balance and a movement. The
// clients first use many accounts. Then all use one account, so that they wait for the lock on its
// row. The bench fails if the books do not agree.

import { join } from 'node:path';
import { Pool } from 'pg';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { projectFolder } from '../../src/commands/package-info';
import { acceptTask } from '../../src/db/accept-task';
import { connect } from '../../src/db/database';
import { closeTask, openTask } from '../../src/db/ledger';
import { audit } from '../../src/db/ledger-audit';
import { atLeast, type Finding, type Row } from '../row';
import { ledgerTasks } from '../support/ledger-task';
import { writeBooks } from '../support/many-movements';
import { inOwnDatabase } from '../support/own-database';
import { alternate, compare } from '../support/rounds';
import type { World } from '../world';

const clients = 16;
const accounts = 200;
const accepting = { leaseSeconds: 60, queuedTasksMax: 1_000_000 };

export const ledgerRow: Row = {
  name: 'ledger',
  async measure({ stack, settings }: World): Promise<readonly Finding[]> {
    const catalogue = await readCatalogue(join(projectFolder(), 'catalogue.yaml'), {});
    const makeTask = ledgerTasks(catalogue);
    return inOwnDatabase(stack.addresses.databaseUrl, 'bench_ledger', async (one, url) => {
      await writeBooks(one, makeTask, { accounts, tasksEach: 0 });
      await one.raw(bareSchema);
      const db = connect({ url, poolMax: clients, applicationName: 'bench' });
      const pool = new Pool({ connectionString: url, max: clients });
      try {
        const cycles = settings.quick ? 160 : 1_600;
        let last = 0;
        const ours = async (account: string): Promise<void> => {
          last += 1;
          const { create, open, close } = makeTask(`task_bench_${last}`, account);
          await acceptTask(db, create, accepting);
          const opened = await openTask(db, open);
          const closed = await closeTask(db, close);
          if (opened.outcome !== 'opened' || !closed.first)
            throw new Error('A task was not opened and closed.');
        };
        const bare = async (account: string): Promise<void> => {
          last += 1;
          const id = last;
          await move(pool, `${id}:hold`, account, 5_009_400);
          await move(pool, `${id}:settle`, account, -409_400);
        };
        const spread = () => `acct_${1 + (last % accounts)}`;
        const many = await alternate(
          settings.rounds,
          () => rate(cycles, () => ours(spread())),
          () => rate(cycles, () => bare(spread())),
        );
        const single = await alternate(
          settings.rounds,
          () => rate(cycles, () => ours('acct_1')),
          () => rate(cycles, () => bare('acct_1')),
        );
        const { differences } = await audit(one);
        if (differences.length > 0) {
          throw new Error(`The books do not agree: ${JSON.stringify(differences.slice(0, 3))}`);
        }
        return findings(compare(many), compare(single));
      } finally {
        await pool.end();
        await db.destroy();
      }
    });
  },
};

type Compared = ReturnType<typeof compare>;

function findings(many: Compared, single: Compared): readonly Finding[] {
  const share = Math.round((single.ours / many.ours) * 100);
  const note = `all clients on one account have ${share} % of the rate they have on ${accounts}`;
  return [
    atLeast('hold + settle, 16 clients', '/s', many, 0.8),
    atLeast('hold + settle, 16 clients, one account', '/s', single, 0.8, note),
  ];
}

async function rate(cycles: number, cycle: () => Promise<void>): Promise<number> {
  let left = cycles;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await cycle();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return (cycles / (performance.now() - started)) * 1_000;
}

const bareSchema = `
  create table bare_balances (account_id text primary key, available bigint not null);
  create table bare_movements (
    id text primary key, account_id text not null, amount bigint not null,
    created_at timestamptz not null default now());
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
