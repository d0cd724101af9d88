// Measures the cost of a task on a Temporal cluster, and the cost of one more process. Whole tasks
// run with one and two history processes, and with one, two and four workers. Half of the tasks
// have a callback, and a fifth is enhanced. Every caller waits for the end of its task. The row
// fails unless every task succeeds and is generated once. It runs only on Linux.

import { existsSync } from 'node:fs';
import { Pool } from 'pg';
import type { Part } from '../../src/dev-stack/supervised-process';
import { audit } from '../../src/money/audit.rows';
import type { Finding, Row } from '../row';
import { startCluster, type TemporalCluster } from '../support/cluster';
import {
  type ClusterSite,
  type Counters,
  difference,
  lineOf,
  mapped,
  memoryOf,
  padded,
  readCounters,
  unitOf,
} from '../support/cluster-counters';
import { openWire } from '../support/http-load';
import { anotherService, anotherWorker, type Side } from '../support/more-processes';
import { pause } from '../support/process-figures';
import { quantile } from '../support/rounds';
import { acceptedId, createText, readText } from '../support/tasks';
import { temporalPrograms } from '../support/temporal-build';
import { type Account, models, type World } from '../world';

const historyCounts = [1, 2];
const workerCounts = [1, 2, 4];
const callers = 48;
// A PostgreSQL backend reports its transactions and rows after ten idle seconds at the latest.
const reportedAfterMs = 12_000;

export const clusterRow: Row = {
  name: 'cluster',
  onlyByName: true,
  async measure(world: World): Promise<readonly Finding[]> {
    return withCluster(world, 64, (cluster) => measureGrowth(world, cluster));
  },
};

/** Measures the idle cluster with 512 shards, a usual number in production. */
export const shardsRow: Row = {
  name: 'shards',
  onlyByName: true,
  async measure(world: World): Promise<readonly Finding[]> {
    return withCluster(world, 512, (cluster) => measureShards(world, cluster));
  },
};

