// The guard against sockets: canaries on loopback count connections, and there must be none, however the address is
// written and whatever a name resolves to. Names are asked of a real name server that lies as it is told.

import { createServer, type Server } from 'node:net';
import { guardedPost } from '../../activities/address-guard';
import { createResolveName } from '../../activities/public-names';
import { insideHosts } from '../support/hosts';
import { type NameServer, startNameServer } from '../support/name-server';

let connections = 0;
const canaries: Server[] = [];
let port = 0;
let nameServer: NameServer;
beforeAll(async () => {
  nameServer = await startNameServer();
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
afterAll(async () => {
  await nameServer?.close();
  await Promise.all(canaries.map((canary) => new Promise((done) => canary.close(done))));
});
beforeEach(() => {
  connections = 0;
});

const post = (url: string, allowHosts: readonly string[] = []) =>
  guardedPost({
    url,
    body: '{}',
    headers: {},
    allowHosts,
    connectTimeoutMs: 1_000,
    timeoutMs: 2_000,
    replyBytesMax: 100,
    resolve: createResolveName([nameServer.address]),
  });

test('the canary is there: an opened pair is dialled, and nothing else on that host', async () => {
  const allowed = [`127.0.0.1:${port}`];
  await expect(post(`http://127.0.0.1:${port}/`, allowed)).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect(connections).toBe(1);
  for (const url of [`http://127.0.0.1:${port + 1}/`, `http://localhost:${port}/`]) {
    await expect(post(url, allowed)).rejects.toMatchObject({ code: 'address_not_allowed' });
  }
  expect(connections).toBe(1);
});

test.each(insideHosts)('%s is never dialled', async (host) => {
  for (const scheme of ['https', 'http']) {
    await expect(post(`${scheme}://${host}:${port}/`)).rejects.toMatchObject({
      code: 'address_not_allowed',
    });
  }
  expect(connections).toBe(0);
});

test.each([
  ['one inside record', ['127.0.0.1']],
  ['an outside and an inside record', ['8.8.8.8', '127.0.0.1']],
  ['an inside record in IPv6 behind an outside one', ['8.8.8.8', '2606:4700::1111', '::1']],
  ['a mapped address', ['::ffff:7f00:1']],
  ['a translated address', ['64:ff9b::7f00:1']],
  ['the address of cloud metadata', ['169.254.169.254']],
])('a name with %s is never dialled', async (what, addresses) => {
  const name = `${what.replaceAll(' ', '-').toLowerCase()}.example.com`;
  nameServer.names.set(name, [addresses]);
  await expect(post(`https://${name}:${port}/`)).rejects.toMatchObject({
    code: 'address_not_allowed',
    message: 'The address is not allowed.',
  });
  expect(connections).toBe(0);
});

test('a name that flips after the check is dialled at the address that was checked', async () => {
  // The outside address is of a block that has never been given to anybody.
  nameServer.names.set('flip.example.com', [['2d00::1'], ['127.0.0.1']]);
  await expect(post(`https://flip.example.com:${port}/`)).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:timeout|connection_failed)$/),
  });
  expect(connections).toBe(0);
  await expect(post(`https://flip.example.com:${port}/`)).rejects.toMatchObject({
    code: 'address_not_allowed',
  });
  expect(connections).toBe(0);
});

test('a name that does not exist, and one whose servers are out of order, are connection failures', async () => {
  nameServer.names.set('broken.example.com', 'broken');
  for (const name of ['nobody.example.com', 'broken.example.com']) {
    await expect(post(`https://${name}/`)).rejects.toMatchObject({ code: 'connection_failed' });
  }
});

test('a silent name server costs the time for a connection and nobody else waits for it', async () => {
  nameServer.names.set('silent.example.com', 'silent');
  nameServer.names.set('inside.example.com', [['10.0.0.1']]);
  let finished = 0;
  const silent = Array.from({ length: 20 }, () =>
    post('https://silent.example.com/').catch(({ code }: { code: string }) => {
      finished += 1;
      return code;
    }),
  );
  // More look-ups hang than a process has threads for the system's resolver; this one still gets its answer first.
  await expect(post('https://inside.example.com/')).rejects.toMatchObject({
    code: 'address_not_allowed',
  });
  expect(finished).toBe(0);
  expect(new Set(await Promise.all(silent))).toEqual(new Set(['timeout']));
});

test.each(['https://public@127.0.0.1/', 'https://user:pass@example.com/', 'ftp://example.com/'])(
  '%s is refused whatever it resolves to',
  async (url) => {
    await expect(post(url)).rejects.toMatchObject({ code: 'address_not_allowed' });
  },
);
