// The books are checked on a schedule: by the first sweep in an hour, whichever process makes it,
// and what it found is told to the operator. The engine has nothing to say here, so it is left out.

import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityEvents } from '../../activities/events';
import { createSweepActivities, type SweepDeps } from '../../activities/sweep';
import { audit } from '../../src/db/ledger-audit';
import type { SweepReport } from '../../workflows/messages';
import { anAccountWith } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let told: unknown[][];
let count: () => Promise<number>;
beforeEach(async () => {
  database = await createTestDatabase(2);
  told = [];
  count = async () => (await audit(database.db)).differences.length;
  await anAccountWith(database.db, 'a', 5);
});
afterEach(() => database.drop());

const silentEngine = {
  workflow: { list: () => (async function* () {})() },
} as unknown as Client;

async function sweep(): Promise<number | null> {
  const activities = createSweepActivities({
    db: database.db,
    now: () => Date.now(),
    client: silentEngine,
    taskQueue: 'none',
    events: new Proxy({} as ActivityEvents, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          void told.push([name, ...args]),
    }),
    ensureWatchers: async () => undefined,
    countAuditDifferences: () => count(),
  } as unknown as SweepDeps);
  const run = new MockActivityEnvironment().run(activities.sweep, { taskQueue: 'none' });
  return ((await run) as SweepReport).auditDifferences;
}

const anHourLater = () =>
  database.db.raw(`update sweep_state set audited_at = audited_at - interval '61 minutes'`);

test('once an hour, and it is told that they agree', async () => {
  expect(await sweep()).toBe(0);
  expect(await sweep()).toBeNull();
  expect(told).toEqual([['audited', 0]]);
  await anHourLater();
  expect(await sweep()).toBe(0);
  expect(told).toEqual([
    ['audited', 0],
    ['audited', 0],
  ]);
});

test('by one of two that come at once', async () => {
  const found = await Promise.all([sweep(), sweep()]);
  expect(found.filter((differences) => differences === 0)).toHaveLength(1);
});

test('a difference is told as a number', async () => {
  await database.db.raw('update balances set available = available + 1');
  expect(await sweep()).toBe(1);
  expect(told).toEqual([['audited', 1]]);
});

test('a check that could not be finished is made again by the next sweep', async () => {
  const real = count;
  count = () => Promise.reject(new Error('The database went away.'));
  await expect(sweep()).rejects.toThrow('went away');
  expect(told).toEqual([]);
  count = real;
  expect(await sweep()).toBe(0);
});
