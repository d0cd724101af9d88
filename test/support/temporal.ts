// The run's Temporal servers as tests meet them: the real one, and the one that skips time.

import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { addSearchAttributes } from '../../src/temporal-setup';
import { searchAttributes } from '../../workflows/search-attributes';
import { required } from './database';

// Jest prints what a worker logs as noise around each test; errors alone are kept.
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
  // This server cannot list what it has, so there is nothing to compare with: they are simply
  // added.
  await addSearchAttributes(
    env.client,
    'default',
    searchAttributes.map(({ name }) => name),
  );
  return env;
}

/** The run's real server in the same dress; its time passes as time does. */
export function realEnvironment(): Promise<TestWorkflowEnvironment> {
  return TestWorkflowEnvironment.createFromExistingServer({ address: temporalAddress() });
}

export async function connectTemporal(): Promise<{ client: Client; close(): Promise<void> }> {
  const connection = await Connection.connect({ address: temporalAddress() });
  return { client: new Client({ connection }), close: () => connection.close() };
}
