// Tests the workflows that only run one activity: the watcher, the reconciler and the audit. The
// watcher continues as new after each activity.

import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { workflowNames } from '../../workflows/messages';
import { coveredWorkflows } from '../support/coverage';
import { realEnvironment } from '../support/temporal';

const workflows = coveredWorkflows();
const taskQueue = `loops-${randomUUID()}`;
let env: TestWorkflowEnvironment;
beforeAll(async () => {
  env = await realEnvironment();
});
afterAll(() => env?.teardown());

async function run<T>(activities: object, type: string, ...args: object[]): Promise<T> {
  const workflowId = `loop-${randomUUID()}`;
  const connection = env.nativeConnection;
  const worker = await Worker.create({ ...workflows, connection, taskQueue });
  const loops = { connection, taskQueue: `${taskQueue}-loops`, activities };
  const activityWorker = await Worker.create(loops);
  return activityWorker.runUntil(
    worker.runUntil(async () => {
      const handle = await env.client.workflow.start(type, { workflowId, taskQueue, args });
      return (await handle.result()) as T;
    }),
  );
}

const watch = { channel: 'studio' };

test('a watcher continues as new until its channel is removed', async () => {
  let rounds = 0;
  const watchJobs = async () => {
    rounds += 1;
    return rounds < 3 ? 'go on' : 'gone';
  };
  await run({ watchJobs }, workflowNames.watchChannel, watch);
  expect(rounds).toBe(3);
});

test('a watcher whose worker stops is continued by the next attempt of its activity', async () => {
  let rounds = 0;
  const watchJobs = async () => {
    rounds += 1;
    if (rounds === 1) throw new Error('This worker is stopping.');
    return 'gone';
  };
  await run({ watchJobs }, workflowNames.watchChannel, watch);
  expect(rounds).toBe(2);
});

test('the workflow of the reconciler returns the report of the reconciler', async () => {
  const report = { checked: 3, closed: ['task_a'], stopped: [], stuck: [] };
  const result = await run({ reconcileOnce: async () => report }, workflowNames.reconcile);
  expect(result).toEqual(report);
});

test('the workflow of the audit returns the number of differences', async () => {
  const report = { differences: 2 };
  const result = await run({ auditBooks: async () => report }, workflowNames.audit);
  expect(result).toEqual(report);
});

test('the workflow of the usage returns the time zone of the days', async () => {
  const report = { zone: 'Europe/Berlin' };
  const result = await run({ rollUpUsage: async () => report }, workflowNames.usage);
  expect(result).toEqual(report);
});
