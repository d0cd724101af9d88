// Tests of the queue position that GET shows for a task that is pending or waits for a slot.

import { taskSchema } from '../../src/contract/reply-schema';
import { giveTurns, takeSlot } from '../../src/db/jobs/slots';
import { waitForTurn } from '../../src/db/jobs/steps';
import { failPending } from '../../src/db/pending-tasks';
import { taskObject } from '../../src/domain/task';
import { create, startApi, type TestApi } from '../support/api';
import { storePending } from '../support/books';
import { aJobInput, aTaskInput } from '../support/builders';
import { call } from '../support/service';
import { insertTaskRow, planJob } from '../support/upstream';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(async () => {
  const { failures } = api;
  await api.close();
  expect(failures).toEqual([]);
});

async function aWaitingTask(accountId: string) {
  const order = aJobInput({ accountId });
  const { taskId: id } = order;
  await insertTaskRow(api.db, id);
  const known = { id, traceId: 't', model: 'm', createdAt: 1 };
  const object = JSON.stringify(taskObject(known, { status: 'submitted' }));
  await api.db('tasks').where({ id }).update({ account_id: accountId, object });
  await planJob(api.db, order);
  expect(await waitForTurn(api.db, order, ['full'])).toBe(true);
  return order;
}

const read = async (taskId: string) => (await api.call('GET', `${create}/${taskId}`)).json;

test('a task that waits for a slot shows its position among the waiting tasks of its account', async () => {
  const other = await api.anAccount();
  await aWaitingTask(other.accountId);
  const [first, second, third] = [
    await aWaitingTask(api.accountId),
    await aWaitingTask(api.accountId),
    await aWaitingTask(api.accountId),
  ];
  await aWaitingTask(other.accountId);
  const shown = await Promise.all([first, second, third].map(({ taskId }) => read(taskId)));
  expect(shown.map(({ queue }) => queue)).toEqual([
    { position: 1, ahead: 0 },
    { position: 2, ahead: 1 },
    { position: 3, ahead: 2 },
  ]);
  expect(taskSchema.safeParse(shown[0]).error).toBeUndefined();
  await giveTurns(api.db, 'full', null);
  await takeSlot(api.db, first, { channel: 'full', upstreamModel: 'm' }, null, 'first');
  const started = await read(first.taskId);
  expect(started.status).toBe('submitted');
  expect(started).not.toHaveProperty('queue');
  expect((await read(third.taskId)).queue).toEqual({ position: 2, ahead: 1 });
});

test('a pending task shows its position behind the tasks of its account that wait for a slot', async () => {
  const [mine, other] = [await api.anAccount(), await api.anAccount()];
  const aPendingTask = async (accountId: string, createdAtMs: number) => {
    const input = aTaskInput({ accountId, createdAtMs });
    await storePending(api.db, input, { answered: true });
    return input.taskId;
  };
  const shown = async (taskId: string) =>
    (await call(api.url, mine.apiKey, 'GET', `${create}/${taskId}`)).json;
  await aPendingTask(other.accountId, Date.now() - 3_000);
  const second = await aPendingTask(mine.accountId, Date.now() - 1_000);
  const first = await aPendingTask(mine.accountId, Date.now() - 2_000);
  expect((await shown(first)).queue).toEqual({ position: 1, ahead: 0 });
  await aWaitingTask(mine.accountId);
  await aWaitingTask(other.accountId);
  const tasks = await Promise.all([shown(second), shown(first)]);
  expect(tasks.map(({ status, queue }) => [status, queue])).toEqual([
    ['pending', { position: 3, ahead: 2 }],
    ['pending', { position: 2, ahead: 1 }],
  ]);
  expect(taskSchema.safeParse(tasks[0]).error).toBeUndefined();
  await failPending(api.db, first, 'cancelled');
  expect(await shown(first)).not.toHaveProperty('queue');
  expect((await shown(second)).queue).toEqual({ position: 2, ahead: 1 });
});
