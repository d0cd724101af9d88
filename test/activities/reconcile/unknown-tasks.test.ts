// These tests are about open tasks that Temporal does not know. The reconciler closes a few of them
// at once. It closes many of them only after an operator has confirmed that Temporal lost them.

import type { Client } from '@temporalio/client';
import type { ActivityEvents } from '../../../activities/events';
import { createBillingActivities } from '../../../activities/money/billing';
import { endTask } from '../../../activities/reconcile/end-tasks';
import { billing } from '../../../src/planning/pricing.rules';
import { confirmLoss, findOpenRows } from '../../../src/tasks/reconcile.rows';
import { stoppedMessage, taskObject } from '../../../src/tasks/task.rules';
import { stopping } from '../../support/activity-settings';
import { heldMicros } from '../../support/books';
import { runReconciler, useRealTransactions } from '../../support/real-transactions';
import { inAnotherNamespace } from '../../support/temporal';
import { until } from '../../support/until';
import { beginMany, loseMany, type Orphan } from './orphans';

const transactions = useRealTransactions();
beforeEach(() => transactions().db.raw('update loops set loss_confirmed_until = null'));

type Finding = Parameters<ActivityEvents['finding']>;

/** The transactions, with a record of the reconciler's findings. */
function recording() {
  const findings: Finding[] = [];
  const events = new Proxy({} as ActivityEvents, {
    get:
      (_, name) =>
      (...finding: Finding) => {
        if (name === 'finding') findings.push(finding);
      },
  });
  return { db: transactions().db, events, findings };
}

const unknownFinding = (unknown: number, described: number): Finding => [
  'unknown_to_temporal',
  '',
  expect.stringContaining(` ${unknown} of ${described} `),
];

const idsOf = (orphans: readonly Orphan[]) => orphans.map(({ taskId }) => taskId).sort();

test('a reconciler with a wrong Temporal namespace closes and refunds no task', () =>
  transactions().open(async (world) => {
    const client = await inAnotherNamespace(world.env.connection);
    const alive = await beginMany(transactions(), world, 'alive', 5);
    const held = await heldMicros(transactions().db);
    const wrong = recording();
    for (let round = 0; round < 3; round += 1) {
      expect((await runReconciler(wrong, world, client)).closed).toEqual([]);
    }
    expect(wrong.findings).toEqual(Array.from({ length: 3 }, () => unknownFinding(5, 5)));
    expect(await heldMicros(transactions().db)).toBe(held);

    const right = recording();
    expect((await runReconciler(right, world)).closed).toEqual([]);
    expect(right.findings).toEqual([]);
    world.script.close = createBillingActivities(transactions()).closeTask;
    for (const { task } of alive) await task.cancel();
    for (const { task } of alive) expect((await task.result()).status).toBe('failed');
    expect(await heldMicros(transactions().db)).toBe(0);
  }));

test('if a slice of open tasks is not full after the last task, the reconciler adds the first tasks', () =>
  transactions().open(async (world) => {
    const lost = await loseMany(transactions(), 203);
    const { findings, ...rounds } = recording();
    for (let round = 0; round < 3; round += 1) {
      expect((await runReconciler(rounds, world)).closed).toEqual([]);
    }
    expect(findings).toEqual(Array.from({ length: 3 }, () => unknownFinding(200, 200)));

    await confirmLoss(transactions().db, 1);
    const closed = [
      ...(await runReconciler(transactions(), world)).closed,
      ...(await runReconciler(transactions(), world)).closed,
    ];
    expect(closed.sort()).toEqual(idsOf(lost));
    expect(await heldMicros(transactions().db)).toBe(0);
  }));

test('many lost tasks are closed only while an operator’s confirmation of the loss is valid', () =>
  transactions().open(async (world) => {
    const { db } = transactions();
    const first = await loseMany(transactions(), 6);
    expect((await runReconciler(transactions(), world)).closed).toEqual([]);
    await confirmLoss(db, 2);
    expect([...(await runReconciler(transactions(), world)).closed].sort()).toEqual(idsOf(first));

    await db.raw(`update loops set loss_confirmed_until = now() - interval '1 second'`);
    const later = await loseMany(transactions(), 6);
    const after = recording();
    expect((await runReconciler(after, world)).closed).toEqual([]);
    expect(after.findings).toEqual([unknownFinding(6, 6)]);
    await confirmLoss(db, 2);
    expect([...(await runReconciler(transactions(), world)).closed].sort()).toEqual(idsOf(later));
  }));

