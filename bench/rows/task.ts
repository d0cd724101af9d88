// Counts what one task costs from its create to its stored video: in its history, in PostgreSQL, and
// in processor time. The reference is a bare workflow with as many transactions that also copies a
// file. What the idle processes cost meanwhile is subtracted. Runs only on Linux.

import type { Finding, Row } from '../row';
import { familyCpuSeconds, pause, pidOf } from '../support/process-figures';
import { createTasks, startBareTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

// A PostgreSQL backend reports its transactions and rows after ten idle seconds at the latest.
const reportedAfterMs = 12_000;

type Counters = Readonly<Record<string, number>>;

export const taskRow: Row = {
  name: 'task',
  async measure(world: World): Promise<readonly Finding[]> {
    const count = world.settings.quick ? 16 : 160;
    const account = await world.anAccount();
    const runTasks = async () => {
      const run = { model: models.instant, count, inFlight: 4 };
      const { ids } = await createTasks(world, account, run);
      await untilCount(world, ids, 'finished', 300_000);
      await Promise.all(ids.map((id) => world.bare.result(id)));
      return ids;
    };
    const runBare = async () => {
      const ids = await startBareTasks(world, { kind: 'whole', count, inFlight: 4 });
      await Promise.all(ids.map((id) => world.bare.result(id)));
      return ids;
    };
    await runTasks();
    await runBare();
    const idle = await idlePerSecond(world);
    const ours = await costOf(world, runTasks, count, idle);
    const bare = await costOf(world, runBare, count, idle);
    return Object.entries(ours).map(([name, value]) => ({
      figure: `a task: ${name}`,
      unit: unitOf(name),
      ours: value,
      ...(bare[name] === undefined ? {} : { reference: bare[name] }),
    }));
  },
};

const unitOf = (name: string) =>
  name.startsWith('CPU') ? 'ms' : name.startsWith('log') ? 'KB' : '';

async function costOf(
  world: World,
  run: () => Promise<readonly string[]>,
  count: number,
  idle: Counters,
): Promise<Counters> {
  const { ids, used } = await usedBy(world, run);
  const seconds = used.seconds ?? 0;
  const each = Object.entries(used)
    .filter(([name]) => name !== 'seconds')
    .map(([name, value]) => [name, Math.max(0, value - (idle[name] ?? 0) * seconds) / count]);
  return { ...(await stepsOf(world, ids[0] ?? '')), ...Object.fromEntries(each) };
}

async function idlePerSecond(world: World): Promise<Counters> {
  const { used } = await usedBy(world, async () => {
    await pause(world.settings.quick ? 2_000 : 20_000);
    return [];
  });
  const seconds = used.seconds ?? 1;
  return Object.fromEntries(Object.entries(used).map(([name, n]) => [name, n / seconds]));
}

async function usedBy(world: World, run: () => Promise<readonly string[]>) {
  await pause(reportedAfterMs);
  const before = await readCounters(world);
  const ids = await run();
  await pause(reportedAfterMs);
  const after = await readCounters(world);
  const used = Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)] as const);
  return { ids, used: Object.fromEntries(used) as Counters };
}

/** All of these numbers only grow. */
async function readCounters({ pool, stack, bare }: World): Promise<Counters> {
  const { rows } = await pool.query<{ transactions: string; written: string; log: string }>(
    `select xact_commit + xact_rollback as transactions,
            (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables) as written,
            pg_current_wal_lsn() - '0/0'::pg_lsn as log
       from pg_stat_database where datname = current_database()`,
  );
  const cpu = (pid: number) => familyCpuSeconds(pid) * 1_000;
  return {
    seconds: performance.now() / 1_000,
    transactions: Number(rows[0]?.transactions),
    'row writes': Number(rows[0]?.written),
    'log of PostgreSQL': Number(rows[0]?.log) / 1_024,
    'CPU of Temporal': cpu(pidOf(stack.part('temporal'))),
    'CPU of PostgreSQL': cpu(pidOf(stack.part('postgres'))),
    'CPU of the worker': cpu(pidOf(stack.part('worker'))) + cpu(bare.workerPid),
    'CPU of the API': cpu(pidOf(stack.part('api'))),
  };
}

/** What the history of one workflow contains. */
async function stepsOf({ client }: World, id: string): Promise<Counters> {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const all = events ?? [];
  const local = all.filter(
    ({ markerRecordedEventAttributes: marker }) => marker?.markerName === 'core_local_activity',
  );
  return {
    'workflow tasks': all.filter((event) => event.workflowTaskCompletedEventAttributes).length,
    activities: all.filter((event) => event.activityTaskScheduledEventAttributes).length,
    'local activities': local.length,
    events: all.length,
  };
}
