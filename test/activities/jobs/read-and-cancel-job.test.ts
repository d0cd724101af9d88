// These tests read or cancel a single job, as a workflow and the reconciler do. Regular polling is
// in watch-channel.test.ts.

import { setTimeout as pause } from 'node:timers/promises';
import { createFollowActivities } from '../../../activities/jobs/read-and-cancel-job';
import type { Provider } from '../../../activities/providers/provider';
import type { Channel } from '../../../src/catalogue/catalogue.rules';
import type { JobInput, RequestedJob } from '../../../src/jobs/job.rules';
import { listedAfterMs } from '../../../src/jobs/placing.rules';
import { findJob } from '../../../src/jobs/queries.rows';
import { takeSlot } from '../../../src/jobs/slots.rows';
import { storeOpened } from '../../../src/jobs/steps.rows';
import { findTask } from '../../../src/tasks/tasks.rows';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { type Liar, startLiar } from '../../support/liar';
import { until } from '../../support/until';
import { startUpstream, type Upstream } from '../../support/upstream';

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

async function placed(script: object): Promise<JobInput> {
  const input = await upstream.input(script);
  await upstream.attempt(input);
  return input;
}

const readJob = (input: JobInput) => createFollowActivities(upstream.deps).readJob(input);
const cancelJob = (input: JobInput) => createFollowActivities(upstream.deps).cancelJob(input);

test('the final report of a job is stored, and later reads need no request', async () => {
  const input = await placed({ run_s: 0 });
  await until('it has ended', async () => (await readJob(input))?.status === 'succeeded');
  const asked = liar.exchanges.length;
  liar.lie = () => ({ status: 500, body: '' });
  expect(await readJob(input)).toMatchObject({ status: 'succeeded', result: {} });
  expect(liar.exchanges).toHaveLength(asked);
});

test('a running job is stored, so that its task is shown as running, before the report is returned', async () => {
  const input = await placed({ run_s: 600 });
  await until('it runs', async () => (await readJob(input))?.status === 'running');
  const task = await findTask(database.db, input.taskId);
  expect(task).toMatchObject({ status: 'running', live: { stage: 'generation' } });
});

test('reading or cancelling a job that was never sent does nothing', async () => {
  expect(await readJob(await upstream.input())).toBeNull();
  await expect(cancelJob(await upstream.input())).resolves.toBeUndefined();
});

test('reading a job returns no report for an unknown status, and throws a fault if the provider fails', async () => {
  const input = await placed({ run_s: 600 });
  liar.lie = ({ method }) => (method === 'GET' ? { body: '{"id":"x","status":"almost"}' } : null);
  expect(await readJob(input)).toBeNull();
  liar.lie = () => ({ status: 503, body: '' });
  await expect(readJob(input)).rejects.toMatchObject({ name: 'UpstreamFault' });
  expect(upstream.events).toContainEqual({
    name: 'upstream',
    args: [
      expect.objectContaining({
        channel: 'studio',
        operation: 'read',
        outcome: 'ambiguous',
        taskId: input.taskId,
      }),
    ],
  });
});

test('a cancel that the provider does not accept fails and can be retried', async () => {
  const input = await placed({ queue_s: 600 });
  liar.lie = ({ method }) => (method === 'DELETE' ? { status: 500, body: '' } : null);
  await expect(cancelJob(input)).rejects.toMatchObject({ type: 'CancelNotTaken' });
  liar.lie = () => null;
  await cancelJob(input);
  expect(await findJob(database.db, input)).toMatchObject({ state: 'closed', cancel: null });
});

test('a job whose read fails is cancelled all the same, and its cost is known to be unknown', async () => {
  const input = await placed({ queue_s: 600 });
  liar.lie = ({ method }) => (method === 'GET' ? { status: 500, body: '' } : null);
  await cancelJob(input);
  // It may have run, although its row says that it was queued.
  const stored = database.db('jobs').where({ task_id: input.taskId });
  expect(await stored.first('state', 'status')).toEqual({ state: 'closed', status: 'running' });
  liar.lie = () => null;
  expect(await readJob(input)).toMatchObject({ status: 'cancelled' });
});

const studio = { channel: 'studio', upstreamModel: 'studio-2.0' };

test('a cancel during a create is retried until the job is accepted and can be cancelled', async () => {
  const input = await upstream.input({ queue_s: 600 });
  await takeSlot(database.db, input, { ...studio, repeatable: true }, null, 'first');
  await expect(cancelJob(input)).rejects.toMatchObject({ type: 'StillOnItsWay' });
  expect((await upstream.attempt(input)).outcome).toBe('open');
  await cancelJob(input);
  await until('it is cancelled', async () => (await readJob(input))?.status === 'cancelled');
});

