// The reconciler finds tasks that no workflow will finish. Their workflow was terminated or lost,
// its code fails, or the task is long past its deadline. A Temporal Schedule starts the reconciler,
// as in production.

import { MockActivityEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createTaskActivities } from '../../activities';
import { createReconcileActivities } from '../../activities/reconcile/reconcile';
import { audit } from '../../src/money/audit.rows';
import type { ReconcileReport } from '../../workflows/messages';
import { heldMicros, storePending } from '../support/books';
import { aRequest, aTaskInput } from '../support/builders';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { bundleWith } from '../support/planted-bundle';
import { cancelTask, type Service, startService, textTask } from '../support/service';
import { connectTemporal, temporalAddress } from '../support/temporal';
import { until } from '../support/until';
import { startUpstream } from '../support/upstream';

let service: Service;
let sink: CallbackSink;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
beforeAll(async () => {
  temporal = await connectTemporal();
  sink = await startCallbackSink();
  service = await startService({ allowHosts: [sink.hostPort], reconcileIntervalSeconds: 1 });
});
afterEach(async () => {
  expect((await audit(service.db)).differences).toEqual([]);
  expect(await heldMicros(service.db)).toBe(0);
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await temporal?.close();
});

const waiting = () =>
  textTask({ queue_s: 600 }, { metadata: { callback_url: `${sink.url}/${Math.random()}` } });

const refunded = {
  status: 'failed',
  error: { code: 'task_error', message: 'The task was stopped by the service.' },
  billing: { charged: '0.000000' },
};

async function calledBack(id: string): Promise<void> {
  await until('its callback arrived', () => sink.received.some(({ body }) => body.includes(id)));
}

test('a task with a terminated workflow is closed and refunded, its callback arrives, and its job is cancelled', async () => {
  const { json } = await service.create(waiting());
  await jobIsOpen(json.id);
  await temporal.client.workflow.getHandle(json.id).terminate('by hand');
  const task = await service.finished(json.id);
  expect(task).toMatchObject(refunded);
  expect(task.billing.refunded).toBe(task.billing.held);
  await calledBack(json.id);
  await until('its job is cancelled', async () => (await studioStatus(json.id)) === 'cancelled');
});

test('a task whose workflow does not exist in Temporal is closed and refunded', async () => {
  const createdAtMs = Date.now() - 60_000;
  const input = aTaskInput({ accountId: service.accountId, createdAtMs });
  const { openTask } = createTaskActivities((await idleDeps()).deps);
  await storePending(service.db, input);
  await openTask(input);
  await until('the reconciler closed it', async () => {
    const { rows } = await service.db.raw<{ rows: { status: string }[] }>(
      'select status from tasks where id = ?',
      [input.taskId],
    );
    return rows[0]?.status === 'failed';
  });
});

test('the audit has its own Temporal Schedule, which first runs at the start of the worker', async () => {
  const audits = () => service.events.filter(({ name }) => name === 'audited');
  await until('the first audit', () => audits().length > 0);
  expect(audits()[0]?.args).toEqual([[]]);
  await service.db.raw('update balances set available = available + 1');
  await temporal.client.schedule.getHandle(`audit:${service.taskQueue}`).trigger();
  await until('the second audit', () => audits().length > 1);
  expect(audits()[1]?.args).toEqual([
    [expect.objectContaining({ check: expect.stringContaining('sums') })],
  ]);
  await service.db.raw('update balances set available = available - 1');
});

test('the reconciler reports an unreadable task row and continues with the other tasks', async () => {
  const unreadable = aTaskInput().taskId;
  await service.db.raw(
    `insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, hold_micros,
                        created_at, deadline_at)
     values (?, ?, 'm', '{}', '{}', 'h', 't', 0, now() - interval '1 min', now())`,
    [unreadable, service.accountId],
  );
  const { json } = await service.create(waiting());
  await temporal.client.workflow.getHandle(json.id).terminate('by hand');
  expect(await service.finished(json.id)).toMatchObject(refunded);
  await until('it is reported', () =>
    service.events.some(({ name, args }) => {
      return name === 'finding' && args[0] === 'unreadable' && args[1] === unreadable;
    }),
  );
  await service.db.raw('delete from tasks where id = ?', [unreadable]);
});