test('a few lost tasks are closed without a confirmation by an operator', () =>
  transactions().open(async (world) => {
    const lost = await loseMany(transactions(), 4);
    expect([...(await runReconciler(transactions(), world)).closed].sort()).toEqual(idsOf(lost));
    expect(await heldMicros(transactions().db)).toBe(0);
  }));

test('a workflow that Temporal can neither terminate nor describe does not stop the reconciler from ending other tasks', () =>
  transactions().open(async (world) => {
    const { findings, ...rounds } = recording();
    const ids = idsOf(await loseMany(transactions(), 3));
    const [broken = '', overdue = '', lost] = ids;
    await rounds.db.raw(
      `update tasks set deadline_at = now() - interval '10 minutes' where id = any(?)`,
      [[broken, overdue]],
    );
    const { client } = world.env;
    const workflow = Object.create(client.workflow) as Client['workflow'];
    workflow.getHandle = (...given) => {
      if (given[0] === broken) throw new Error('13 INTERNAL: the history is damaged');
      return client.workflow.getHandle(...given);
    };
    const faulty = Object.create(client, { workflow: { value: workflow } }) as Client;
    const report = await runReconciler(rounds, world, faulty);
    expect(report).toMatchObject({ stopped: [overdue], closed: [lost] });
    expect(findings).toEqual(
      expect.arrayContaining([
        ['stuck', broken, 'its workflow could not be terminated'],
        ['stuck', broken, 'its workflow could not be described'],
      ]),
    );
    await runReconciler(rounds, world);
    expect(await heldMicros(rounds.db)).toBe(0);
  }));

test('three workflows that Temporal cannot terminate do not block the refunds of other overdue tasks', () =>
  transactions().open(async (world) => {
    const { findings, ...rounds } = recording();
    const [healthy = '', ...broken] = idsOf(await loseMany(transactions(), 4));
    await rounds.db.raw(
      `update tasks set deadline_at = now() - interval '10 minutes' where id = any(?)`,
      [[healthy, ...broken]],
    );
    const { client } = world.env;
    const workflow = Object.create(client.workflow) as Client['workflow'];
    workflow.getHandle = (...given) => {
      if (broken.includes(given[0])) throw new Error('13 INTERNAL: the history is damaged');
      return client.workflow.getHandle(...given);
    };
    const faulty = Object.create(client, { workflow: { value: workflow } }) as Client;
    const status = async () => (await rounds.db('tasks').where({ id: healthy }).first()).status;
    // The order of the tasks is another one in each run.
    await until('it is ended', async () => {
      await runReconciler(rounds, world, faulty).catch(() => undefined);
      return (await status()) === 'failed';
    });
    expect(findings.length).toBeGreaterThan(0);
    await runReconciler(rounds, world);
    expect(await heldMicros(rounds.db)).toBe(0);
  }));

test('a task that the reconciler closes keeps its constant fields and shows the refund', () =>
  transactions().open(async (world) => {
    const { db, events } = transactions();
    const [{ taskId, plan }] = (await loseMany(transactions(), 1)) as [Orphan];
    const identity = {
      id: taskId,
      traceId: 't',
      model: 'm',
      createdAt: 7,
      labels: { b: '1', a: '2' },
    };
    const { traceId: trace_id, model, labels } = identity;
    const request = JSON.stringify({ metadata: { labels } });
    const created_at = new Date(identity.createdAt * 1_000);
    await db('tasks').where({ id: taskId }).update({ trace_id, model, request, created_at });
    const [row] = await findOpenRows(db, [taskId]);
    const { client } = world.env;
    const deps = { db, events, client, stopping, now: Date.now };
    expect(row && (await endTask(deps, row))).toBe(true);
    const { object } = await db('tasks').where({ id: taskId }).first(db.raw('object::text'));
    const closed = taskObject(identity, {
      status: 'failed',
      finishedAt: Math.floor((row?.nowMs ?? 0) / 1_000),
      error: { code: 'task_error', message: stoppedMessage },
      billing: billing(plan, { lines: [], final: true }),
    });
    const { timings, ...rest } = JSON.parse(object);
    expect(JSON.stringify(rest)).toBe(JSON.stringify(closed));
    expect(Object.keys(timings)).toEqual(['queued', 'placed']);
  }));

test('tasks whose workflow was terminated are closed without a confirmation, whatever their number', () =>
  transactions().open(async (world) => {
    const begun = await beginMany(transactions(), world, 'terminated', 6);
    for (const { task } of begun) await task.terminate();
    expect([...(await runReconciler(transactions(), world)).closed].sort()).toEqual(idsOf(begun));
    expect(await heldMicros(transactions().db)).toBe(0);
  }));
