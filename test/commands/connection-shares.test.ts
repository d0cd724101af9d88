// Tests that callers of one address leave connections for others. The client chooses its own address
// among those of this machine, which only Linux allows.

import { connect, type Socket } from 'node:net';
import { listen } from '../../src/commands/http-server';
import { until } from '../support/until';

const linux = process.platform === 'linux' ? describe : describe.skip;
const [connectionsMax, connectionsPerAddressMax] = [40, 20];

let server: Awaited<ReturnType<typeof listen>>;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function start(share?: number) {
  server = await listen(
    (request, response) => {
      request.resume().once('end', () => response.end('ok'));
    },
    '127.0.0.1',
    0,
    { host: 'HOST', port: 'PORT' },
    { connectionsMax, ...(share === undefined ? {} : { connectionsPerAddressMax: share }) },
  );
}

function open(localAddress: string, text = '') {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  const state = { closed: false, text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (data) => (state.text += String(data)));
  socket.on('close', () => {
    state.closed = true;
  });
  if (text) socket.write(text);
  return { socket, state };
}

const whole = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** True if a call from this address is answered, false if its connection is closed. */
async function isServed(address: string): Promise<boolean> {
  const { state } = open(address, whole);
  await until('it is answered or closed', () => state.closed || state.text.includes('ok'));
  return state.text.includes('ok');
}

linux('one address with more connections than its share', () => {
  test.each([
    ['silent', ''],
    ['with half of their headers sent', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['with a slow body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1'],
  ])('leaves others served if its connections are %s', async (_, sent) => {
    await start(connectionsPerAddressMax);
    const many = Array.from({ length: 60 }, () => open('127.0.0.2', sent));
    const openNow = () => many.filter(({ state }) => !state.closed);
    await until('the rest is closed', () => openNow().length === connectionsPerAddressMax);
    for (let call = 0; call < 5; call += 1) expect(await isServed('127.0.0.3')).toBe(true);
    expect(await isServed('127.0.0.2')).toBe(false);
    // It is served again as soon as one of its connections has ended.
    openNow()[0]?.socket.destroy();
    await until('there is room', () => isServed('127.0.0.2'));
  });

  test('is not limited behind a proxy, where one address brings all callers', async () => {
    await start();
    const many = Array.from({ length: 30 }, () => open('127.0.0.2', whole));
    await until('all are answered', () => many.every(({ state }) => state.text.includes('ok')));
  });

  test('is not limited on the machine itself, where probes and proxies run', async () => {
    await start(connectionsPerAddressMax);
    const many = Array.from({ length: 30 }, () => open('127.0.0.1'));
    expect(await isServed('127.0.0.1')).toBe(true);
    expect(many.filter(({ state }) => state.closed)).toEqual([]);
    for (let more = 0; more < 30; more += 1) open('127.0.0.1');
    await until('the maximum of all holds', async () => !(await isServed('127.0.0.3')));
  });
});