test('an open task that is more than five minutes past its deadline is closed as expired', async () => {
  const { json } = await service.create(waiting());
  await service.db.raw(`update tasks set deadline_at = now() - interval '6 min' where id = ?`, [
    json.id,
  ]);
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    error: { code: 'task_error', message: expect.stringContaining('expired after') },
    billing: { charged: '0.000000' },
  });
  await calledBack(json.id);
  const { status } = await temporal.client.workflow.getHandle(json.id).describe();
  expect(status.name).toBe('TERMINATED');
});

test('a pending task expires at its deadline without a charge, and its callback arrives', async () => {
  const { accountId, db } = service;
  const past = { createdAtMs: Date.now() - 60_000, deadlineAtMs: Date.now() - 1_000 };
  const input = aTaskInput({ accountId, ...past });
  const request = aRequest({ metadata: { callback_url: `${sink.url}/${Math.random()}` } });
  await storePending(db, input, { request, isDue: true });
  expect(await service.finished(input.taskId)).toMatchObject({
    status: 'failed',
    error: { code: 'task_error', message: expect.stringContaining('expired after') },
  });
  await calledBack(input.taskId);
  expect(await db('transfers').where({ task_id: input.taskId })).toEqual([]);
});

test('a workflow whose workflow tasks no worker takes, or keep failing, is reported, and its task is not closed', async () => {
  const { json } = await service.create(textTask({ run_s: 600 }));
  await jobIsOpen(json.id);
  await service.stopWorker();
  const idle = await idleDeps();
  await service.db.raw(`update tasks set created_at = now() - interval '1 min' where id = ?`, [
    json.id,
  ]);
  const later = createReconcileActivities({
    ...idle.deps,
    client: temporal.client,
    now: () => Date.now() + 16 * 60_000,
  });
  // The worker that has stopped may have taken the workflow task of the signal.
  await until('the reconciler reports that no worker takes it', async () => {
    await temporal.client.workflow.getHandle(json.id).signal('job', {});
    const untaken = await new MockActivityEnvironment().run(later.reconcileOnce);
    expect(untaken).toMatchObject({ closed: [] });
    return (untaken as ReconcileReport).stuck.includes(json.id);
  });
  expect(idle.events).toContainEqual({
    name: 'finding',
    args: ['stuck', json.id, 'no worker takes its workflow tasks'],
  });
  const unable = await startUnableWorker();
  try {
    const { reconcileOnce } = createReconcileActivities({
      ...idle.deps,
      client: temporal.client,
    });
    await until(
      'the reconciler reports it',
      async () => {
        const report = (await new MockActivityEnvironment().run(reconcileOnce)) as ReconcileReport;
        expect(report).toMatchObject({ closed: [] });
        return report.stuck.includes(json.id);
      },
      120_000,
    );
    expect(idle.events).toContainEqual({
      name: 'finding',
      args: ['stuck', json.id, 'its workflow tasks keep failing'],
    });
  } finally {
    await unable.stop();
    await idle.close();
    await service.startWorker();
  }
  // After a worker with the right code has started, the task can end.
  await cancelTask(service.call, json.id);
  expect((await service.finished(json.id)).status).toBe('failed');
  // The time limit is long, because Temporal takes half a minute for four attempts.
}, 240_000);

/** The parts that activities need, on the service's database. The test calls these activities. */
const idleDeps = () => startUpstream(service.db);

/** As after a bad deploy, each workflow task of a task fails at this worker. */
async function startUnableWorker() {
  const connection = await NativeConnection.connect({ address: temporalAddress() });
  const worker = await Worker.create({
    connection,
    taskQueue: service.taskQueue,
    workflowBundle: bundleWith({
      generateVideo: `throw new Error('This code cannot run this task.');`,
      // The schedule may start the reconciler during the test.
      reconcile: 'return null;',
    }),
  });
  const running = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

async function jobIsOpen(taskId: string): Promise<void> {
  await until('its job is open', async () => {
    const { rows } = await service.db.raw<{ rows: unknown[] }>(
      `select 1 from jobs where task_id = ? and state = 'open'`,
      [taskId],
    );
    return rows.length === 1;
  });
}

async function studioStatus(taskId: string): Promise<string | undefined> {
  const { rows } = await service.db.raw<{ rows: { id: string }[] }>(
    'select upstream_id as id from jobs where task_id = ?',
    [taskId],
  );
  const url = `${service.studio.url}/api/v3/contents/generations/tasks/${rows[0]?.id}`;
  const reply = await fetch(url, { headers: { authorization: 'Bearer studio-key-for-tests' } });
  return ((await reply.json()) as { status?: string }).status;
}
