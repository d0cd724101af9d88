// Measures how old tasks become slim rows among more than a million rows (`--old-tasks` sets another
// number). It compares the first batches with the last, and times the calls of a quiet account
// meanwhile. `keptResults` then measures the cost of 100,000 kept results. The bench
// fails if the number of forgotten tasks is wrong or the books do not agree.

import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Pool } from 'pg';
import { createForgetOld } from '../../activities/reconcile/old-tasks';
import { setTerms } from '../../src/accounts/terms.rows';
import { audit } from '../../src/money/audit.rows';
import { forgetTasks } from '../../src/tasks/forget.rows';
import { listTasks } from '../../src/tasks/list.rows';
import { listOldTasks, type Position } from '../../src/tasks/old-tasks.rows';
import { besideQuiet, type Finding, p99, type Row } from '../row';
import { keptResults } from '../support/kept-results';
import { seedOld } from '../support/old-tasks';
import { connectWithoutLimits } from '../support/own-database';
import { type Calls, timeCalls } from '../support/quiet-calls';
import { median, timed } from '../support/rounds';
import { stopping } from '../support/stopping';
import type { Account, World } from '../world';

const kept = { tasksKeptDays: 400, filesKeptDays: 30 };
const laterMax = 1.5;
const batchSize = 200;
// This benchmark stops after this number of tasks, so that it ends in minutes.
const forgottenMax = 300_000;

export const retentionRow: Row = {
  name: 'retention',
  async measure(world: World): Promise<readonly Finding[]> {
    return [...(await forgetting(world)), ...(await keptResults(world))];
  },
};

async function forgetting(world: World): Promise<readonly Finding[]> {
  const { db, pool, settings, say } = world;
  const loud = await world.anAccount();
  const quiet = await world.anAccount();
  const tasks = settings.quick ? 2_000 : settings.oldTasks;
  // 0 days means that tasks are kept for ever. So the worker does not forget these tasks before
  // this benchmark does.
  await setTerms(db, loud.accountId, { tasksKeptDays: 0 });
  const rows = await seedOld(world, loud, tasks);
  say(`  ${rows} rows of ${tasks} old tasks written`);
  const before = { space: await spaceOf(pool), auditSeconds: await auditSeconds(db) };
  await setTerms(db, loud.accountId, { tasksKeptDays: 100 });
  const service = await besideService(world, quiet);
  say(`  ${service.forgotten} forgotten by the service in ${service.seconds.toFixed(0)} s`);
  const rest = await forgetRest(world);
  say(`  ${rest.forgotten} more forgotten in ${rest.seconds.toFixed(0)} s`);
  const forgotten = service.forgotten + rest.forgotten;
  const left = await db('tasks')
    .where({ account_id: loud.accountId })
    .whereNot({ request_hash: '' })
    .count('* as n')
    .first();
  const expected = 1 + tasks - forgotten;
  if (Number(left?.n) !== expected) throw new Error(`${left?.n} tasks are left, not ${expected}.`);
  const among = `among ${rows.toLocaleString('en')} rows`;
  return [
    {
      figure: `old tasks forgotten in a run of the service, ${among}`,
      unit: 'tasks/s',
      ours: service.forgotten / service.seconds,
      note: 'three quarters of the time are pauses',
    },
    slower('create', service.alone.POST, service.beside.POST),
    slower('GET', service.alone.GET, service.beside.GET),
    slower('list', service.alone.list, service.beside.list),
    ...withoutPauses(rest, among, rows / tasks),
    ...(await leftBehind(world, loud, before, `after ${forgotten.toLocaleString('en')} tasks`)),
  ];
}

function withoutPauses(
  { batches, forgotten, seconds }: Awaited<ReturnType<typeof forgetRest>>,
  among: string,
  rowsEach: number,
): readonly Finding[] {
  const tenth = Math.ceil(batches.length / 10);
  const [first, last] = [median(batches.slice(0, tenth)), median(batches.slice(-tenth))];
  const rate = forgotten / seconds;
  return [
    {
      figure: `old tasks forgotten without pauses, ${among}`,
      unit: 'tasks/s',
      ours: rate,
      note: `${Math.round(rate * rowsEach)} rows a second; a batch of ${batchSize}: median ${median(batches).toFixed(0)} ms, p99 ${p99(batches).toFixed(0)} ms`,
    },
    {
      figure: 'a batch, the last tenth of them against the first',
      unit: 'ms',
      ours: last,
      reference: first,
      ratio: last / first,
      wanted: `≤ ${laterMax}`,
      met: last <= laterMax * first,
      note: `medians of ${tenth} batches`,
    },
  ];
}

