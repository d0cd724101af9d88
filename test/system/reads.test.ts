// Tests which source answers a read: the workflow of a live task, or the row of the task.

import { setTimeout } from 'node:timers/promises';
import { taskSchema } from '../../src/contract/reply-schema';
import { type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';
import { testReads } from './reads';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

const get = async (id: string) => {
  const { json, headers } = await service.call('GET', `/v1/videos/generations/${id}`);
  return { task: taskSchema.parse(json), by: headers.get('x-answered-by') };
};

test('the workflow answers reads of its live task; the row answers without a worker, and after the end', async () => {
  const { id } = (await service.create(textTask({ run_s: 600 }))).json;
  await until('the workflow answers that the task runs', async () => {
    const { task, by } = await get(id);
    return task.status === 'running' && by === 'workflow';
  });
  await service.stopWorker();
  await setTimeout(1_000); // Until then, reads may share the last answer.
  const began = performance.now();
  expect(await get(id)).toMatchObject({ task: { status: 'running' }, by: 'row' });
  expect(performance.now() - began).toBeLessThan(2_000);
  await service.startWorker();
  await service.call('DELETE', `/v1/videos/generations/${id}`);
  await service.finished(id);
  expect(await get(id)).toMatchObject({ task: { status: 'failed' }, by: 'row' });
});

test('the message of a task says why no provider has its job yet', async () => {
  const down = { status: 503, code: 'ServiceUnavailable', times: 3 };
  const { id } = (await service.create(textTask({ run_s: 600, create: down }))).json;
  await until('it names a failed attempt', async () =>
    /attempt [1-3]/.test((await get(id)).task.message),
  );
  await until('the job runs', async () => (await get(id)).task.status === 'running');
  expect((await get(id)).task.message).not.toContain('attempt');
});

testReads(() => service, { rounds: 1 });
