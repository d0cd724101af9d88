// A database for one test file, cloned from the migrated template and dropped afterwards.

import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { Client } from 'pg';
import { connect } from '../../src/database/database';
import { starting } from './starting';

export interface TestDatabase {
  readonly db: Knex;
  /** The database for its owner. */
  readonly url: string;
  /** The database for the role of the API. */
  readonly apiUrl: string;
  readonly workerUrl: string;
  /** The database for the role of the admin commands. */
  readonly operatorUrl: string;
  drop(): Promise<void>;
}

export async function createTestDatabase(poolMax = 10): Promise<TestDatabase> {
  const template = new URL(required('TEST_DATABASE_URL'));
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const clone = `create database ${name} template ${template.pathname.slice(1)}`;
  await starting(() => administer(template, clone));
  const urlLike = (known: string) => Object.assign(new URL(known), { pathname: `/${name}` }).href;
  const url = urlLike(template.href);
  // On a busy machine a test waits longer for a connection than a process of the service does.
  const db = connect({ url, poolMax, applicationName: name.slice(0, 20), waitMs: 60_000 });
  return {
    db,
    url,
    apiUrl: urlLike(required('TEST_API_URL')),
    workerUrl: urlLike(required('TEST_WORKER_URL')),
    operatorUrl: urlLike(required('TEST_OPERATOR_URL')),
    async drop() {
      await db.destroy();
      await administer(template, `drop database if exists ${name} with (force)`);
    },
  };
}

/** Counts statements until `stop`. Each statement takes a connection from the pool. */
export function countStatements(db: Knex): { stop(): number } {
  const { client } = db as { client: Knex.Client };
  const acquire = client.acquireConnection;
  let count = 0;
  client.acquireConnection = function (this: Knex.Client, ...args: []) {
    count += 1;
    return acquire.apply(this, args);
  };
  return {
    stop() {
      client.acquireConnection = acquire;
      return count;
    },
  };
}

/**
 * The number of statements that wait for a lock. The query runs outside a transaction, because
 * pg_stat_activity does not change within a transaction.
 */
export async function statementsWaiting(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and application_name <> 'starter'`,
  );
  return rows[0]?.count ?? 0;
}

/** Runs the statements and returns how many rows of the tables they have read. */
export async function rowsRead(
  trx: Knex.Transaction,
  tables: readonly string[],
  statements: () => Promise<unknown>,
): Promise<number> {
  const readSoFar = async () => {
    const { rows } = await trx.raw<{ rows: { read: number }[] }>(
      `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as read
         from pg_stat_xact_user_tables where relname = any(?)`,
      [[...tables]],
    );
    return rows[0]?.read ?? 0;
  };
  // The view also has what earlier transactions of the connection have not reported yet.
  const before = await readSoFar();
  await statements();
  return (await readSoFar()) - before;
}

export function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this file with --selectProjects stack.`);
  return value;
}

async function administer(template: URL, statement: string): Promise<void> {
  const url = new URL(template);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