/** Measures the cost of dead rows, the space and the time of an audit, afterwards. */
async function leftBehind(
  { db, pool }: World,
  { accountId }: Account,
  before: { readonly space: Space; readonly auditSeconds: number },
  when: string,
): Promise<readonly Finding[]> {
  const search = await timed(() => listOldTasks(db, null, kept, batchSize));
  const list = await timed(() => listTasks(db, { accountId, limit: 20 }));
  const after = await spaceOf(pool);
  const audited = await auditSeconds(db);
  const vacuumed = await timed(() => pool.query(`vacuum analyze ${emptied.join(', ')}`));
  const { megabytes } = await spaceOf(pool);
  return [
    {
      figure: `the first search of a pass, ${when}`,
      unit: 'ms',
      ours: search,
      note: `a list of that account then takes ${list.toFixed(1)} ms; ${after.deadRows.toLocaleString('en')} dead rows, autovacuum ran ${after.vacuums - before.space.vacuums} times`,
    },
    {
      figure: `full audit, ${when}`,
      unit: 's',
      ours: audited,
      reference: before.auditSeconds,
      note: 'the reference is before them; no difference in either',
    },
    {
      figure: `tables and indexes, ${when}`,
      unit: 'MB',
      ours: after.megabytes,
      reference: before.space.megabytes,
      note: `${megabytes.toFixed(0)} MB after a vacuum of ${(vacuumed / 1_000).toFixed(1)} s`,
    },
  ];
}

/**
 * Times the calls of a quiet account: first without other work, and then while `forgetOld` works. The two measurements alternate, so that other load on the machine affects both.
 */
async function besideService(world: World, account: Account) {
  const { db, settings } = world;
  const noCalls = (): Required<Calls> => ({ POST: [], GET: [], list: [] });
  const [alone, beside] = [noCalls(), noCalls()];
  const forgetOld = createForgetOld({ db, stopping }, kept);
  let forgotten = 0;
  let seconds = 0;
  await timeCalls(world.apiUrl, account, noCalls(), pause(2_000));
  for (let turn = 0; turn < (settings.quick ? 1 : 3); turn += 1) {
    await timeCalls(world.apiUrl, account, alone, pause(settings.quick ? 2_000 : 20_000));
    const run = timed(async () => {
      forgotten += await forgetOld();
    });
    await timeCalls(world.apiUrl, account, beside, run);
    seconds += (await run) / 1_000;
  }
  return { alone, beside, forgotten, seconds };
}

/** Forgets old tasks without pauses. The times of the batches are in milliseconds. */
async function forgetRest({ stack }: World) {
  const db = await connectWithoutLimits(stack.addresses.databaseUrl);
  const batches: number[] = [];
  let forgotten = 0;
  let after: Position | null = null;
  const ms = await timed(async () => {
    for (let size = batchSize; size === batchSize && forgotten < forgottenMax; ) {
      batches.push(
        await timed(async () => {
          const old = await listOldTasks(db, after, kept, batchSize);
          forgotten += await forgetTasks(db, old);
          after = old.at(-1) ?? null;
          size = old.length;
        }),
      );
    }
  });
  await db.destroy();
  return { batches, forgotten, seconds: ms / 1_000 };
}

async function auditSeconds(db: Knex): Promise<number> {
  const ms = await timed(async () => {
    const { differences } = await audit(db);
    if (differences.length > 0) throw new Error(`The books differ: ${JSON.stringify(differences)}`);
  });
  return ms / 1_000;
}

const emptied = ['tasks', 'jobs', 'transfers', 'files'];

interface Space {
  readonly megabytes: number;
  readonly deadRows: number;
  readonly vacuums: number;
}

async function spaceOf(pool: Pool): Promise<Space> {
  const { rows } = await pool.query<Space>(
    `select sum(pg_total_relation_size(relid))::float8 / 1e6 as megabytes,
            sum(n_dead_tup)::int as "deadRows", sum(autovacuum_count)::int as vacuums
       from pg_stat_user_tables where relname = any($1)`,
    [emptied],
  );
  const [space] = rows;
  if (!space) throw new Error('A sum answers one row.');
  return space;
}

function slower(what: string, alone: readonly number[], beside: readonly number[]): Finding {
  return besideQuiet(
    `p99 of a quiet ${what} beside it`,
    alone,
    beside,
    `median ${median(beside).toFixed(1)} ms, quiet ${median(alone).toFixed(1)} ms; ${beside.length} calls`,
  );
}
