// Each call here is one attempt to place a job at a studio that fails. These tests read what the
// workflow of the task is told about the attempt.

import type { WorkerDeps } from '../../../activities/deps';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  upstream = await startUpstream(database.db);
});
afterEach(() => upstream?.close());
afterAll(() => database?.drop());

const kind = 'generation';
const overloaded = { status: 429, code: 'ServerOverloaded', times: 1 };

test.each([
  ['is overloaded', overloaded, 'busy'],
  ['is down', { status: 503, code: 'ServiceUnavailable', times: 1 }, 'unavailable'],
  ['is out of credit', { status: 403, code: 'AccountOverdueError', times: 1 }, 'account'],
  ['loses the reply', { lose_reply: true, times: 1 }, 'no clear answer'],
])('if the provider %s, the workflow is told so', async (_, create, trouble) => {
  const input = await upstream.input({ create });
  await expect(upstream.attempt(input, {}, 3)).rejects.toThrow();
  expect(upstream.told).toEqual([{ kind, attempt: 3, trouble }]);
});

test('a fault of the service is told as such', async () => {
  const input = await upstream.input();
  const db = (() => {
    throw new Error('no database');
  }) as unknown as WorkerDeps['db'];
  await expect(upstream.attempt(input, { db })).rejects.toThrow();
  expect(upstream.told).toEqual([{ kind, attempt: 1, trouble: 'fault' }]);
});

test('the workflow is told of a success only after a failure', async () => {
  expect((await upstream.attempt(await upstream.input())).outcome).toBe('open');
  expect(upstream.told).toEqual([]);
  expect((await upstream.attempt(await upstream.input(), {}, 2)).outcome).toBe('open');
  expect(upstream.told).toEqual([{ kind, attempt: 2, trouble: null }]);
});

test('of the attempts of a long outage, few are told', async () => {
  const input = await upstream.input({ create: { ...overloaded, times: 100 } });
  for (let number = 1; number <= 66; number += 1) {
    const channels = { ...upstream.deps.channels, restMs: () => 1_000 };
    await expect(upstream.attempt(input, { channels }, number)).rejects.toThrow();
  }
  expect(upstream.told.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 32, 64]);
});

test('a job is placed although its workflow cannot be told', async () => {
  const input = await upstream.input({ create: overloaded });
  const withDeadline = () => Promise.reject(new Error('no Temporal'));
  const client = { withDeadline } as unknown as WorkerDeps['client'];
  await expect(upstream.attempt(input, { client })).rejects.toMatchObject({
    type: 'NoChannelAvailable',
  });
  expect((await upstream.attempt(input, { client }, 2)).outcome).toBe('open');
});