const endAnHourAgo = (taskId: string) =>
  database.db.raw(
    `update tasks set object = '{}', finished_at = now() - interval '1 hour' where id = ?`,
    [taskId],
  );

test('a cancel stops looking for a lost create when the provider can no longer answer the create', async () => {
  const input = await upstream.input();
  await takeSlot(database.db, input, studio, null, 'first');
  await endAnHourAgo(input.taskId);
  await expect(cancelJob(input)).resolves.toBeUndefined();
});

describe('a cancel that looks for a lost create while its provider is slow to answer the list', () => {
  /** The task has failed. What `meanwhile` does, the list does not show. */
  async function cancelOf(
    endedAgoMs: number,
    meanwhile: (input: RequestedJob, provider: Provider) => Promise<unknown>,
  ) {
    const input = await upstream.input({ queue_s: 600 });
    const { taskId } = input;
    await takeSlot(database.db, input, studio, null, 'first');
    await database.db.raw(
      `update tasks set object = '{}', finished_at = now() - make_interval(secs => ?) where id = ?`,
      [endedAgoMs / 1_000, taskId],
    );
    await database.db.raw(
      `update jobs set state = 'closed', owes = 'cancel', due_at = now() where task_id = ?`,
      [taskId],
    );
    const { find, ...rest } = upstream.deps.channels;
    const { provider, ...known } = find('studio')!;
    const slow: Provider = {
      ...provider,
      async list(...given) {
        const listed = await provider.list(...given);
        await meanwhile(input, provider);
        return listed;
      },
    };
    const channels = { ...rest, find: () => ({ ...known, provider: slow }) };
    const { cancelJob: cancel } = createFollowActivities({ ...upstream.deps, channels });
    return { input, done: cancel(input) };
  }

  test('does not take the list for a proof if the create could still arrive when it was made', async () => {
    const { channel } = upstream.deps.channels.find('studio')!;
    const { input, done } = await cancelOf(
      listedAfterMs(channel) - 1_000,
      async (job, provider) => {
        await provider.create({ ...job, secondsLeft: 600 }, studio.upstreamModel);
        await pause(1_500);
      },
    );
    await expect(done).rejects.toMatchObject({ type: 'StillOnItsWay' });
    expect(await findJob(database.db, input)).toMatchObject({ upstreamId: null, cancel: 'wanted' });
    await cancelJob(input);
    expect(await findJob(database.db, input)).toMatchObject({ cancel: null });
    expect(await upstream.accepted(input.taskId)).toBe(1);
  });

  test('leaves the cancel of a job whose id is stored meanwhile', async () => {
    const accepted = { channel: 'studio', upstreamId: 'cgt-late' };
    const { input, done } = await cancelOf(3_600_000, (job) =>
      storeOpened(database.db, job, accepted),
    );
    await done;
    expect(await findJob(database.db, input)).toMatchObject({
      ...{ state: 'closed', upstreamId: 'cgt-late', cancel: 'wanted' },
    });
  });
});

test('a cancel fails if this worker does not know the channel, as a read does, or if the lost job cannot be identified', async () => {
  const input = await placed({ queue_s: 600 });
  const channels = { ...upstream.deps.channels, find: () => undefined };
  const there = createFollowActivities({ ...upstream.deps, channels });
  await expect(there.cancelJob(input)).rejects.toMatchObject({ type: 'UnknownChannel' });
  // Another worker may know the channel, so the read is repeated.
  await expect(there.readJob(input)).rejects.toMatchObject({ type: 'UnknownChannel' });

  const lost = await upstream.input();
  await takeSlot(database.db, lost, studio, null, 'first');
  await endAnHourAgo(lost.taskId);
  const item = { id: 'cgt-unclear', seed: lost.plan.seed, created_at: 1_100_000_000 };
  liar.lie = () => ({ body: JSON.stringify({ items: [item], total: 1 }) });
  await expect(cancelJob(lost)).rejects.toMatchObject({ type: 'CancelNotTaken' });
});

test('a cancel does nothing if the provider refused the create', async () => {
  liar.lie = () => ({ status: 429, body: '{"error":{"code":"RateLimitExceeded"}}' });
  const input = await upstream.input();
  await expect(upstream.attempt(input)).rejects.toThrow();
  await expect(cancelJob(input)).resolves.toBeUndefined();
});
