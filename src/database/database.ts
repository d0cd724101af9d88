// The connection to PostgreSQL, and the classes of its errors. Every connection has time limits, so
// that no statement and no abandoned transaction can block the service. The statements themselves
// are in the other files of this folder.

import knex, { type Knex } from 'knex';
import { types } from 'pg';
import { assert } from '../assert';
import {
  isSilence,
  keepAlive,
  queryLimitMs,
  silenceGuard,
  statementLimitMs,
} from './silent-connections';

type Say = (fields: object, message: string) => void;

interface DatabaseOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Shown in pg_stat_activity, so that an operator can distinguish the connections. */
  readonly applicationName: string;
  /** True if PostgreSQL must refuse statements that write. */
  readonly readOnly?: boolean;
  /** How long a statement waits for a connection; by default four seconds. */
  readonly waitMs?: number;
  /** How long a statement of `slowTransaction` may take; by default ten minutes. */
  readonly slowMs?: number;
  readonly log?: { readonly warn: Say; readonly error: Say };
}

// The driver returns bigint as text. Our bigint values are ids, counts and micro-units below 2^53.
// A larger value must fail and must not be rounded.
types.setTypeParser(types.builtins.INT8, (text) => {
  const value = Number(text);
  assert(Number.isSafeInteger(value), `${text} fits into a safe integer`);
  return value;
});

// A server may have other defaults. `read committed` is needed, because a statement that has waited
// for a lock must see what the holder of the lock stored. PostgreSQL would need longer to compile a
// statement (jit) than to run it. By default it expects rotating disks: it would rather read a table
// of a few hundred rows than look up one of them. The last three settings keep the precision of numbers
// and the format of times, and make each day 24 hours long.
const sessionSettings = [
  'lock_timeout=2000',
  String.raw`default_transaction_isolation=read\ committed`,
  'jit=off',
  'random_page_cost=1.1',
  'extra_float_digits=1',
  'datestyle=ISO',
  'timezone=UTC',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

export function connect(connection: DatabaseOptions): Knex {
  const {
    url,
    poolMax,
    applicationName,
    readOnly = false,
    waitMs = 4_000,
    slowMs,
    log,
  } = connection;
  const guard = silenceGuard();
  const db = knex({
    client: 'pg',
    // The oldest version that this service needs. Without this setting knex queries the server's
    // version for each new pool.
    version: '18',
    connection: {
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 2_000,
      // A wait for a lock ends after 2 s (sessionSettings), because transactions hold locks only
      // for a moment. An idle transaction ends after 10 s: its process died without closing the
      // socket.
      statement_timeout: statementLimitMs,
      query_timeout: queryLimitMs,
      options: `${sessionSettings} -c default_transaction_read_only=${readOnly ? 'on' : 'off'}`,
      idle_in_transaction_session_timeout: 10_000,
      ...keepAlive,
    },
    pool: {
      min: 0,
      max: poolMax,
      idleTimeoutMillis: 30_000,
      propagateCreateError: false,
      ...guard.pool,
    },
    acquireConnectionTimeout: waitMs,
    // Error messages are stored in logs and histories. The values of a statement belong to
    // customers and must not appear there (docs/decisions.md, 18).
    compileSqlOnError: false,
    // Without a log knex writes connection errors to the console.
    log: {
      warn: (message: unknown) => log?.warn({ event: 'database_unavailable' }, String(message)),
      error: (message: unknown) => log?.error({ event: 'database_unavailable' }, String(message)),
      deprecate: () => undefined,
      debug: () => undefined,
    },
  });
  db.userParams = { ...db.userParams, slowMs };
  guard.attach(db);
  return db;
}

// SQLSTATE codes of temporary errors. 57014 is a statement timeout. A server that has become a
// standby reports 25006.
const retryableStates = new Set('40001 40P01 55P03 57014 57P01 57P02 57P03 53300 25006'.split(' '));
const retryableCodes = new Set(
  'ECONNRESET ECONNREFUSED EHOSTUNREACH ENETUNREACH EPIPE ETIMEDOUT ENOENT'.split(' '),
);

/**
 * True for temporary errors: a lost connection, a restart, a lock timeout. If `isOutcomeUnknown` is
 * true too, the statement may have been committed.
 */
export function isRetryable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') {
    return retryableStates.has(code) || code.startsWith('08') || retryableCodes.has(code);
  }
  // The driver gives these errors no code, so only their text identifies them.
  if (isSilence(error)) return true;
  const text = error instanceof Error ? `${error.name} ${error.message}` : '';
  // pg reports 'Client has encountered a connection error' for a statement on a lost connection,
  // for example for the ROLLBACK of its transaction.
  return [
    'Connection terminated',
    'Connection ended',
    'Client has encountered a connection error',
    'KnexTimeoutError',
    'timeout expired',
  ].some((words) => text.includes(words));
}

/**
 * True if the same statement may succeed later: temporary errors, and all that the server reports except
 * faults of values (22, 23), of the program (42) and of its limits (54). A full disk is an example.
 */
export function mayPass(error: unknown): boolean {
  if (isRetryable(error)) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?!22|23|42|54)[0-9A-Z]{5}$/.test(code);
}

const neverSent = ['ECONNREFUSED', 'ENOENT', '53300', '57P03'];

/**
 * True if a statement may have been committed: the connection was lost after the statement was
 * sent, or the server was stopped while the statement ran (57P…). If the server reports another
 * error, the statement was rolled back.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!isRetryable(error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && neverSent.includes(code)) return false;
  if (typeof code === 'string' && retryableStates.has(code)) return code.startsWith('57P');
  const text = error instanceof Error ? `${error.name} ${error.message}` : '';
  return !text.includes('KnexTimeoutError') && !text.includes('timeout expired');
}
