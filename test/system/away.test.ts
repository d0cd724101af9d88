// Tests reads and creates while the workers are down, and while Temporal is down. It also tests
// tasks that Temporal no longer has. This file stops Temporal, so it has a Temporal server of its
// own.

import { Client, Connection } from '@temporalio/client';
import type { TaskObject } from '../../src/contract/task';
import { audit } from '../../src/money/audit.rows';
import { creditAccount } from '../../src/money/ledger.rows';
import { findFunds } from '../support/funds';
import { cancelTask, type Service, textTask } from '../support/service';
import { sized } from '../support/sized';
import { until } from '../support/until';
import {
  createOver,
  type OwnTemporal,
  startOwnTemporal,
  testTemporalAway,
  testWorkersAway,
} from './temporal-away';

let own: OwnTemporal;
let service: Service;
beforeAll(async () => {
  own = await startOwnTemporal();
  ({ service } = own);
});
afterAll(() => own?.close());

const get = (id: string) => service.call('GET', `/v1/videos/generations/${id}`);

async function running(id: string): Promise<void> {
  await until('it runs', async () => (await get(id)).json.status === 'running');
}

test('if no worker runs, running and finished tasks can still be read', async () => {
  const done = (await service.create(textTask())).json.id;
  await service.finished(done);
  const live = (await service.create(textTask({ run_s: 600 }))).json.id;
  await running(live);
  await service.stopWorker();
  expect((await get(live)).json.status).toBe('running');
  expect((await get(done)).json.status).toBe('succeeded');
  await service.startWorker();
  await cancelTask(service.call, live);
  await service.finished(live);
});

test('a task waits as submitted while no worker opens it, and succeeds when a worker is back', async () => {
  await service.stopWorker();
  const key = { 'idempotency-key': 'while-away' };
  const created = await service.create(textTask(), key);
  expect([created.status, created.json.status]).toEqual([200, 'submitted']);
  const { id } = created.json;
  const waiting = (await get(id)).json;
  expect([waiting.status, waiting.billing]).toEqual(['submitted', undefined]);
  const again = await service.create(textTask(), key);
  expect([again.json.id, again.json.status]).toEqual([id, 'submitted']);
  const stranger = await service.anAccount();
  const foreign = await service.call('GET', `/v1/videos/generations/${id}`, undefined, {
    authorization: `Bearer ${stranger.apiKey}`,
  });
  expect(foreign.status).toBe(404);
  await service.startWorker();
  expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
});

testWorkersAway(
  () => own,
  sized({ each: { creates: 20, awayMs: 4_000 }, long: { creates: 1_200, awayMs: 60_000 } }),
);

test('a pending task fails without a charge if the balance is too low when the task is opened', async () => {
  const { accountId, apiKey } = await service.anAccount(1_000_000_000);
  const authorization = `Bearer ${apiKey}`;
  await service.stopWorker();
  const creates = sized({ each: 15, long: 100 });
  const ids = await createOver(service, creates, 0, () => ({ authorization }));
  const held = 5_009_400;
  const leaveForTen = 10 * held - 1_000_000_000;
  const correction = {
    accountId,
    reference: 'emptied',
    reason: 'test',
    kind: 'correction',
  } as const;
  await creditAccount(service.db, { ...correction, amountMicros: leaveForTen });
  await service.startWorker();
  const ended = `finished_at is not null and account_id = '${accountId}'`;
  await until('all have ended', async () => {
    const { rows } = await service.db.raw(
      `select count(*)::int as count from tasks where ${ended}`,
    );
    return rows[0].count === ids.length;
  });
  const { rows } = await service.db.raw<{ rows: { object: TaskObject }[] }>(
    `select object from tasks where ${ended} and status = 'failed'`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(creates - 11);
  for (const { object } of rows) {
    expect(object.error).toMatchObject({
      code: 'task_error',
      message: expect.stringContaining('only'),
    });
  }
  expect((await findFunds(service.db, accountId)).heldMicros).toBe(0);
  const { differences } = await audit(service.db);
  expect(differences).toEqual([]);
});

test('a finished task whose workflow Temporal has deleted can be read, but not cancelled', async () => {
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
  await until('Temporal has forgotten it', forgotten, 120_000);
  await connection.close();
  expect((await get(id)).json).toEqual(before);
  const cancelled = await service.call('DELETE', `/v1/videos/generations/${id}`);
  expect(cancelled.status).toBe(409);
  // The time limit is long, because Temporal deletes the workflow asynchronously.
}, 180_000);

const timesAway = sized({
  each: [{ rounds: 1, creates: 20, awayMs: 4_000 }],
  long: [
    { rounds: 5, creates: 20, awayMs: 5_000 },
    { rounds: 1, creates: 1_200, awayMs: 60_000 },
  ],
});
for (const size of timesAway) testTemporalAway(() => own, size);
