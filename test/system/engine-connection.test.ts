// What the API's connection to the engine must not do: the first use of async-local storage makes
// every promise of the process dearer, and with them every answer.

import { AsyncLocalStorage } from 'node:async_hooks';
import { connectEngine } from '../../src/engine-connection';
import { createEngine } from '../../src/temporal';
import { aTaskId, aTaskInput } from '../support/builders';
import { connectTemporal, temporalAddress } from '../support/temporal';

test('calls of the engine keep nothing in async-local storage', async () => {
  const namespace = 'default';
  const engine = createEngine({
    connection: connectEngine({ address: temporalAddress(), namespace }, 200),
    namespace,
    taskQueue: `nobody-works-here-${process.pid}`,
    acceptTimeoutMs: 200,
    queriesInFlightMax: 1,
  });
  const taskId = aTaskId();
  const kept = jest.spyOn(AsyncLocalStorage.prototype, 'run');
  try {
    expect(await engine.describe(aTaskId())).toBe('unknown');
    expect((await engine.submit(aTaskInput({ taskId }))).outcome).toBe('pending');
    expect(await engine.query(taskId, 0)).toBeNull();
    expect(await engine.cancel(taskId)).toBe('asked');
    expect(kept).not.toHaveBeenCalled();
  } finally {
    kept.mockRestore();
    await engine.close();
    const temporal = await connectTemporal();
    await temporal.client.workflow.getHandle(taskId).terminate();
    await temporal.close();
  }
});
