// The network between this service and Temporal accepts connections and passes nothing on, as a
// broken router does. Once it works again, calls reach Temporal without a restart of the process.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { lazyConnection } from '../../src/temporal/connection';
import { realEnvironment } from '../support/temporal';

let env: TestWorkflowEnvironment;
beforeAll(async () => {
  env = await realEnvironment();
});
afterAll(() => env?.teardown());

test('a connection that is accepted and never answered is given up after ten seconds', async () => {
  const [host, port] = env.address.split(':');
  const sockets = new Set<Socket>();
  let isBroken = true;
  const link = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (isBroken) return;
    const onward = connect(Number(port), host);
    sockets.add(onward.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => link.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(link.address() as AddressInfo).port}`;
  const connection = lazyConnection({ address, namespace: 'default' }, 1_000);
  const { now } = performance;
  try {
    const ask = () => connection.workflowService.getSystemInfo({});
    await expect(ask()).rejects.toThrow();
    isBroken = false;
    await expect(ask()).rejects.toThrow();
    jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 10_001);
    expect(await ask()).toMatchObject({ serverVersion: expect.any(String) });
  } finally {
    jest.restoreAllMocks();
    await connection.close();
    for (const socket of sockets) socket.destroy();
    link.close();
  }
});
