// At which addresses /metrics is served.

import { networkInterfaces } from 'node:os';
import { serveMetrics } from '../../src/commands/metrics-server';
import { freePorts } from '../../src/embedded/ports';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';

const log = createLogger({ level: 'silent', format: 'json', name: 'api' });
const meters = createMeters('api');
const answers = (host: string, port: number) =>
  fetch(`http://${host}:${port}/metrics`).then(
    ({ status }) => status,
    () => 'nothing',
  );

test('a name stands for its addresses on this machine, and no other address is served', async () => {
  const [port = 0] = await freePorts(1);
  const server = await serveMetrics({ meters, log, host: 'localhost', port });
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal);
  try {
    expect(await answers('127.0.0.1', port)).toBe(200);
    for (const { address } of others) expect(await answers(address, port)).toBe('nothing');
  } finally {
    await server.close();
  }
  expect(await answers('127.0.0.1', port)).toBe('nothing');
});

test('a name without an address on this machine is refused, and the message names the setting', async () => {
  const [port = 0] = await freePorts(1);
  const started = serveMetrics({ meters, log, host: 'elsewhere.invalid', port });
  await expect(started).rejects.toMatchObject({ message: expect.stringContaining('METRICS_HOST') });
});
