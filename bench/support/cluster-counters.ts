// Reads how much CPU and memory the processes of a Temporal cluster and of the service have used,
// and what Temporal's databases have done. It also formats these numbers.

import type { Pool } from 'pg';
import type { Part } from '../../src/dev-stack/supervised-process';
import type { Finding } from '../row';
import { familyCpuSeconds, figuresOf, pidOf } from './process-figures';

export interface ClusterSite {
  /** Connects to Temporal's PostgreSQL. */
  readonly pool: Pool;
  /** The processes of the cluster, and those of the service on it. */
  readonly parts: readonly Part[];
}

export type Counters = Readonly<Record<string, number>>;

/** The CPU times in milliseconds and the counts of Temporal's PostgreSQL. All of them only grow. */
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

/**
 * The memory of the largest process of each kind, in megabytes. PostgreSQL is left out, because its
 * processes share memory.
 */
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

/** A line of the results, with one column for each run. */
export const lineOf = (
  figure: string,
  unit: string,
  values: readonly (number | undefined)[],
): Finding => ({
  ...{ figure, unit },
  ours: values.map((value) => padded((value ?? Number.NaN).toFixed(1))).join(''),
});

export const padded = (text: string) => text.padStart(8);
