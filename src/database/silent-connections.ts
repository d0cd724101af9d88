// Detects silent connections: the other end is gone, and neither an answer nor an error arrives.
// Each query has a time limit in this process. If a query exceeds this limit, the pool discards the
// connection. The pool also discards all connections that were made before this query, because the
// same failure probably affects them too.

import { performance } from 'node:perf_hooks';
import type { Knex } from 'knex';
import type { Client } from 'pg';

/**
 * PostgreSQL cancels a statement after this time. Our statements take milliseconds, so a statement
 * that takes this long is stuck.
 */
export const statementLimitMs = 5_000;
// The limit in this process is longer by this margin. So if the connection works, the timeout error
// of PostgreSQL arrives first.
const marginMs = 1_000;
/** The time limit of one query in this process. */
export const queryLimitMs = statementLimitMs + marginMs;
/** With these options TCP detects a dead peer within two minutes instead of two hours. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

// The error of the driver has no code, so it is recognised by its text.
const silentWords = 'Query read timeout';
// When the pool closes a connection, the other end has this time to close the connection too. Then
// the socket is destroyed.
const goodbyeMs = 1_000;

type PooledClient = Client & {
  readonly __knexUid: string;
  readonly connection: { readonly stream: { readonly destroyed: boolean; destroy(): void } };
  readonly connectionParameters: { query_timeout: number };
};

export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message.includes(silentWords);
}

/** Destroys the socket and does not wait for the other end. */
function throwAway(client: Client): void {
  (client as PooledClient).connection.stream.destroy();
}

/**
 * Returns options with which a pool discards silent connections. Call `attach` after the pool was
 * created.
 */
export function silenceGuard() {
  const open = new Map<string, { readonly client: PooledClient; readonly madeAt: number }>();
  let trustedFrom = Number.NEGATIVE_INFINITY;
  return {
    pool: {
      afterCreate(client: PooledClient, done: (error: null, client: PooledClient) => void) {
        open.set(client.__knexUid, { client, madeAt: performance.now() });
        client.once('end', () => open.delete(client.__knexUid));
        done(null, client);
      },
      validate(client: PooledClient): boolean {
        const { madeAt = 0 } = open.get(client.__knexUid) ?? {};
        if (madeAt >= trustedFrom && !client.connection.stream.destroyed) return true;
        throwAway(client);
        return false;
      },
    },
    attach(db: Knex): void {
      db.on('query-error', (error: unknown, { __knexUid }: { __knexUid: string }) => {
        const silent = open.get(__knexUid);
        if (!silent || !isSilence(error)) return;
        trustedFrom = Math.max(trustedFrom, performance.now() - queryLimitMs);
        throwAway(silent.client);
      });
      const { pool } = db.client as { pool: { on(event: string, listener: unknown): void } };
      pool.on('destroyRequest', (_event: number, client: PooledClient) => {
        setTimeout(throwAway, goodbyeMs, client).unref();
      });
    },
  };
}

/** How long a statement may take that reads or changes a whole table. A connection may say another limit. */
export function slowLimitOf(db: Knex): number {
  const { slowMs = 10 * 60_000 } = db.userParams as { readonly slowMs?: number };
  return slowMs;
}

/** Runs a transaction whose statements may take minutes, or as long as the connection allows. */
export function slowTransaction<T>(
  db: Knex,
  work: (trx: Knex.Transaction) => Promise<T>,
  config?: Knex.TransactionConfig,
): Promise<T> {
  return db.transaction((trx) => withSlowStatements(trx, slowLimitOf(db), () => work(trx)), config);
}

/**
 * Raises the time limits of PostgreSQL and of this process for one transaction while `work` runs.
 * This is for statements that take minutes.
 */
export async function withSlowStatements<T>(
  trx: Knex.Transaction,
  limitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const { connectionParameters } = (await trx.client.acquireConnection()) as PooledClient;
  const { query_timeout: usual } = connectionParameters;
  await trx.raw(`set local statement_timeout = ${limitMs}`);
  connectionParameters.query_timeout = limitMs + marginMs;
  try {
    return await work();
  } finally {
    connectionParameters.query_timeout = usual;
  }
}
