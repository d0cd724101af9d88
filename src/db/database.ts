// The connection to PostgreSQL: its limits, its types, what its errors mean, and the migrations.
// Every connection has time limits of its own, so that no statement and no forgotten transaction
// can hold the service up.

import knex, { type Knex } from 'knex';
import { types } from 'pg';
import { assert } from '../domain/assert';
import { migrations } from './migrations';

interface DatabaseOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Shown in pg_stat_activity, so that an operator sees whose connection it is. */
  readonly applicationName: string;
  readonly log?: { warn(message: string): void; error(message: string): void };
}

// bigint comes as text; all of ours are counts and micro-units below 2^53, and one that is not must
// never be rounded.
types.setTypeParser(types.builtins.INT8, (text) => {
  const value = Number(text);
  assert(Number.isSafeInteger(value), `${text} fits into a safe integer`);
  return value;
});

export function connect({ url, poolMax, applicationName, log }: DatabaseOptions): Knex {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 2_000,
      // 5 s: our slowest statement takes milliseconds; past that it is stuck. 2 s for a lock: a
      // door waits only for another door of the same account. 10 s for a transaction whose process
      // has died without closing its socket.
      statement_timeout: 5_000,
      options: '-c lock_timeout=2000',
      idle_in_transaction_session_timeout: 10_000,
      keepAlive: true,
    },
    pool: { min: 0, max: poolMax, idleTimeoutMillis: 30_000, propagateCreateError: false },
    acquireConnectionTimeout: 4_000,
    // An error's text goes into logs and histories; the values of its statement are the customers'
    // and stay out of it (docs/decisions.md, 18).
    compileSqlOnError: false,
    // knex writes connection errors to the console itself unless it is given a log.
    log: {
      warn: (message: unknown) => log?.warn(String(message)),
      error: (message: unknown) => log?.error(String(message)),
      deprecate: () => undefined,
      debug: () => undefined,
    },
  });
}

const retryableStates = new Set(['40001', '40P01', '55P03', '57P01', '57P02', '57P03', '53300']);
const retryableCodes = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOENT']);

/**
 * Trouble that passes: a lost connection, a restart, a lock. What was being done is unknown, not
 * failed.
 */
export function isRetryable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') {
    return retryableStates.has(code) || code.startsWith('08') || retryableCodes.has(code);
  }
  // The driver gives these no code of their own; there is nothing else to tell them by.
  const text = error instanceof Error ? `${error.name} ${error.message}` : '';
  // The third is how a transaction ends whose connection is gone: not even its ROLLBACK gets
  // through.
  return [
    'Connection terminated',
    'Connection ended',
    'Client has encountered a connection error',
    'KnexTimeoutError',
    'timeout expired',
  ].some((words) => text.includes(words));
}

// Any number that no other program would use: one process migrates, the others wait for it.
const migrationLock = 727_001;

/**
 * Brings the schema up to date. Safe when several processes start at once; refuses a newer schema
 * untouched.
 */
export async function migrate(db: Knex): Promise<readonly string[]> {
  return db.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout = '60s'`);
    await trx.raw(`set local statement_timeout = '10min'`);
    await trx.raw('select pg_advisory_xact_lock(?)', [migrationLock]);
    await trx.raw(`
      create table if not exists schema_migrations (
        name       text primary key,
        applied_at timestamptz not null default now()
      )`);
    const { rows } = await trx.raw<{ rows: { name: string }[] }>(
      'select name from schema_migrations',
    );
    const applied = new Set(rows.map((row) => row.name));
    refuseNewer(applied);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const { name, up } of missing) {
      await up(trx);
      await trx.raw('insert into schema_migrations (name) values (?)', [name]);
    }
    return missing.map(({ name }) => name);
  });
}

/** Throws when the schema is not exactly the one this code was written for. */
export async function checkSchema(db: Knex): Promise<void> {
  const applied = new Set(await appliedSteps(db));
  refuseNewer(applied);
  const missing = migrations.filter(({ name }) => !applied.has(name));
  if (missing.length > 0) {
    throw new SchemaMismatch(
      `The database lacks ${missing.map(({ name }) => name).join(', ')}: run "admin migrate" first.`,
    );
  }
}

async function appliedSteps(db: Knex): Promise<readonly string[]> {
  try {
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      'select name from schema_migrations',
    );
    return rows.map((row) => row.name);
  } catch (error) {
    // No such table: nobody has migrated this database yet.
    if ((error as { code?: unknown }).code === '42P01') return [];
    throw error;
  }
}

export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

function refuseNewer(applied: ReadonlySet<string>): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied].filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new SchemaMismatch(
    `The database has a newer schema than this version knows (${unknown.join(', ')}). ` +
      'Nothing was changed: run the version that made it, or a later one.',
  );
}
