// In these tests the provider answers the reads of some jobs late or not at all.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMediakit } from '../../../../activities/providers/mediakit/client';
import type { Provider } from '../../../../activities/providers/provider';

const hanging = new Set<ServerResponse>();
let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.includes('hangs')) return void hanging.add(response);
    if (request.url?.includes('cut')) return void setTimeout(() => request.destroy(), 300);
    if (request.url?.includes('busy')) return void response.writeHead(429).end('{}');
    const answer = () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ success: true, status: 'processing' }));
    };
    setTimeout(answer, request.url?.includes('late') ? 1_500 : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function openEnhancer(): Promise<Provider> {
  const enhancer = createMediakit({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
    timeoutMs: 30_000,
    honoursIdempotencyKey: true,
    hasList: false,
  });
  // The first request loads modules. The time for that must not count towards the ten seconds of a
  // read.
  await enhancer.read('job');
  return enhancer;
}

test('the results of other jobs are returned while a tenth of the reads get no answer', async () => {
  const enhancer = await openEnhancer();
  const ids = Array.from({ length: 60 }, (_, n) => (n % 10 === 0 ? `hangs-${n}` : `job-${n}`));
  const read: string[] = [];
  let stillHanging = 0;
  await enhancer.readMany(ids, async (readings) => {
    read.push(...readings.keys());
    if (read.length < 54) return;
    // All other results have arrived, so the hanging reads may end now.
    stillHanging = [...hanging].filter((response) => !response.destroyed).length;
    for (const response of hanging) response.destroy();
  });
  expect(read.sort()).toEqual(ids.filter((id) => !id.startsWith('hangs')).sort());
  expect(stillHanging).toBe(6);
});

test('the result of a read is returned even if other results were handed on while it was under way', async () => {
  const enhancer = await openEnhancer();
  const read: string[] = [];
  let handedOn = 0;
  await enhancer.readMany(['job-1', 'late-1', 'late-2', 'job-2'], async (readings) => {
    read.push(...readings.keys());
    handedOn += 1;
  });
  expect(read.sort()).toEqual(['job-1', 'job-2', 'late-1', 'late-2']);
  expect(handedOn).toBeGreaterThan(1);
});

test('a provider that is busy is left alone, even if another read fails after that', async () => {
  const enhancer = await openEnhancer();
  const reading = enhancer.readMany(['job', 'busy', 'cut'], async () => undefined);
  await expect(reading).rejects.toMatchObject({ kind: 'busy' });
});
