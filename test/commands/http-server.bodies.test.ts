// Bodies of requests: the answer to `Expect: 100-continue`, and the time that a body may take.

import { connect, type Socket } from 'node:net';
import { listen } from '../../src/commands/http-server';
import { until } from '../support/until';

let server: Awaited<ReturnType<typeof listen>>;
let sockets: Socket[] = [];
beforeAll(async () => {
  server = await listen(
    (request, response) => {
      if (request.url === '/refused') return response.writeHead(413, { connection: 'close' }).end();
      request.on('data', () => undefined);
      request.on('end', () => response.end('taken'));
    },
    '127.0.0.1',
    0,
    { host: 'HOST', port: 'PORT' },
    { isUpload: ({ url }) => url === '/upload' },
  );
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => server?.close());

function send(path: string, header = '') {
  const socket = connect(server.port, '127.0.0.1');
  sockets = [...sockets, socket];
  const state = { closed: false, text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (text) => (state.text += String(text)));
  socket.on('close', () => {
    state.closed = true;
  });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n${header}\r\n`);
  return { socket, state };
}

test('a client that asks first gets 100 Continue when its body is read', async () => {
  const { socket, state } = send('/', 'Expect: 100-continue\r\n');
  await until('it may send', () => state.text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  socket.write('12345');
  await until('it is answered', () => state.text.includes('taken'));
});

test('a client whose body is refused unread gets no 100 Continue', async () => {
  const { state } = send('/refused', 'Expect: 100-continue\r\n');
  await until('it is answered', () => state.closed);
  expect(state.text).toMatch(/^HTTP\/1\.1 413 /);
  expect(state.text).not.toContain('100 Continue');
});

// The limit is 15 s; the rest is margin.
test('a body that does not come is a 408, an upload may take longer', async () => {
  const upload = send('/upload');
  const other = send('/');
  await until('the other is cut', () => other.state.closed, 60_000);
  expect(other.state.text).toMatch(/^HTTP\/1\.1 408 /);
  expect(upload.state).toEqual({ closed: false, text: '' });
  upload.socket.write('12345');
  await until('the upload is answered', () => upload.state.text.includes('taken'));
}, 70_000);
