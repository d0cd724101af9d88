// Tests the HTTP server with callers that do not read their reply, send requests together, or open
// too many connections.

import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { listen } from '../../src/commands/http-server';
import { until } from '../support/until';

const large = Buffer.alloc(16 * 1024 * 1024);
let server: Awaited<ReturnType<typeof listen>>;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

/** The first request on each connection that the server has closed. */
let closed: string[] = [];

function start(connectionsMax?: number, replyLimits = {}) {
  closed = [];
  const answer = (path = '') => (path === '/large' ? large : 'ok');
  const seen = new WeakSet<Socket>();
  return listen(
    ({ socket, url = '' }, response) => {
      if (!seen.has(socket)) socket.once('close', () => closed.push(url));
      seen.add(socket);
      response.end(answer(url));
    },
    '127.0.0.1',
    0,
    { host: 'HOST', port: 'PORT' },
    { ...(connectionsMax === undefined ? {} : { connectionsMax }), replyLimits },
  );
}

function ask(path: string) {
  const socket = connect(server.port, '127.0.0.1');
  sockets = [...sockets, socket];
  const state = { closed: false, text: '' };
  // The connection may also end with a reset.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    state.closed = true;
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return { socket, state };
}

// The server's limit is 15 s. The longer times here are a margin for a busy machine.
test('a caller that does not read its reply is disconnected', async () => {
  server = await start();
  ask('/large').socket.pause();
  await until('it is cut', () => closed.includes('/large'), 60_000);
});

test('a caller that reads a large reply too slowly is disconnected, although it reads all the time', async () => {
  server = await start(undefined, {
    graceMs: 500,
    bytesPerSecond: 8 * 1024 * 1024,
    checkedMs: 100,
  });
  const { socket } = ask('/large');
  socket.pause();
  const trickle = setInterval(() => socket.read(1_000), 50);
  await until('it is cut', () => closed.includes('/large'), 20_000);
  clearInterval(trickle);
});

test('a caller that reads a large reply fast gets all of it', async () => {
  server = await start(undefined, {
    graceMs: 500,
    bytesPerSecond: 8 * 1024 * 1024,
    checkedMs: 100,
  });
  const reply = await fetch(`http://127.0.0.1:${server.port}/large`);
  expect((await reply.arrayBuffer()).byteLength).toBe(large.length);
});

test('requests that arrive together on one connection are answered in their order', async () => {
  server = await start();
  const { socket, state } = ask('/large');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  let bytes = 0;
  socket.on('data', (data) => {
    bytes += data.length;
    state.text = String(data);
  });
  await until('both are answered', () => state.closed);
  expect(bytes).toBeGreaterThan(large.length);
  expect(state.text.endsWith('ok')).toBe(true);
});

test('requests that wait for an earlier reply of their connection never begin if it closes', async () => {
  let running = 0;
  const begun: string[] = [];
  server = await listen(
    (request, response) => {
      running += 1;
      begun.push(request.url ?? '');
      response.once('close', () => {
        running -= 1;
      });
      if (request.url !== '/hangs') response.end('ok');
    },
    '127.0.0.1',
    0,
    { host: 'HOST', port: 'PORT' },
  );
  const { socket } = ask('/hangs');
  for (const path of ['/a', '/b']) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until('the first is handled', () => begun.length > 0);
  await setTimeout(300);
  socket.destroy();
  await until('none is left', () => running === 0, 5_000);
  expect(begun).toEqual(['/hangs']);
});

test('a connection that sends very many requests before the first reply is closed', async () => {
  server = await start();
  const few = ask('/first');
  few.socket.write('GET /more HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(15));
  const many = connect(server.port, '127.0.0.1');
  sockets = [...sockets, many];
  let isClosed = false;
  many
    .on('error', () => undefined)
    .on('close', () => {
      isClosed = true;
    });
  many.write('GET /more HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  await until('the connection is closed', () => isClosed);
  few.socket.on('data', (bytes) => {
    few.state.text += bytes;
  });
  await until('all are answered', () => few.state.text.split('200 OK').length === 17);
  expect(few.state.closed).toBe(false);
});

test('connections beyond the maximum are closed, and a new connection is accepted after another connection has ended', async () => {
  server = await start(2);
  const open = [ask('/'), ask('/')];
  for (const { socket, state } of open) socket.on('data', (text) => (state.text += String(text)));
  await until('both are answered', () => open.every(({ state }) => state.text.includes('ok')));
  const third = ask('/');
  await until('the third is closed', () => third.state.closed);
  open[0]?.socket.destroy();
  await until('there is room', async () => {
    const { socket, state } = ask('/');
    socket.on('data', (text) => (state.text += String(text)));
    await until('it is answered or closed', () => state.closed || state.text !== '');
    return state.text.includes('ok');
  });
});
