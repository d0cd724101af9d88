// One look at one job, and asking for its end: at a deadline, at a cancel, by the sweep.

import { createFollowActivities } from '../../activities/follow';
import { markSending } from '../../src/db/jobs';
import type { Channel } from '../../src/domain/catalogue';
import type { JobOrder } from '../../workflows/messages';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { type Liar, startLiar } from '../support/liar';
import { until } from '../support/until';
import { startUpstream, type Upstream } from '../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
let liar: Liar;
beforeAll(async () => {
  database = await createTestDatabase();
  liar = await startLiar(() => upstream.studio.url);
  const through = (channel: Channel) => ({ ...channel, baseUrl: `${liar.url}/api/v3` });
  upstream = await startUpstream(database.db, (base) => [through(base)]);
});
afterEach(() => {
  liar.lie = () => null;
});
afterAll(async () => {
  await upstream?.close();
  await liar?.close();
  await database?.drop();
});

async function placed(script: object): Promise<JobOrder> {
  const order = await upstream.order(script);
  await upstream.attempt(order);
  return order;
}

const readJob = (order: JobOrder) => createFollowActivities(upstream.deps).readJob(order);
const cancelJob = (order: JobOrder) => createFollowActivities(upstream.deps).cancelJob(order);

test('a job that has ended is read to its end, and the row knows', async () => {
  const order = await placed({ run_s: 0 });
  await until('it has ended', async () => (await readJob(order))?.status === 'succeeded');
  const asked = liar.told.length;
  liar.lie = () => ({ status: 500, body: '' });
  expect(await readJob(order)).toMatchObject({ status: 'succeeded', result: {} });
  expect(liar.told).toHaveLength(asked);
});

test('a job that runs shows so on the task’s row before anybody hears of it', async () => {
  const order = await placed({ run_s: 600 });
  await until('it runs', async () => (await readJob(order))?.status === 'running');
  const { rows } = await database.db.raw<{ rows: { status: string; version: number }[] }>(
    'select status, version from tasks where id = ?',
    [order.taskId],
  );
  expect(rows[0]).toEqual({ status: 'running', version: 2 });
});

test('of a job that was never placed nothing can be said', async () => {
  expect(await readJob(await upstream.order())).toBeNull();
  await expect(cancelJob(await upstream.order())).resolves.toBeUndefined();
});

test('an unknown word says nothing; a service that does not answer is trouble', async () => {
  const order = await placed({ run_s: 600 });
  liar.lie = ({ method }) => (method === 'GET' ? { body: '{"id":"x","status":"almost"}' } : null);
  expect(await readJob(order)).toBeNull();
  liar.lie = () => ({ status: 503, body: '' });
  await expect(readJob(order)).rejects.toMatchObject({ name: 'UpstreamFault' });
  expect(upstream.events.some(({ args }) => args[1] === 'read' && args[2] !== 'ok')).toBe(true);
});

test('a cancel the service does not take is trouble, and is asked for again', async () => {
  const order = await placed({ queue_s: 600 });
  liar.lie = ({ method }) => (method === 'DELETE' ? { status: 500, body: '' } : null);
  await expect(cancelJob(order)).rejects.toMatchObject({ type: 'CancelNotTaken' });
  liar.lie = () => null;
  await expect(cancelJob(order)).resolves.toBeUndefined();
});

test('a cancel that meets a create on its way waits for it, and then stops its job', async () => {
  const order = await upstream.order({ queue_s: 600 });
  await markSending(database.db, order, { channel: 'studio', upstreamModel: 'studio-2.0' });
  await expect(cancelJob(order)).rejects.toMatchObject({ type: 'StillOnItsWay' });
  expect((await upstream.attempt(order)).outcome).toBe('accepted');
  await cancelJob(order);
  await until('it is cancelled', async () => (await readJob(order))?.status === 'cancelled');
});

test('a cancel looks for a create no longer than it could be answered', async () => {
  const order = await upstream.order();
  await markSending(database.db, order, { channel: 'studio', upstreamModel: 'studio-2.0' });
  await database.db.raw(`update tasks set finished_at = now() - interval '1 hour' where id = ?`, [
    order.taskId,
  ]);
  await expect(cancelJob(order)).resolves.toBeUndefined();
});

test('a cancel that meets a create nobody took has nothing to stop', async () => {
  liar.lie = () => ({ status: 429, body: '{"error":{"code":"RateLimitExceeded"}}' });
  const order = await upstream.order();
  await expect(upstream.attempt(order)).rejects.toThrow();
  await expect(cancelJob(order)).resolves.toBeUndefined();
});
