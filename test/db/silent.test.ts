// Tests connections to PostgreSQL that fall silent: they give no answer and no error, and do not
// close. Each caller must get an error in time. Then the pool must work with new connections.

import type { Knex } from 'knex';
import { connect, isRetryable } from '../../src/db/database';
import { creditAccount } from '../../src/db/ledger';
import { queryLimitMs, withSlowStatements } from '../../src/db/silent-connections';
import { type Link, startLink } from '../chaos/link';
import { anAccountWith } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { findFunds } from '../support/funds';
import { until } from '../support/until';

const poolMax = 4;
// The longest time for a caller. It includes the wait for a connection and the wait for the answer.
const answeredWithinMs = 10_000;

let database: TestDatabase;
let link: Link;
let db: Knex;
beforeEach(async () => {
  database = await createTestDatabase(2);
  const { hostname, port } = new URL(database.url);
  link = await startLink(() => ({ host: hostname, port: Number(port) }));
  db = connect({ url: throughLink(), poolMax, applicationName: 'silent' });
});
afterEach(async () => {
  await db.destroy();
  await link.close();
  await database.drop();
});

function throughLink(): string {
  const url = new URL(database.url);
  url.host = link.address;
  return url.href;
}

/** Opens all connections of the pool, then silences them for good. */
async function silenceThePool(): Promise<void> {
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

test('a query on a silent connection fails as retryable, and the pool works again', async () => {
  await silenceThePool();
  const first = await outcomeOf(() => db.raw('select 1'));
  expect(isRetryable(first)).toBe(true);
  // The other silent connections were discarded too, so no further query waits.
  for (let n = 0; n < poolMax; n += 1) await db.raw('select 1');
  expect(link.fired).toBeGreaterThan(0);
});

const work: Readonly<Record<string, (accountId: string) => Promise<unknown>>> = {
  'a prepared statement': (accountId) => findFunds(db, accountId),
  'a transaction': (accountId) =>
    creditAccount(db, { accountId, amountMicros: 1, reference: 'again', reason: 'x' }),
};

test.each(Object.keys(work))(
  '%s fails within the time limit if the database connection becomes silent',
  async (name) => {
    const account = await anAccountWith(database.db, 'a', 5);
    await silenceThePool();
    expect(isRetryable(await outcomeOf(() => work[name]!(account)))).toBe(true);
    await work[name]!(account);
  },
);

test('on silent connections every call ends within the time limit, even with more callers than connections', async () => {
  await silenceThePool();
  const callers = Array.from({ length: 40 }, () => outcomeOf(() => db.raw('select 1')));
  for (const error of await Promise.all(callers)) {
    expect(error === null || isRetryable(error)).toBe(true);
  }
  await db.raw('select 1');
});

test('closing a pool also closes the connections on which the database no longer answers', async () => {
  await silenceThePool();
  const before = openSockets();
  await db.destroy();
  // The proxy's own sockets stay open.
  await until('the sockets of the pool are gone', () => openSockets() === before - poolMax);
});

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

test('a statement in `withSlowStatements` is not cancelled, and the usual limit applies afterwards', async () => {
  await db.transaction(async (trx) => {
    await withSlowStatements(trx, 60_000, async () => {
      await trx.raw('select pg_sleep(?)', [(queryLimitMs + 500) / 1000]);
    });
  });
  expect(isRetryable(await outcomeOf(() => db.raw('select pg_sleep(60)')))).toBe(true);
});
