// Reading and accepting while somebody is away: the workers, the engine, or both; and reading what
// the engine has long forgotten. This file stops its engine, so it has one of its own.

import { Client, Connection } from '@temporalio/client';
import { type Service, textTask } from '../support/service';
import { until } from '../support/until';
import { type OwnEngine, startOwnEngine, testEngineAway } from './engine-away';

let own: OwnEngine;
let service: Service;
beforeAll(async () => {
  own = await startOwnEngine();
  ({ service } = own);
});
afterAll(() => own?.close());

const get = (id: string) => service.call('GET', `/v1/videos/generations/${id}`);

async function running(id: string): Promise<void> {
  await until('it runs', async () => (await get(id)).json.status === 'running');
}

test('with all workers down, live and finished tasks are read from their rows', async () => {
  const done = (await service.create(textTask())).json.id;
  await service.finished(done);
  const live = (await service.create(textTask({ run_s: 600 }))).json.id;
  await running(live);
  await service.stopWorker();
  // An answer of the workflow's own may be shared for up to a second.
  await until('the row answers', async () => {
    const { json, headers } = await get(live);
    expect(json.status).toBe('running');
    return headers.get('x-answered-by') === 'row';
  });
  expect((await get(done)).json.status).toBe('succeeded');
  await service.startWorker();
  await service.call('DELETE', `/v1/videos/generations/${live}`);
  await service.finished(live);
});

test('a task nobody confirms in time is pending, and is finished when a worker is back', async () => {
  await service.stopWorker();
  const key = { 'idempotency-key': 'while-away' };
  const created = await service.create(textTask(), key);
  expect([created.status, created.json.status]).toEqual([200, 'pending']);
  const { id } = created.json;
  const read = await get(id);
  expect([read.json.status, read.headers.get('x-answered-by')]).toEqual(['pending', 'engine']);
  const again = await service.create(textTask(), key);
  expect([again.json.id, again.json.status]).toEqual([id, 'pending']);
  const stranger = await service.anAccount();
  const foreign = await service.call('GET', `/v1/videos/generations/${id}`, undefined, {
    authorization: `Bearer ${stranger.apiKey}`,
  });
  expect(foreign.status).toBe(404);
  await service.startWorker();
  expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
});

test('a pending task that turns out unaffordable ends failed, free, and is told so', async () => {
  const account = await service.anAccount(6_000_000);
  const headers = { authorization: `Bearer ${account.apiKey}` };
  await service.stopWorker();
  // Each is affordable alone, the two together are not.
  const ids: string[] = [];
  for (let n = 0; n < 2; n += 1) ids.push((await service.create(textTask(), headers)).json.id);
  await service.startWorker();
  const ends: string[] = [];
  for (const id of ids) {
    await until('it is final', async () => {
      const { json } = await service.call(
        'GET',
        `/v1/videos/generations/${id}`,
        undefined,
        headers,
      );
      if (json.status !== 'succeeded' && json.status !== 'failed') return false;
      ends.push(json.status);
      return true;
    });
  }
  expect(ends.sort()).toEqual(['failed', 'succeeded']);
});

test('what the engine has forgotten is still read, and cannot be cancelled', async () => {
  const { id } = (await service.create(textTask())).json;
  const before = await service.finished(id);
  const connection = await Connection.connect({ address: own.address() });
  const client = new Client({ connection });
  await client.workflow.getHandle(id).result();
  await client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: id },
  });
  const forgotten = () =>
    client.workflow
      .getHandle(id)
      .describe()
      .then(
        () => false,
        () => true,
      );
  await until('the engine has forgotten it', forgotten, 120_000);
  await connection.close();
  expect((await get(id)).json).toEqual(before);
  const cancelled = await service.call('DELETE', `/v1/videos/generations/${id}`);
  expect(cancelled.status).toBe(409);
  // The engine deletes in its own time.
}, 180_000);

testEngineAway(() => own, { rounds: 1, awayMs: 0 });
