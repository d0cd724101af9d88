// What no workflow will ever finish is found by the sweep: terminated tasks, tasks the engine has
// lost, live ones long past their deadline, and workflows whose code cannot run. The sweep is
// started by its Temporal Schedule, as in production.

import { resolve } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createTaskActivities } from '../../activities';
import { createSweepActivities } from '../../activities/sweep';
import { audit } from '../../src/db/ledger-audit';
import { noteUnknownStart } from '../../src/db/unknown-starts';
import { billing } from '../../src/domain/pricing';
import { taskObject } from '../../src/domain/task';
import type { SweepReport } from '../../workflows/messages';
import { heldMicros } from '../support/books';
import { aTaskInput } from '../support/builders';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type Service, startService, textTask } from '../support/service';
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

test('a terminated task is closed, refunded, called back and stopped upstream', async () => {
  const { json } = await service.create(waiting());
  await jobIsOpen(json.id);
  await temporal.client.workflow.getHandle(json.id).terminate('by hand');
  const task = await service.finished(json.id);
  expect(task).toMatchObject(refunded);
  expect(task.billing.refunded).toBe(task.billing.held);
  await calledBack(json.id);
  await until('its job is cancelled', async () => (await studioStatus(json.id)) === 'cancelled');
});

test('a task the engine has lost altogether is closed and refunded', async () => {
  const input = aTaskInput({ accountId: service.accountId });
  const { openTask } = createTaskActivities((await idleDeps()).deps);
  const identity = { id: input.taskId, traceId: 'lost', model: 'studio-2.0', createdAt: 1 };
  const object = taskObject(identity, {
    status: 'submitted',
    billing: billing(input.plan, { lines: [], final: false }),
  });
  const deadlineAtMs = Date.now() + 3_600_000;
  await openTask({ input, object, createdAtMs: Date.now() - 60_000, deadlineAtMs });
  await until('the sweep closed it', async () => {
    const { rows } = await service.db.raw<{ rows: { status: string }[] }>(
      'select status from tasks where id = ?',
      [input.taskId],
    );
    return rows[0]?.status === 'failed';
  });
});

test('a row that cannot be read is reported, and the sweep goes on with the others', async () => {
  const unreadable = aTaskInput().taskId;
  await service.db.raw(
    `insert into tasks (id, account_id, model, status, version, object, request, plan, request_hash,
                        trace_id, created_at, deadline_at)
     values (?, ?, 'm', 'submitted', 1, '{}', '{}', '{}', 'h', 't', now() - interval '1 min', now())`,
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

test('a start whose caller was told that nothing will be charged is cancelled', async () => {
  const { json } = await service.create(textTask({ queue_s: 600 }));
  const { memo } = await temporal.client.workflow.getHandle(json.id).describe();
  await service.db.raw(
    `insert into unknown_starts (task_id, nonce, noted_at) values (?, ?, now() - interval '1 min')`,
    [json.id, memo?.nonce],
  );
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    billing: { charged: '0.000000' },
  });
});

test('one that succeeds before it is cancelled costs nothing', async () => {
  const { json } = await service.create(textTask({ run_s: 1 }));
  const { memo } = await temporal.client.workflow.getHandle(json.id).describe();
  await noteUnknownStart(service.db, json.id, String(memo?.nonce));
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    billing: { charged: '0.000000' },
  });
});

test('a live task five minutes past its deadline is stopped, as expired', async () => {
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

test('a workflow whose tasks keep failing is reported and left alone', async () => {
  const { json } = await service.create(textTask({ run_s: 600 }));
  await jobIsOpen(json.id);
  await service.stopWorker();
  const unable = await startUnableWorker();
  const idle = await idleDeps();
  try {
    await temporal.client.workflow.getHandle(json.id).signal('job', {});
    await service.db.raw(`update tasks set created_at = now() - interval '1 min' where id = ?`, [
      json.id,
    ]);
    const { sweep } = createSweepActivities({
      ...idle.deps,
      client: temporal.client,
      taskQueue: service.taskQueue,
      ...createTaskActivities(idle.deps),
      ensureWatchers: async () => undefined,
      countAuditDifferences: async () => 0,
    });
    await until(
      'the sweep reports it',
      async () => {
        const report = (await new MockActivityEnvironment().run(sweep, {
          taskQueue: '',
        })) as SweepReport;
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
  // Code that can run it again takes it to its end.
  await service.call('DELETE', `/v1/videos/generations/${json.id}`);
  expect((await service.finished(json.id, 60_000)).status).toBe('failed');
  // The engine itself takes half a minute to try four times.
}, 240_000);

/** Activities on the service's database, for calls made by the test itself. */
const idleDeps = () => startUpstream(service.db);

async function startUnableWorker() {
  const connection = await NativeConnection.connect({ address: temporalAddress() });
  const worker = await Worker.create({
    connection,
    taskQueue: service.taskQueue,
    workflowsPath: resolve(__dirname, '../workflows/planted/unable.ts'),
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
