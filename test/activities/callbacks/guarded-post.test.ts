// These tests check the address guard with real sockets. Canary servers on loopback count
// connections: none may be made to an internal address, whatever its spelling and whatever a name
// resolves to. A name server on loopback gives the answers that each test needs.

import { guardedPost } from '../../../activities/callbacks/guarded-post';
import { createResolveName } from '../../../src/outbound/resolve-public-host';
import { type Canaries, startCanaries } from '../../support/canaries';
import { brokenUrls, insideHosts } from '../../support/hosts';
import { sized } from '../../support/sized';
import { testInsideAddresses } from './inside-addresses';
import { type NameServer, startNameServer } from './name-server';

let canaries: Canaries;
let nameServer: NameServer;
let before = 0;
let port = 0;
beforeAll(async () => {
  nameServer = await startNameServer();
  canaries = await startCanaries();
  port = canaries.port;
});
afterAll(async () => {
  await nameServer?.close();
  await canaries?.close();
});
beforeEach(() => {
  before = canaries.connections();
});
const connections = () => canaries.connections() - before;

const post = (url: string, allowHosts: readonly string[] = [], connectTimeoutMs = 1_000) =>
  guardedPost({
    url,
    body: '{}',
    headers: {},
    allowHosts,
    connectTimeoutMs,
    timeoutMs: connectTimeoutMs + 1_000,
    replyBytesMax: 100,
    resolve: createResolveName([nameServer.address]),
  });

test('a connection is made to an allowed host and port, but not to another port or name of that host', async () => {
  const allowed = [`127.0.0.1:${port}`];
  await expect(post(`http://127.0.0.1:${port}/`, allowed)).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect(connections()).toBe(1);
  for (const url of [`http://127.0.0.1:${port + 1}/`, `http://localhost:${port}/`]) {
    await expect(post(url, allowed)).rejects.toMatchObject({ code: 'address_not_allowed' });
  }
  expect(connections()).toBe(1);
});

test.each(insideHosts)('no connection is made to the internal host %s', async (host) => {
  for (const scheme of ['https', 'http']) {
    await expect(post(`${scheme}://${host}:${port}/`)).rejects.toMatchObject({
      code: 'address_not_allowed',
    });
  }
  expect(connections()).toBe(0);
});

test.each([
  ['an internal address', ['127.0.0.1']],
  ['a public and an internal address', ['8.8.8.8', '127.0.0.1']],
  ['an internal IPv6 address after a public one', ['8.8.8.8', '2606:4700::1111', '::1']],
  ['an IPv4-mapped internal address', ['::ffff:7f00:1']],
  ['an internal address translated by NAT64', ['64:ff9b::7f00:1']],
  ['the cloud metadata address', ['169.254.169.254']],
])('no connection is made to a name that resolves to %s', async (what, addresses) => {
  const name = `${what.replaceAll(' ', '-').toLowerCase()}.example.com`;
  nameServer.names.set(name, [addresses]);
  await expect(post(`https://${name}:${port}/`)).rejects.toMatchObject({
    code: 'address_not_allowed',
    message: 'The address is not allowed.',
  });
  expect(connections()).toBe(0);
});

test('if a name resolves to another address after the check, the checked address is used', async () => {
  // The public address belongs to a block that was never assigned, so no server answers there.
  nameServer.names.set('flip.example.com', [['2d00::1'], ['127.0.0.1']]);
  await expect(post(`https://flip.example.com:${port}/`)).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:timeout|connection_failed)$/),
  });
  expect(connections()).toBe(0);
  await expect(post(`https://flip.example.com:${port}/`)).rejects.toMatchObject({
    code: 'address_not_allowed',
  });
  expect(connections()).toBe(0);
});

test('a post to an unknown name, or to a name whose name server fails, is a connection failure', async () => {
  nameServer.names.set('broken.example.com', 'broken');
  for (const name of ['nobody.example.com', 'broken.example.com']) {
    await expect(post(`https://${name}/`)).rejects.toMatchObject({ code: 'connection_failed' });
  }
});

test('if a name server does not answer, only posts to its own names fail, at the connection time limit', async () => {
  nameServer.names.set('silent.example.com', 'silent');
  nameServer.names.set('inside.example.com', [['10.0.0.1']]);
  let finished = 0;
  const silent = Array.from({ length: 20 }, () =>
    post('https://silent.example.com/', [], 5_000).catch(({ code }: { code: string }) => {
      finished += 1;
      return code;
    }),
  );
  // Twenty look-ups hang, more than the process has threads for the system's resolver. The next
  // look-up must still be answered first.
  await expect(post('https://inside.example.com/')).rejects.toMatchObject({
    code: 'address_not_allowed',
  });
  expect(finished).toBe(0);
  expect(new Set(await Promise.all(silent))).toEqual(new Set(['timeout']));
});

test.each(brokenUrls)(
  'the invalid or misleading URL %j is refused without a connection',
  async (url) => {
    await expect(post(url)).rejects.toMatchObject({ code: 'address_not_allowed' });
    expect(connections()).toBe(0);
  },
);

testInsideAddresses(sized({ each: { spellings: 100 }, long: { spellings: 2_000 } }));
