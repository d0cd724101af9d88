// Reading and accepting while somebody is away: the workers, the engine, or both; and reading what
// the engine has long forgotten. This file stops its engine, so it has one of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal';
import { findTemporal } from '../../src/embedded/temporal-binary';
import { searchAttributes } from '../../workflows/search-attributes';
import { type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';

let folder: string;
let engine: EmbeddedTemporal;
let service: Service;

async function startEngine(port?: number): Promise<EmbeddedTemporal> {
  const { path } = await findTemporal(process.env.TEMPORAL_CLI);
  return startTemporal({
    binary: path,
    ui: false,
    databaseFile: join(folder, 'temporal.db'),
    searchAttributes: searchAttributes.map(({ name }) => name),
    ...(port ? { port } : {}),
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-away-'));
  engine = await startEngine();
  service = await startService({ temporalAddress: engine.address, acceptTimeoutMs: 1_500 });
});
afterAll(async () => {
  await service?.close();
  await engine?.stop();
  await rm(folder, { recursive: true, force: true });
});

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
  const connection = await Connection.connect({ address: engine.address });
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

test('with the engine away, tasks are read, creates answer 503 with Retry-After, and all goes on after', async () => {
  const done = (await service.create(textTask())).json.id;
  const before = await service.finished(done);
  const live = (await service.create(textTask({ run_s: 2 }))).json.id;
  await running(live);
  const port = Number(engine.address.split(':')[1]);
  await engine.child.stop('SIGKILL', 1_000);

  expect((await get(done)).json).toEqual(before);
  expect((await get(live)).json.status).toBe('running');
  const refused = await service.create(textTask(), { 'idempotency-key': 'engine-away' });
  expect([refused.status, refused.json.error.code]).toEqual([503, 'unavailable']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);

  engine = await startEngine(port);
  expect(await service.finished(live, 60_000)).toMatchObject({ status: 'succeeded' });
  let retried = await service.create(textTask(), { 'idempotency-key': 'engine-away' });
  for (let n = 0; n < 40 && retried.status === 503; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    retried = await service.create(textTask(), { 'idempotency-key': 'engine-away' });
  }
  expect(retried.status).toBe(200);
  expect(await service.finished(retried.json.id, 60_000)).toMatchObject({ status: 'succeeded' });
}, 180_000);
