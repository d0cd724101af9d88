// The run's two Temporal servers for tests: the real one, and the time-skipping one.

import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { addSearchAttributes } from '../../src/temporal/setup';
import { searchAttributes } from '../../workflows/search-attributes';
import { required } from './database';

// Jest would print a worker's log between the tests; only errors are kept.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  shutdownSignals: [],
});

export const temporalAddress = () => required('TEST_TEMPORAL_ADDRESS');

export function workflowBundle(): { readonly codePath: string } {
  return { codePath: required('TEST_WORKFLOW_BUNDLE') };
}

export const uniqueTaskQueue = () => `test-${randomUUID()}`;

export async function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: required('TEST_TIME_SKIPPING_SERVER') } },
  });
  // This server cannot list its search attributes, so they are added without a check.
  await addSearchAttributes(
    env.client,
    'default',
    searchAttributes.map(({ name }) => name),
  );
  return env;
}

/** The run's real server with the same interface; it does not skip time. */
export function realEnvironment(): Promise<TestWorkflowEnvironment> {
  return TestWorkflowEnvironment.createFromExistingServer({ address: temporalAddress() });
}

export async function connectTemporal(): Promise<{ client: Client; close(): Promise<void> }> {
  const connection = await Connection.connect({ address: temporalAddress() });
  return { client: new Client({ connection }), close: () => connection.close() };
}
