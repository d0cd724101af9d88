// Gives tests a Temporal server: the real one, which the whole run shares, or a new time-skipping
// one.

import { randomUUID } from 'node:crypto';
import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { addSearchAttributes } from '../../src/engine/setup';
import { workflowNames } from '../../workflows/messages';
import { searchAttributes } from '../../workflows/search-attributes';
import { required } from './database';
import { starting } from './starting';
import { until } from './until';

// Jest prints the log of a worker between the test results, so only errors are logged. The files of a
// jest worker share Temporal's core, so an earlier file may have installed it.
try {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
    shutdownSignals: [],
  });
} catch (error) {
  if (!(error instanceof IllegalStateError)) throw error;
}

export const temporalAddress = () => required('TEST_TEMPORAL_ADDRESS');

export function workflowBundle(): { readonly codePath: string } {
  return { codePath: required('TEST_WORKFLOW_BUNDLE') };
}

export const uniqueTaskQueue = () => `test-${randomUUID()}`;

/**
 * Ends the schedules of a service that is gone, and its open workflows except those of tasks. Otherwise
 * its watchers and its reconciler would occupy the Temporal of the run. What cannot be ended now ends
 * with the run. A task stays as it is: another service may have its rows.
 */
export async function endLoops(client: Client, taskQueue: string): Promise<void> {
  const { reconcile, audit, usage } = workflowNames;
  const ended = [reconcile, audit, usage].map((name) =>
    client.schedule.getHandle(`${name}:${taskQueue}`).delete(),
  );
  await Promise.allSettled([...ended, endWorkflows(client, taskQueue)]);
}

async function endWorkflows({ workflow }: Client, taskQueue: string): Promise<void> {
  const { generateVideo } = workflowNames;
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus = 'Running' and WorkflowType != '${generateVideo}'`;
  const ended: Promise<unknown>[] = [];
  for await (const { workflowId } of workflow.list({ query })) {
    ended.push(workflow.getHandle(workflowId).terminate());
  }
  await Promise.allSettled(ended);
}

export async function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const path = required('TEST_TIME_SKIPPING_SERVER');
  const env = await starting(() =>
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path } },
    }),
  );
  // This server cannot list its search attributes, so they are added without a check.
  await addSearchAttributes(
    env.client,
    'default',
    searchAttributes.map(({ name }) => name),
  );
  return env;
}

/** The real server, with the interface of a time-skipping one. The real server skips no time. */
export function realEnvironment(): Promise<TestWorkflowEnvironment> {
  return TestWorkflowEnvironment.createFromExistingServer({ address: temporalAddress() });
}

/** A client of a new namespace on the same server. No task was ever started in it. */
export async function inAnotherNamespace(connection: ConnectionLike): Promise<Client> {
  const namespace = `other-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const client = new Client({ connection, namespace });
  // A server needs some seconds before a new namespace works.
  const isServed = () =>
    client.workflow.count().then(
      () => true,
      () => false,
    );
  await until('the namespace is served', isServed);
  return client;
}

export async function connectTemporal(): Promise<{ client: Client; close(): Promise<void> }> {
  const connection = await Connection.connect({ address: temporalAddress() });
  return { client: new Client({ connection }), close: () => connection.close() };
}
