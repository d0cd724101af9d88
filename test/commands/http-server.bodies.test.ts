// Tests how the HTTP server handles the bodies of requests: `Expect: 100-continue`, bodies that are
// refused unread, and the time that a body may take.

import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { listen } from '../../src/commands/http-server';
import { errorSchema } from '../../src/contract/reply-schema';
import { until } from '../support/until';

const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
let server: Awaited<ReturnType<typeof listen>>;
const sockets: Socket[] = [];
beforeAll(async () => {
  server = await listen(
    (request, response) => {
      if (request.url === '/refused') return response.writeHead(413, { connection: 'close' }).end();
      if (request.url === '/unread') return response.end('unread');
      if (request.url === '/begun') {
        const first = new PassThrough();
        request.pipe(first);
        first.once('data', () => {
          first.destroy();
          response.writeHead(413, { connection: 'close' }).end();
        });
        return;
      }
      request.on('data', () => undefined);
      request.on('end', () => response.end('taken'));
    },
    '127.0.0.1',
    0,
    { host: 'HOST', port: 'PORT' },
    { isUpload: ({ url }) => url === '/upload' },
  );
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server?.close();
});

function send(path: string, header = '') {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  const state = { closed: false, text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (text) => (state.text += String(text)));
  socket.on('close', () => {
    state.closed = true;
  });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n${header}\r\n`);
  return { socket, state };
}

test('a client that sends `Expect: 100-continue` gets 100 Continue when the server begins to read the body', async () => {
  const { socket, state } = send('/', 'Expect: 100-continue\r\n');
  await until('it may send', () => state.text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  socket.write('12345');
  await until('it is answered', () => state.text.includes('taken'));
});

test('a request that the server refuses before it reads the body gets no 100 Continue', async () => {
  const { state } = send('/refused', 'Expect: 100-continue\r\n');
  await until('it is answered', () => state.closed);
  expect(state.text).toMatch(/^HTTP\/1\.1 413 /);
  expect(state.text).not.toContain('100 Continue');
});

function expectRefusal(text: string, status: number, code: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}$/im);
  expect(Number(/^content-length: (\d+)$/im.exec(head)?.[1])).toBe(Buffer.byteLength(body));
  const { error } = errorSchema.parse(JSON.parse(body));
  expect([error.type, error.code]).toEqual(['invalid_request_error', code]);
}

test.each([
  ['malformed HTTP', 'GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n', 400, 'malformed_http'],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_http'],
  ['a malformed chunk', `${chunked}x\r\n`, 400, 'malformed_http'],
  ['long extensions', `${chunked}1;${'x'.repeat(20_000)}\r\n`, 413, 'request_too_large'],
  ['an expectation', 'POST / HTTP/1.1\r\nHost: x\r\nExpect: y\r\n\r\n', 417, 'expectation_failed'],
  [
    'large headers',
    `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(17_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
])('a request with %s is refused with a request id and an error', async (_, text, status, code) => {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  const state = { closed: false, text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (part) => (state.text += String(part)));
  socket.on('close', () => (state.closed = true));
  socket.write(text);
  await until('it is answered', () => state.closed);
  expectRefusal(state.text, status, code);
});

describe('a refused request with a large body', () => {
  const large = Buffer.alloc(60 * 1024 * 1024);

  test('is answered, although the client sends the whole body before it reads the answer', async () => {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket);
    const failures: unknown[] = [];
    socket.on('error', (error) => failures.push(error));
    socket.pause();
    socket.write(`POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: ${large.length}\r\n\r\n`);
    await new Promise((resolve) => socket.write(large, resolve));
    let text = '';
    socket.on('data', (part) => (text += String(part)));
    socket.resume();
    await until('the connection is closed', () => socket.readableEnded || failures.length > 0);
    expect(failures).toEqual([]);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('gets an answer that `fetch` can read', async () => {
    const { status } = await fetch(`http://127.0.0.1:${server.port}/refused`, {
      method: 'POST',
      body: large,
    });
    expect(status).toBe(413);
  });

  test('is also answered if the server has already read the first bytes of the body', async () => {
    const { status } = await fetch(`http://127.0.0.1:${server.port}/begun`, {
      method: 'POST',
      body: large,
    });
    expect(status).toBe(413);
  });
});

test('what arrives after the reply is not parsed, and the connection ends', async () => {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  let [text, isClosed] = ['', false];
  socket.on('error', () => undefined);
  socket.on('data', (part) => (text += String(part)));
  socket.on('close', () => (isClosed = true));
  socket.write('POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n');
  await until('it is answered', () => text.includes('unread'));
  // A parser would answer a malformed chunk, and the next request after the last chunk.
  socket.write('1\r\nx\r\n0\r\n\r\nPOST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
  await until('it is closed', () => isClosed);
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

// The last two tests wait for time limits, so they run at once.

// The pause of 7.5 s is longer than the 5 s without a byte after which the server closes the
// connection.
test.concurrent('a refused request loses its connection after some seconds if the client does not send the body', async () => {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let failed = false;
  let text = '';
  socket.on('error', () => {
    failed = true;
  });
  socket.on('data', (part) => (text += String(part)));
  socket.write('POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  await until('it is answered', () => text.includes(' 413 '));
  const isClosed = async () => {
    await pause(7_500);
    socket.write('x');
    return failed;
  };
  await until('a write fails', isClosed);
});

// The server's limit is 15 s. The longer times here are a margin for a busy machine.
test.concurrent('a body that does not arrive is answered 408, but an upload may take longer', async () => {
  const upload = send('/upload');
  const other = send('/');
  await until('the other is cut', () => other.state.closed, 60_000);
  expectRefusal(other.state.text, 408, 'request_timeout');
  expect(upload.state).toEqual({ closed: false, text: '' });
  upload.socket.write('12345');
  await until('the upload is answered', () => upload.state.text.includes('taken'));
});
