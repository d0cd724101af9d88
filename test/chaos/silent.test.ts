// The connections of real processes to PostgreSQL fall silent for good. Each caller is answered
// again, the end of a job is noticed, and a worker without a database loses its watchers.

import { until } from '../support/until';
import { brokenPromises } from './checker';
import { startTask } from './client';
import { startWorld, type World } from './world';

// The limits are the promised times. A busy machine gets four times as long.
const answeredWithinMs = 10_000;
const seenWithinMs = 30_000;
const margin = 4;

let world: World;
beforeAll(async () => {
  world = await startWorld({ sharesServers: true, apis: 1, workers: 1 });
});
afterAll(() => world?.close());

async function answerMs(path: string, init: RequestInit = {}): Promise<number> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(answeredWithinMs * margin);
  const reply = await fetch(`${world.apis[0]}${path}`, { ...init, headers, signal });
  await reply.text();
  expect([200, 404, 503]).toContain(reply.status);
  return performance.now() - startedAt;
}

const statusOf = async (path: string) => (await fetch(`${world.apis[0]}${path}`)).status;

/** Milliseconds since the last round of a watcher, for the channel with the oldest round. */
async function silenceMs(): Promise<number> {
  const { rows } = await world.db.raw<{ rows: { silent: number }[] }>(
    `select max(extract(epoch from now() - ran_at) * 1000)::float8 as silent from loops where kind = 'watcher'`,
  );
  return rows[0]?.silent ?? Number.POSITIVE_INFINITY;
}

const fallSilent = (name: 'api to postgres' | 'worker to postgres') => {
  world.links[name].break('falls silent for good');
};

test('if the connections of an API to PostgreSQL fall silent, /readyz is a 503, and callers get answers again afterwards', async () => {
  const link = world.links['api to postgres'];
  const reads = () => Array.from({ length: 40 }, (_, n) => answerMs(`/v1/account?${n}`));
  await Promise.all(reads());
  fallSilent('api to postgres');
  await until('the API is not ready', async () => (await statusOf('/readyz')) === 503);
  link.mend();
  const first = await Promise.all([
    ...reads(),
    answerMs('/v1/videos/generations/task_01k9m3c5x8v2q4w6e8r0t2y4na', { method: 'DELETE' }),
  ]);
  expect(Math.max(...first)).toBeLessThan(answeredWithinMs * margin);
  await until('the API is ready again', async () => (await statusOf('/readyz')) === 200);
  expect(link.fired).toBeGreaterThan(0);
});

test('the end of a job is noticed although all connections of its worker to PostgreSQL fell silent', async () => {
  const task = startTask(world);
  await until('its job is open', async () => {
    const { rows } = await world.db.raw(`select 1 from jobs where state = 'open'`);
    return rows.length > 0;
  });
  fallSilent('worker to postgres');
  world.links['worker to postgres'].mend();
  await task.untilFinal(seenWithinMs * margin);
  expect(await brokenPromises(world, [task.entry])).toEqual([]);
}, 180_000);

test('the watchers of a worker without a database move to a healthy worker', async () => {
  const healthy = world.stack.another('worker-2', 'worker', {
    DATABASE_URL: world.workerDatabaseUrl,
  });
  await healthy.start();
  fallSilent('worker to postgres');
  const startedAt = performance.now();
  await until('the rounds have stopped', async () => (await silenceMs()) > 4_000);
  await until('rounds are made again', async () => (await silenceMs()) < 2_000, 120_000);
  expect(performance.now() - startedAt).toBeLessThan(seenWithinMs * margin);
  world.links['worker to postgres'].mend();
}, 180_000);
