// In these tests a callback is posted to well-behaved and to malicious receivers. Each answer must
// become a reply or one of a few named failures, within the time limit. Which addresses may be
// called is in guarded-post.test.ts.

import { createServer as createSecureServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { type GuardedPost, guardedPost } from '../../../activities/callbacks/guarded-post';
import { expiredCertificate, testCertificate, testKey } from '../../support/certificate';

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

/** Posts to a receiver that calls `say` when the first bytes of the request arrive. */
async function afterSaying(say: (socket: Socket) => void, over?: Partial<GuardedPost>) {
  const port = await listen(createServer((socket) => socket.once('data', () => say(socket))));
  return post(`http://127.0.0.1:${port}/`, port, over);
}

const head = (status: string, rest = '') => `HTTP/1.1 ${status}\r\n${rest}\r\n`;

test.each<[string, (socket: Socket) => void, object]>([
  ['a complete body', (s) => s.end(`${head('200 OK')}thanks`), { status: 200, body: 'thanks' }],
  [
    'a redirect status',
    (s) => s.end(head('302 Found', 'location: http://169.254.169.254/\r\n')),
    { status: 302 },
  ],
  [
    'a Retry-After header',
    (s) => s.end(head('503 Busy', 'retry-after: 7\r\n')),
    { retryAfter: '7' },
  ],
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
    'a body of ten megabytes',
    (s) => s.end(head('200 OK') + 'x'.repeat(10_000_000)),
    { status: 200, body: 'x'.repeat(4096) },
  ],
  [
    'an early hint before the final status',
    (s) => s.end(`${head('103 Early Hints')}${head('204 No Content')}`),
    { status: 204 },
  ],
])('an answer with %s is returned as a reply', async (_, say, expected) => {
  await expect(afterSaying(say)).resolves.toMatchObject(expected);
});

test.each<[string, (socket: Socket) => void, string]>([
  ['sends nothing', () => undefined, 'timeout'],
  ['closes the connection', (s) => s.destroy(), 'connection_failed'],
  ['resets the connection', (s) => s.resetAndDestroy(), 'connection_failed'],
  ['does not speak HTTP', (s) => s.end('SSH-2.0-hello\r\n'), 'broken_reply'],
  [
    'sends one endless header',
    (s) => s.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
    'broken_reply',
  ],
  [
    'sends headers without end',
    (s) => s.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`),
    'broken_reply',
  ],
  ['sends early hints without end', (s) => endlessly(s, head('103 Early Hints')), 'timeout'],
  [
    'switches to another protocol',
    (s) => s.write(head('101 Switching', 'connection: upgrade\r\nupgrade: x\r\n')),
    'broken_reply',
  ],
])('a post fails with a named failure if the receiver %s', async (_, say, code) => {
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

test('a post to a closed port is a connection failure', async () => {
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

test('a receiver with a valid certificate is accepted', async () => {
  await expect(secure(testCertificate, 'localhost', testCertificate)).resolves.toMatchObject({
    status: 200,
    body: 'ok',
  });
});

test.each([
  ['from an unknown issuer', testCertificate, 'localhost', undefined],
  ['for another name', testCertificate, '127.0.0.1', testCertificate],
  ['that has expired', expiredCertificate, 'localhost', expiredCertificate],
])('a certificate %s fails the post in the TLS handshake', async (_, cert, host, ca) => {
  await expect(secure(cert, host, ca)).rejects.toMatchObject({ code: 'tls_failed' });
});

test('NODE_TLS_REJECT_UNAUTHORIZED does not switch the certificate check off', async () => {
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

test('a post fails within the time limit if the receiver has no TLS or does not finish the handshake', async () => {
  const plain = await listen(createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')));
  await expect(post(`https://localhost:${plain}/`, plain)).rejects.toMatchObject({
    code: 'tls_failed',
  });
  const mute = await listen(createServer(() => undefined));
  await expect(post(`https://localhost:${mute}/`, mute)).rejects.toMatchObject({ code: 'timeout' });
});
