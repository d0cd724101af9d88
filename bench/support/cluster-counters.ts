// What the processes and databases of a Temporal cluster, and of a service on it, have used so
// far, and how it is printed.

import type { Pool } from 'pg';
import type { Part } from '../../src/dev-stack/supervised-process';
import type { Finding } from '../row';
import { familyCpuSeconds, figuresOf, pidOf } from './process-figures';

export interface ClusterSite {
  /** Of Temporal's PostgreSQL. */
  readonly pool: Pool;
  /** The processes of the cluster, and those of the service on it. */
  readonly parts: readonly Part[];
}

export type Counters = Readonly<Record<string, number>>;

/** CPU in milliseconds, and what Temporal's PostgreSQL counts. All of them only grow. */
export async function readCounters({ pool, parts }: ClusterSite): Promise<Counters> {
  const counters: Record<string, number> = { seconds: performance.now() / 1_000 };
  for (const part of parts.filter((one) => one.isAlive())) {
    const name = `CPU of ${kindOf(part)}`;
    counters[name] = (counters[name] ?? 0) + familyCpuSeconds(pidOf(part)) * 1_000;
  }
  const { rows } = await pool.query<{ name: string; transactions: string; written: string }>(
    `select datname as name, xact_commit + xact_rollback as transactions,
            tup_inserted + tup_updated + tup_deleted as written
       from pg_stat_database where datname like 'temporal%' order by datname`,
  );
  for (const { name, transactions, written } of rows) {
    counters[`transactions in ${name}`] = Number(transactions);
    counters[`rows written in ${name}`] = Number(written);
  }
  return counters;
}

function kindOf({ name }: Part): string {
  if (name.startsWith('bench_cluster')) return name.endsWith('api') ? 'API' : 'workers';
  const role = name.replace(/^temporal-|-\d$/g, '');
  return { postgres: "Temporal's PostgreSQL", worker: 'internal worker' }[role] ?? role;
}

/** The largest process of each kind, in megabytes. PostgreSQL is left out: its processes share memory. */
export function memoryOf({ parts }: ClusterSite): Counters {
  const memory: Record<string, number> = {};
  for (const part of parts.filter((one) => one.isAlive() && !one.name.endsWith('postgres'))) {
    const megabytes = figuresOf(pidOf(part)).rssBytes / 2 ** 20;
    memory[kindOf(part)] = Math.max(memory[kindOf(part)] ?? 0, megabytes);
  }
  return memory;
}

export function mapped(
  counters: Counters,
  change: (value: number, name: string) => number,
): Counters {
  return Object.fromEntries(
    Object.entries(counters).map(([name, value]) => [name, change(value, name)]),
  );
}

export const difference = (after: Counters, before: Counters) =>
  mapped(after, (value, name) => value - (before[name] ?? 0));

export const unitOf = (name: string) => (name.startsWith('CPU') ? 'ms' : '');

/** A line with one column for each run. */
export const lineOf = (
  figure: string,
  unit: string,
  values: readonly (number | undefined)[],
): Finding => ({
  ...{ figure, unit },
  ours: values.map((value) => padded((value ?? Number.NaN).toFixed(1))).join(''),
});

export const padded = (text: string) => text.padStart(8);
