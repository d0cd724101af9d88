// Tests the main calls of the API on a Temporal cluster. Also checks the search attributes and the
// schedules that the service creates in Temporal.

import { Client, Connection } from '@temporalio/client';
import { Webhook } from 'standardwebhooks';
import { brokenPromises, callbacksMissing } from '../chaos/checker';
import { finalWithinMs, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import type { World } from '../chaos/world';
import { call, type Reply, type TaskReply, textTask } from '../support/service';
import { until } from '../support/until';
import { openClusterWorld, openWithinMs } from './open';

let world: World;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  world = await openClusterWorld();
  connection = await Connection.connect({ address: world.stack.addresses.temporalAddress });
  client = new Client({ connection });
}, openWithinMs);
afterAll(async () => {
  await connection?.close();
  await world?.close();
}, openWithinMs);

const generations = '/v1/videos/generations';
let calls = 0;

/** Calls the APIs in turn. */
function ask(method: string, path: string, body?: unknown, headers = {}): Promise<Reply> {
  calls += 1;
  const api = world.apis[calls % world.apis.length] ?? '';
  return call(api, world.apiKey, method, path, body, headers);
}

async function finished(id: string): Promise<TaskReply> {
  let task: TaskReply;
  await until(`${id} is final`, async () => {
    task = (await ask('GET', `${generations}/${id}`, undefined, { prefer: 'wait=5' })).json;
    return task.status === 'succeeded' || task.status === 'failed';
  });
  return task;
}

test('a task with super-resolution succeeds, and its callback has the billed task', async () => {
  const metadata = {
    callback_url: world.callbackUrl,
    super_resolution_config: { resolution: '1080p' },
  };
  const created = await ask('POST', generations, textTask({}, { duration: 5, metadata }));
  expect(created.status).toBe(200);
  const task = await finished(created.json.id);
  expect(task).toMatchObject({
    status: 'succeeded',
    billing: { items: [{ kind: 'generation' }, { kind: 'super_resolution' }] },
  });
  await until('the callback arrived', () => world.receiver.received.length > 0);
  const [{ body, headers } = { body: '', headers: {} }] = world.receiver.received;
  const { webhookSecret } = world.stack.addresses;
  expect(new Webhook(webhookSecret).verify(body, headers as Record<string, string>)).toEqual(task);
});

test('a task cancelled by its caller costs nothing', async () => {
  const { json } = await ask('POST', generations, textTask({ queue_s: 600 }));
  const path = `${generations}/${json.id}`;
  await until('its workflow has opened it', async () =>
    ['submitted', 'running'].includes((await ask('GET', path)).json.status),
  );
  expect((await ask('DELETE', path)).status).toBe(200);
  expect(await finished(json.id)).toMatchObject({
    status: 'failed',
    error: { code: 'task_error' },
    billing: { charged: '0.000000' },
  });
});

test('ten equal calls with one Idempotency-Key create one task', async () => {
  const headers = { 'idempotency-key': 'order-1' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => ask('POST', generations, textTask(), headers)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
  await finished(answers[0]?.json.id);
});

test('a GET of an unfinished task returns its current status', async () => {
  const { json } = await ask('POST', generations, textTask({ run_s: 2 }));
  const { json: task } = await ask('GET', `${generations}/${json.id}`);
  expect(['submitted', 'running']).toContain(task.status);
  expect((await finished(json.id)).status).toBe('succeeded');
});

test('Temporal finds the workflows of an account by their search attributes', async () => {
  const found = async () => {
    const query = `AccountId = '${world.accountId}' and TaskStatus = 'succeeded'`;
    return (await client.workflow.count(query)).count;
  };
  // Temporal updates its visibility store shortly after a workflow ends.
  await until('the succeeded tasks are listed', async () => (await found()) === 3);
});

test('the schedules of the reconciler and the audit run', async () => {
  for (const id of ['reconcile:video', 'audit:video']) {
    const ran = async () => {
      const { info } = await client.schedule.getHandle(id).describe();
      return info.recentActions.length > 0;
    };
    await until(`${id} has run`, ran);
  }
});

test('of 1,000 tasks on a cluster none is lost, made twice or charged wrongly', async () => {
  const { random } = seedOf();
  const before = await world.db('tasks').select('id');
  const accepted = before.map(({ id }: { id: string }) => ({
    ...{ key: id, callback: false, outcome: 'ok' as const, id, seen: [] },
  }));
  const crowd = startCrowd(world, { posts: 1_000, clients: 32, random });
  await crowd.done;
  expect(crowd.accepted()).toBe(1_000);
  await crowd.untilAllFinal(finalWithinMs);
  expect(await brokenPromises(world, [...accepted, ...crowd.creates])).toEqual([]);
  const arrived = () => callbacksMissing(world, crowd.creates).length === 0;
  await until('every callback has arrived', arrived);
  expect(await world.unexplained()).toEqual([]);
}, 900_000);
