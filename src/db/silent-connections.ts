// Detects silent connections: the other end is gone, and neither an answer nor an error arrives.
// Each query has a time limit on this side. If it is exceeded, the pool discards the connection and
// all connections made before that query was sent, because the same failure affects them.

import { performance } from 'node:perf_hooks';
import type { Knex } from 'knex';
import type { Client } from 'pg';

/**
 * PostgreSQL cancels a statement after this. Ours take milliseconds, so one that takes longer is
 * stuck.
 */
export const statementLimitMs = 5_000;
// PostgreSQL's own timeout error arrives first if the connection works.
const marginMs = 1_000;
/** The time limit of one query on this side. */
export const queryLimitMs = statementLimitMs + marginMs;
/**
 * Set on every connection: TCP then detects a dead peer within two minutes instead of two hours.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

// The driver's error has no code, so its text identifies it.
const silentWords = 'Query read timeout';
// Time for the other end to close as well; then the socket is destroyed.
const goodbyeMs = 1_000;

type PooledClient = Client & {
  readonly __knexUid: string;
  readonly connection: { readonly stream: { readonly destroyed: boolean; destroy(): void } };
  readonly connectionParameters: { query_timeout: number };
};

export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message.includes(silentWords);
}

/** Destroys the socket without waiting for the other end. */
export function throwAway(client: Client): void {
  (client as PooledClient).connection.stream.destroy();
}

/** Pool options that discard silent connections. Call `attach` once the pool exists. */
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

/** For the few transactions whose statements take minutes: raises both time limits. */
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
