// Tests connections to PostgreSQL that fall silent: they give no answer and no error, and do not
// close. Each caller must get an error in time. Then the pool must work with new connections.

import type { Knex } from 'knex';
import { connect, isOutcomeUnknown, isRetryable } from '../../src/database/database';
import { queryLimitMs, withSlowStatements } from '../../src/database/silent-connections';
import { creditAccount } from '../../src/money/ledger.rows';
import { type Link, startLink } from '../chaos/link';
import { anAccountWith } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { findFunds } from '../support/funds';
import { until } from '../support/until';

const poolMax = 4;
// The longest time for a caller. It includes the wait for a connection and the wait for the answer.
const answeredWithinMs = 10_000;

interface Pool {
  readonly db: Knex;
  readonly database: TestDatabase;
  readonly link: Link;
}

/** Runs a test with a pool of its own, whose connections go through a link. */
function withPool(play: (pool: Pool) => Promise<void>) {
  return async () => {
    const database = await createTestDatabase(2);
    const url = new URL(database.url);
    const target = { host: url.hostname, port: Number(url.port) };
    const link = await startLink(() => target);
    url.host = link.address;
    const db = connect({ url: url.href, poolMax, applicationName: 'silent' });
    try {
      await play({ db, database, link });
    } finally {
      await db.destroy();
      await link.close();
      await database.drop();
    }
  };
}

/** Opens all connections of the pool, then silences them for good. */
async function silence({ db, link }: Pool): Promise<void> {
  await Promise.all(Array.from({ length: poolMax }, () => db.raw('select pg_sleep(0.2)')));
  link.break('falls silent for good');
  link.mend();
}

async function outcomeOf(work: () => Promise<unknown>): Promise<unknown> {
  const startedAt = performance.now();
  const error = await work().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(performance.now() - startedAt).toBeLessThan(answeredWithinMs);
  return error;
}

// The tests mostly wait, so they run at once.
test.concurrent(
  'a query on a silent connection fails as retryable, and the pool works again',
  withPool(async (pool) => {
    const { db, link } = pool;
    await silence(pool);
    const first = await outcomeOf(() => db.raw('select 1'));
    expect(isRetryable(first)).toBe(true);
    // The other silent connections were discarded too, so no further query waits.
    for (let n = 0; n < poolMax; n += 1) await db.raw('select 1');
    expect(link.fired).toBeGreaterThan(0);
  }),
);

const work: Readonly<Record<string, (db: Knex, accountId: string) => Promise<unknown>>> = {
  'a prepared statement': (db, accountId) => findFunds(db, accountId),
  'a transaction': (db, accountId) =>
    creditAccount(db, { accountId, amountMicros: 1, reference: 'again', reason: 'x' }),
};

test.concurrent.each(Object.keys(work))(
  '%s fails within the time limit if the database connection becomes silent',
  (name) =>
    withPool(async (pool) => {
      const account = await anAccountWith(pool.database.db, 'a', 5);
      await silence(pool);
      expect(isRetryable(await outcomeOf(() => work[name]!(pool.db, account)))).toBe(true);
      await work[name]!(pool.db, account);
    })(),
);

test.concurrent(
  'on silent connections every call ends within the time limit, even with more callers than connections',
  withPool(async (pool) => {
    await silence(pool);
    const callers = Array.from({ length: 40 }, () => outcomeOf(() => pool.db.raw('select 1')));
    for (const error of await Promise.all(callers)) {
      expect(error === null || isRetryable(error)).toBe(true);
    }
    await pool.db.raw('select 1');
  }),
);

test.concurrent(
  'a statement in `withSlowStatements` is not cancelled, and the usual limit applies afterwards',
  withPool(async ({ db }) => {
    await db.transaction(async (trx) => {
      await withSlowStatements(trx, 60_000, async () => {
        await trx.raw('select pg_sleep(?)', [(queryLimitMs + 500) / 1000]);
      });
    });
    expect(isRetryable(await outcomeOf(() => db.raw('select pg_sleep(60)')))).toBe(true);
  }),
);

test.concurrent.each(['EHOSTUNREACH', 'ENETUNREACH'])(
  'if the network reports %s during a statement, its outcome counts as unknown',
  (code) =>
    withPool(async ({ db, database }) => {
      let error: unknown;
      const work = db.transaction(async (trx) => {
        const { connection } = await trx.client.acquireConnection();
        const statement = outcomeOf(() => trx.raw('select pg_sleep(5)'));
        await until('it runs', async () => (await sleeping(database)) === 1);
        connection.stream.destroy(Object.assign(new Error(`read ${code}`), { code }));
        error = await statement;
      });
      await expect(work).rejects.toThrow();
      expect(error).toMatchObject({ code });
      expect([isRetryable(error), isOutcomeUnknown(error)]).toEqual([true, true]);
    })(),
);

async function sleeping({ db }: TestDatabase): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `select count(*) from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return rows[0]?.count ?? 0;
}

// This test is the last, because it counts the sockets of the whole process.
test(
  'closing a pool also closes the connections on which the database no longer answers',
  withPool(async (pool) => {
    await silence(pool);
    const before = openSockets();
    await pool.db.destroy();
    // The proxy's own sockets stay open.
    await until('the sockets of the pool are gone', () => openSockets() <= before - poolMax);
  }),
);

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