async function withCluster<T>(
  world: World,
  historyShards: number,
  work: (cluster: TemporalCluster) => Promise<T>,
): Promise<T> {
  if (!existsSync('/proc/self/stat')) {
    throw new Error('This row reads /proc, so run it on Linux.');
  }
  await temporalPrograms(world.say);
  const cluster = await startCluster({ historyShards });
  try {
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
}

interface Measured {
  readonly tasksPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The cost of one task. The cost of the idle processes is subtracted. */
  readonly perTask: Counters;
  readonly idlePerSecond: Counters;
  readonly memory: Counters;
}

async function measureGrowth(world: World, cluster: TemporalCluster): Promise<readonly Finding[]> {
  const side = await anotherService(world, 'bench_cluster', { TEMPORAL_ADDRESS: cluster.address });
  const pool = new Pool({ connectionString: cluster.databaseUrl, max: 1 });
  const workers = [side.worker];
  try {
    const account = await side.anAccount();
    for (const n of [2, 3, 4]) {
      workers.push(await anotherWorker(world, `bench_cluster-worker-${n}`, side.environment));
    }
    const site = { pool, parts: [...cluster.parts.values(), ...workers, side.api] };
    const runs: Measured[] = [];
    for (const history of historyCounts) {
      await setCount(historyParts(cluster), history);
      for (const count of workerCounts) {
        await setCount(workers, count);
        runs.push(await measureOne(world, side, site, account));
        world.say(`history ${history}, workers ${count}: measured`);
      }
    }
    const { differences } = await audit(side.db);
    if (differences.length > 0) {
      throw new Error(`Books do not agree: ${JSON.stringify(differences)}`);
    }
    return findingsOf(runs);
  } finally {
    await pool.end();
    await setCount(workers, 0);
    await side.stop();
  }
}

async function measureOne(
  world: World,
  side: Side,
  site: ClusterSite,
  account: Account,
): Promise<Measured> {
  const { quick } = world.settings;
  const count = quick ? 20 : 200;
  await runTasks(world, side, account, quick ? 5 : 40);
  const idlePerSecond = await idle(world, site);
  const before = await readCounters(site);
  const { latencies, seconds } = await runTasks(world, side, account, count);
  const memory = memoryOf(site);
  await pause(reportedAfterMs);
  const used = difference(await readCounters(site), before);
  const perTask = mapped(
    used,
    (value, name) => (value - (idlePerSecond[name] ?? 0) * (used.seconds ?? 0)) / count,
  );
  const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
  return { tasksPerSecond: count / seconds, p50, p99, perTask, idlePerSecond, memory };
}

async function measureShards(world: World, cluster: TemporalCluster): Promise<readonly Finding[]> {
  const pool = new Pool({ connectionString: cluster.databaseUrl, max: 1 });
  try {
    const runs: Counters[] = [];
    for (const history of historyCounts) {
      await setCount(historyParts(cluster), history);
      runs.push(await idle(world, { pool, parts: [...cluster.parts.values()] }));
    }
    return idleFindings(runs, `idle with 512 shards and ${historyCounts.join(', ')} history`);
  } finally {
    await pool.end();
  }
}

const historyParts = ({ parts }: TemporalCluster) =>
  [...parts.values()].filter(({ name }) => name.startsWith('temporal-history'));

async function setCount(parts: readonly Part[], count: number): Promise<void> {
  for (const [index, part] of parts.entries()) await (index < count ? part.start() : part.stop());
}

/** The resources that are used in a second while no task runs. */
async function idle(world: World, site: ClusterSite): Promise<Counters> {
  await pause(reportedAfterMs);
  const before = await readCounters(site);
  await pause(world.settings.quick ? 2_000 : 20_000);
  const used = difference(await readCounters(site), before);
  return mapped(used, (value) => value / (used.seconds ?? 1));
}

async function runTasks(
  world: World,
  side: Side,
  account: Account,
  count: number,
): Promise<{ readonly latencies: readonly number[]; readonly seconds: number }> {
  const before = await world.generator.counts();
  const { hostname, port } = new URL(side.apiUrl);
  const callbackUrl = `${world.generator.url}/hook`;
  const latencies: number[] = [];
  let next = 0;
  const caller = async () => {
    const wire = await openWire(hostname, Number(port));
    try {
      while (next < count) {
        const n = next;
        next += 1;
        const sent = performance.now();
        const text = createText(account, models.polled, { metadata: metadataOf(n, callbackUrl) });
        const id = acceptedId(await wire.exchange(text), true);
        latencies.push(performance.now() - sent);
        const read = readText(account, id, { prefer: 'wait=60' });
        let status = '';
        while (status !== 'succeeded') {
          const reply = await wire.exchange(read);
          ({ status } = JSON.parse(reply.body) as { status: string });
          if (reply.status !== 200 || status === 'failed') throw new Error(reply.body);
        }
      }
    } finally {
      wire.close();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: Math.min(callers, count) }, caller));
  const seconds = (performance.now() - started) / 1_000;
  const callbacks = async () => (await world.generator.counts()).callbacks - before.callbacks;
  for (const end = Date.now() + 60_000; (await callbacks()) < Math.ceil(count / 2); ) {
    if (Date.now() > end) throw new Error('A callback did not arrive within a minute.');
    await pause(100);
  }
  const jobs = (await world.generator.counts()).creates - before.creates;
  if (jobs !== count) throw new Error(`${count} tasks were ${jobs} jobs.`);
  return { latencies: latencies.sort((a, b) => a - b), seconds };
}

const metadataOf = (n: number, callbackUrl: string) => ({
  execution_expires_after: 172_800,
  ...(n % 2 === 0 ? { callback_url: callbackUrl } : {}),
  ...(n % 5 === 0 ? { super_resolution_config: { resolution: '1080p' } } : {}),
});

/** The findings have one column for each combination of history processes and workers. */
function findingsOf(runs: readonly Measured[]): readonly Finding[] {
  const columns = historyCounts.flatMap((history) => workerCounts.map((n) => `${history}×${n}`));
  const line = (figure: string, unit: string, value: (run: Measured) => number | undefined) =>
    lineOf(figure, unit, runs.map(value));
  const perTask = Object.keys(runs[0]?.perTask ?? {}).filter((name) => name !== 'seconds');
  return [
    { figure: 'history processes × workers', unit: '', ours: columns.map(padded).join('') },
    line('whole tasks', '/s', (run) => run.tasksPerSecond),
    line('POST, p50', 'ms', (run) => run.p50),
    line('POST, p99', 'ms', (run) => run.p99),
    ...perTask.map((name) => line(`${name}, per task`, unitOf(name), (run) => run.perTask[name])),
    ...idleFindings(
      runs.map(({ idlePerSecond }) => idlePerSecond),
      'idle',
    ),
    ...Object.keys(runs[0]?.memory ?? {}).map((kind) =>
      line(`memory of the largest process, ${kind}`, 'MB', (run) => run.memory[kind]),
    ),
  ];
}

function idleFindings(runs: readonly Counters[], title: string): readonly Finding[] {
  const names = Object.keys(runs[0] ?? {}).filter((name) => name !== 'seconds');
  return names.map((name) =>
    lineOf(
      `${title}: ${name}, per second`,
      unitOf(name),
      runs.map((run) => run[name]),
    ),
  );
}
