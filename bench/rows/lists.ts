// Times each list, sum and search of the service among many ended tasks (`--old-tasks` sets the
// number; half of a percent and at most 100,000 are not forgotten yet). Each call is made once, and then twenty
// times. Its median may be at most 20 ms, however many tasks there are. The sizes of the tables are
// reported too.

import { join } from 'node:path';
import type { Knex } from 'knex';
import { setBudget } from '../../src/accounts/budgets.rows';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { projectFolder } from '../../src/commands/package-info';
import { connect } from '../../src/database/database';
import { openTask } from '../../src/money/ledger.rows';
import { rollUp } from '../../src/money/roll-up.rows';
import { acceptTask } from '../../src/tasks/accept.rows';
import { type Finding, p99, type Row } from '../row';
import { ledgerTasks } from '../support/ledger-task';
import {
  budgetsOf,
  type Calls,
  listsOfCallers,
  listsOfOperators,
  reportsOfUsage,
  searchesOfReconciler,
  statementsOfTask,
} from '../support/list-calls';
import { inOwnDatabase } from '../support/own-database';
import { median, timed } from '../support/rounds';
import { largestAccount, writeSlimTasks } from '../support/slim-tasks';
import type { World } from '../world';

const msMax = 20;
const msMaxOfUsage = 100;
const times = 20;

export const listsRow: Row = {
  name: 'lists',
  async measure({ stack, settings, say }: World): Promise<readonly Finding[]> {
    const tasks = settings.quick ? 2_000 : settings.oldTasks;
    const size = {
      tasks,
      accounts: settings.quick ? 20 : 1_000,
      kept: Math.min(100_000, tasks / 200),
    };
    return inOwnDatabase(stack.addresses.databaseUrl, 'bench_lists', async (one, url) => {
      const catalogue = await readCatalogue(join(projectFolder(), 'catalogue.yaml'), {});
      await writeSlimTasks(url, catalogue, size, (n) => say(`  ${n} tasks written`));
      const db = connect({ url, poolMax: 1, applicationName: 'bench' });
      try {
        return [
          ...(await sizes(one, tasks)),
          ...(await timeLists(db, ledgerTasks(catalogue), tasks, say)),
        ];
      } finally {
        await db.destroy();
      }
    });
  },
};

/** Times all calls. Some tasks are open or pending meanwhile. */
export async function timeLists(
  db: Knex,
  makeTask: ReturnType<typeof ledgerTasks>,
  tasks: number,
  say: (line: string) => void = () => undefined,
): Promise<readonly Finding[]> {
  await addLive(db, makeTask);
  const findings: Finding[] = [];
  const time = async (calls: Calls, when = '', most: number | null = msMax) => {
    for (const [name, call] of Object.entries(calls)) {
      const finding = await timeCall(`${name}${when}`, call, most);
      say(`  ${finding.figure}: ${finding.ours.toFixed(1)} ms`);
      findings.push(finding);
    }
  };
  await time(listsOfCallers(db, tasks));
  await time(listsOfOperators(db));
  await rollUp(db, 'UTC');
  await time(reportsOfUsage(db), '', msMaxOfUsage);
  await time(searchesOfReconciler(db));
  await time(statementsOfTask(db, makeTask));
  for (const period of ['day', 'month', 'total'] as const) {
    await setBudget(db, { accountId: largestAccount, keyId: null, period, limitMicros: 10 ** 15 });
    // A budget of all time sums all movements of the account.
    const most = period === 'total' ? null : msMax;
    await time(budgetsOf(db), `, the longest of a ${period}`, most);
  }
  return findings;
}

async function timeCall(
  figure: string,
  call: () => Promise<unknown>,
  most: number | null,
): Promise<Finding> {
  const first = await timed(call);
  const took: number[] = [];
  for (let nth = 0; nth < times; nth += 1) took.push(await timed(call));
  const ours = median(took);
  const note = `first ${first.toFixed(1)} ms, least ${Math.min(...took).toFixed(1)} ms, p99 ${p99(took).toFixed(1)} ms`;
  const wanted = most === null ? {} : { wanted: `≤ ${most}`, met: ours <= most };
  return { figure, unit: 'ms', ours, ...wanted, note };
}

async function addLive(db: Knex, makeTask: ReturnType<typeof ledgerTasks>): Promise<void> {
  for (let nth = 0; nth < 200; nth += 1) {
    const account = nth % 2 === 0 ? largestAccount : largestAccount.replace(/1$/, '2');
    const { create, open } = makeTask(`task_live_${process.pid}_${nth}`, account);
    await acceptTask(db, create, { queuedTasksMax: 1_000_000 });
    if (nth % 4 > 0) await openTask(db, open);
  }
}

/** The bytes of the tables and indexes for each task. */
async function sizes(db: Knex, tasks: number): Promise<readonly Finding[]> {
  const { rows } = await db.raw<{ rows: { name: string; bytes: number }[] }>(
    `select relname as name, pg_relation_size(oid) as bytes from pg_class
      where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace
        and (relname like 'tasks%' or relname like 'transfers%') order by relname`,
  );
  return rows.map(({ name, bytes }) => ({
    figure: `size of ${name}`,
    unit: 'bytes a task',
    ours: bytes / tasks,
    note: `${(bytes / 1e6).toFixed(0)} MB`,
  }));
}
