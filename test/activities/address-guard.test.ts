// The guard against sockets: canaries on loopback count connections, and there must be none, however the address is
// written and whatever a name resolves to.

import { createServer, type Server } from 'node:net';
import { guardedPost } from '../../activities/address-guard';
import type { ResolveName } from '../../activities/public-names';
import { insideHosts } from '../support/hosts';

let connections = 0;
const canaries: Server[] = [];
let port = 0;
beforeAll(async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const canary = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    const ready = await new Promise<boolean>((resolve) => {
      canary.once('error', () => resolve(false));
      canary.listen(port, host, () => resolve(true));
    });
    if (!ready) continue; // A machine without IPv6 has nothing to guard there.
    port = (canary.address() as { port: number }).port;
    canaries.push(canary);
  }
});
afterAll(() => Promise.all(canaries.map((canary) => new Promise((done) => canary.close(done)))));
beforeEach(() => {
  connections = 0;
});

const post = (url: string, resolve?: ResolveName) =>
  guardedPost({
    url,
    body: '{}',
    headers: {},
    allowHosts: [],
    connectTimeoutMs: 2_000,
    timeoutMs: 3_000,
    replyBytesMax: 100,
    ...(resolve ? { resolve } : {}),
  });

test.each(insideHosts)('%s is never dialled', async (host) => {
  for (const scheme of ['https', 'http']) {
    await expect(post(`${scheme}://${host}:${port}/`)).rejects.toMatchObject({
      code: 'address_not_allowed',
    });
  }
  expect(connections).toBe(0);
});

const answering = (...addresses: string[]): ResolveName => {
  return () => Promise.resolve(addresses);
};

test.each([
  ['one inside record', ['127.0.0.1']],
  ['an outside and an inside record', ['8.8.8.8', '127.0.0.1']],
  ['an inside record behind an outside one, in IPv6', ['2606:4700::1111', '::1']],
  ['a mapped address', ['::ffff:127.0.0.1']],
])('a name with %s is never dialled', async (_, answers) => {
  await expect(
    post(`https://rebind.example.com:${port}/`, answering(...answers)),
  ).rejects.toMatchObject({ code: 'address_not_allowed', message: 'The address is not allowed.' });
  expect(connections).toBe(0);
});

test('a name that flips after the check cannot, because the checked address is the dialled one', async () => {
  let asked = 0;
  const flipping: ResolveName = () => {
    asked += 1;
    return Promise.resolve([asked === 1 ? '192.88.99.1' : '127.0.0.1']);
  };
  await expect(post(`https://flip.example.com:${port}/`, flipping)).rejects.toBeDefined();
  expect(asked).toBe(1);
  expect(connections).toBe(0);
});

test('an opened pair is dialled, and nothing else on that host', async () => {
  const request = (url: string) =>
    guardedPost({
      url,
      body: '{}',
      headers: {},
      allowHosts: [`127.0.0.1:${port}`],
      connectTimeoutMs: 2_000,
      timeoutMs: 3_000,
      replyBytesMax: 100,
    });
  await expect(request(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect(connections).toBe(1);
  await expect(request(`http://127.0.0.1:${port + 1}/`)).rejects.toMatchObject({
    code: 'address_not_allowed',
  });
});
