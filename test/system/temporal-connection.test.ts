// The API's connection to Temporal must not use async-local storage. The first use of async-local
// storage makes every promise of the process slower, and so every answer of the API.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createTemporalClient } from '../../src/engine/client';
import { lazyConnection } from '../../src/engine/connection';
import { ensureSearchAttributes } from '../../src/engine/setup';
import { adminWith } from '../support/admin';
import { aTaskId, aTaskInput } from '../support/builders';
import { createTestDatabase } from '../support/database';
import { connectTemporal, inAnotherNamespace, temporalAddress } from '../support/temporal';
import { until } from '../support/until';

test.each([
  ['default', true],
  ['nobody-made-this', false],
])('an API whose namespace is %s is ready: %s', async (namespace, isReady) => {
  const temporal = createTemporalClient({
    connection: lazyConnection({ address: temporalAddress(), namespace }),
    ...{ namespace, encryptionKeys: [], taskQueue: 'none' },
  });
  try {
    const answered = () => temporal.isReady();
    // A busy server may need more than a second.
    if (isReady) await until('it is', answered);
    else expect(await answered()).toBe(false);
  } finally {
    await temporal.close();
  }
});

test('a namespace in which something else uses `Stage` with another type is refused, with what to do', async () => {
  const { client, close } = await connectTemporal();
  const database = await createTestDatabase();
  try {
    const other = await inAnotherNamespace(client.connection);
    const namespace = other.options.namespace;
    const text = 1;
    await client.connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: { Stage: text },
    });
    const admin = adminWith(() => ({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_NAMESPACE: namespace,
    }));
    const message = /attributes Stage with another type than Keyword.*TEMPORAL_NAMESPACE/;
    expect(await admin('migrate --json')).toMatchObject({
      exitCode: 1,
      json: { error: { message: expect.stringMatching(message) } },
    });
    await ensureSearchAttributes(client, 'default');
  } finally {
    await close();
    await database.drop();
  }
});

test('calls of the API to Temporal use no async-local storage', async () => {
  const namespace = 'default';
  const temporal = createTemporalClient({
    connection: lazyConnection({ address: temporalAddress(), namespace }),
    namespace,
    encryptionKeys: [],
    taskQueue: `nobody-works-here-${process.pid}`,
  });
  const taskId = aTaskId();
  const kept = jest.spyOn(AsyncLocalStorage.prototype, 'run');
  try {
    expect((await temporal.submit(aTaskInput({ taskId }))).outcome).toBe('started');
    expect(await temporal.ask(taskId)).toBeNull();
    expect(await temporal.cancel(taskId)).toBe('asked');
    expect(kept).not.toHaveBeenCalled();
  } finally {
    kept.mockRestore();
    await temporal.close();
    const other = await connectTemporal();
    await other.client.workflow.getHandle(taskId).terminate();
    await other.close();
  }
});
