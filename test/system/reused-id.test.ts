// Tests a create whose task id belongs to the workflow of an earlier create. The earlier create was
// refused or withdrawn, and its workflow is not closed yet.

import { taskIdForKey } from '../../src/db/ids';
import { findTask } from '../../src/db/tasks';
import { startTask } from '../../src/temporal/submit-task';
import { anEnhancedPlan, aTaskInput } from '../support/builders';
import { type Service, startService, textTask } from '../support/service';
import { connectTemporal } from '../support/temporal';
import { until } from '../support/until';
import { allSucceed } from './temporal-away';

let service: Service;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
beforeAll(async () => {
  temporal = await connectTemporal();
  service = await startService({ withoutWorker: true });
});
afterAll(async () => {
  await service?.close();
  await temporal?.close();
});

test('a task runs in a new workflow if an earlier create with its idempotency key was refused', async () => {
  const { accountId, db, taskQueue } = service;
  const taskId = taskIdForKey(accountId, 'again');
  const createdAtMs = Date.now() - 60_000;
  const earlier = aTaskInput({ accountId, taskId, plan: anEnhancedPlan(), createdAtMs });
  await startTask(temporal.client, taskQueue, earlier);
  const creating = service.create(textTask(), { 'idempotency-key': 'again' });
  await until('it is stored', async () => (await findTask(db, taskId)) !== null);
  await service.startWorker();
  const { status, json } = await creating;
  expect([status, json.id, json.status]).toEqual([200, taskId, 'pending']);
  await allSucceed(service, [taskId]);
});
