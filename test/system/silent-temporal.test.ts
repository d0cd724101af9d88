// The network between this service and Temporal accepts connections and passes nothing on, as a
// broken router does. Once it works again, calls reach Temporal without a restart of the process.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { lazyConnection } from '../../src/engine/connection';
import { startLink } from '../chaos/link';
import { realEnvironment } from '../support/temporal';
import { until } from '../support/until';

let env: TestWorkflowEnvironment;
beforeAll(async () => {
  env = await realEnvironment();
});
afterAll(() => env?.teardown());

test('a connection that is accepted and never answered is given up after ten seconds', async () => {
  const [host = '', port] = env.address.split(':');
  const link = await startLink(() => ({ host, port: Number(port) }));
  const connection = lazyConnection({ address: link.address, namespace: 'default' });
  const { now } = performance;
  try {
    const ask = () => connection.workflowService.getSystemInfo({});
    link.break('falls silent for good');
    await expect(ask()).rejects.toThrow();
    link.mend();
    await expect(ask()).rejects.toThrow();
    jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 10_001);
    await until('it answers', () =>
      ask().then(
        ({ serverVersion }) => Boolean(serverVersion),
        () => false,
      ),
    );
  } finally {
    jest.restoreAllMocks();
    await connection.close();
    await link.close();
  }
});
