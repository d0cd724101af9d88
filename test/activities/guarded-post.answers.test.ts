// Answers of well-behaved and malicious receivers. Each becomes a reply or one of a few named
// failures, in time.

import { createServer as createSecureServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { type GuardedPost, guardedPost } from '../../activities/callbacks/guarded-post';
import { expiredCertificate, testCertificate, testKey } from '../support/certificate';

const open: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(open.splice(0).map((server) => new Promise((done) => server.close(done))));
});

async function listen(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  open.push(server);
  return (server.address() as { port: number }).port;
}

const post = (url: string, port: number, over: Partial<GuardedPost> = {}) =>
  guardedPost({
    url,
    body: '{"a":1}',
    headers: { 'content-type': 'application/json' },
    allowHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
    connectTimeoutMs: 800,
    timeoutMs: 1_500,
    replyBytesMax: 4096,
    ...over,
  });

/** A receiver that sends these bytes after the first bytes it gets. */
async function afterSaying(say: (socket: Socket) => void, over?: Partial<GuardedPost>) {
  const port = await listen(createServer((socket) => socket.once('data', () => say(socket))));
  return post(`http://127.0.0.1:${port}/`, port, over);
}

const head = (status: string, rest = '') => `HTTP/1.1 ${status}\r\n${rest}\r\n`;

test.each<[string, (socket: Socket) => void, object]>([
  ['a plain answer', (s) => s.end(`${head('200 OK')}thanks`), { status: 200, body: 'thanks' }],
  [
    'a redirect, not followed',
    (s) => s.end(head('302 Found', 'location: http://169.254.169.254/\r\n')),
    { status: 302 },
  ],
  ['Retry-After', (s) => s.end(head('503 Busy', 'retry-after: 7\r\n')), { retryAfter: '7' }],
  [
    'a body that breaks off',
    (s) => s.end(`${head('200 OK', 'content-length: 99\r\n')}half`),
    { status: 200, body: 'half' },
  ],
  [
    'a body that never ends',
    (s) => s.write(`${head('200 OK', 'content-length: 99\r\n')}half`),
    { status: 200, body: 'half' },
  ],
  [
    'ten megabytes',
    (s) => s.end(head('200 OK') + 'x'.repeat(10_000_000)),
    { status: 200, body: 'x'.repeat(4096) },
  ],
  [
    'an early hint before it',
    (s) => s.end(`${head('103 Early Hints')}${head('204 No Content')}`),
    { status: 204 },
  ],
])('%s counts as an answer', async (_, say, expected) => {
  await expect(afterSaying(say)).resolves.toMatchObject(expected);
});

test.each<[string, (socket: Socket) => void, string]>([
  ['silence', () => undefined, 'timeout'],
  ['a hang-up', (s) => s.destroy(), 'connection_failed'],
  ['a reset', (s) => s.resetAndDestroy(), 'connection_failed'],
  ['something that is not HTTP', (s) => s.end('SSH-2.0-hello\r\n'), 'broken_reply'],
  [
    'an endless header',
    (s) => s.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
    'broken_reply',
  ],
  [
    'endless headers',
    (s) => s.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`),
    'broken_reply',
  ],
  ['endless early hints', (s) => endlessly(s, head('103 Early Hints')), 'timeout'],
  [
    'another protocol',
    (s) => s.write(head('101 Switching', 'connection: upgrade\r\nupgrade: x\r\n')),
    'broken_reply',
  ],
])('%s counts as a failure', async (_, say, code) => {
  await expect(afterSaying(say)).rejects.toMatchObject({ code });
});

function endlessly(socket: Socket, text: string): void {
  if (socket.destroyed) return;
  socket.write(text);
  setTimeout(() => endlessly(socket, text), 20);
}

test('a receiver that sends its headers slowly is cut off at the time limit', async () => {
  const drip = (socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\n');
    endlessly(socket, 'x-drip: y\r\n');
  };
  await expect(afterSaying(drip)).rejects.toMatchObject({ code: 'timeout' });
});

test('a closed port is a connection failure', async () => {
  const port = await listen(createServer());
  await new Promise((done) => open.pop()?.close(done));
  await expect(post(`http://127.0.0.1:${port}/`, port)).rejects.toMatchObject({
    code: 'connection_failed',
  });
});

async function secure(cert: string, host: string, ca?: string) {
  const server = createSecureServer({ key: testKey, cert }, (_, reply) => reply.end('ok'));
  const port = await listen(server);
  return post(`https://${host}:${port}/`, port, ca ? { ca } : {});
}

test('a valid certificate is accepted', async () => {
  await expect(secure(testCertificate, 'localhost', testCertificate)).resolves.toMatchObject({
    status: 200,
    body: 'ok',
  });
});

test.each([
  ['from an unknown issuer', testCertificate, 'localhost', undefined],
  ['for another name', testCertificate, '127.0.0.1', testCertificate],
  ['that has expired', expiredCertificate, 'localhost', expiredCertificate],
])(
  'a certificate %s ends the attempt before a byte of the request is sent',
  async (_, cert, host, ca) => {
    await expect(secure(cert, host, ca)).rejects.toMatchObject({ code: 'tls_failed' });
  },
);

test('the environment cannot switch the certificate check off', async () => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    await expect(secure(testCertificate, 'localhost')).rejects.toMatchObject({
      code: 'tls_failed',
    });
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  }
});

test('a receiver without TLS, or with an unfinished handshake, fails the attempt in time', async () => {
  const plain = await listen(createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')));
  await expect(post(`https://localhost:${plain}/`, plain)).rejects.toMatchObject({
    code: 'tls_failed',
  });
  const mute = await listen(createServer(() => undefined));
  await expect(post(`https://localhost:${mute}/`, mute)).rejects.toMatchObject({ code: 'timeout' });
});
