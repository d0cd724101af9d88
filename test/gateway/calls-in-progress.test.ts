// Tests that one account, and behind a proxy one address, cannot hold all connections with calls that
// take long.

import { connect, type Socket } from 'node:net';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  const { failures } = api;
  await api.close();
  expect(failures).toEqual([]);
});

/** Begins a create whose body does not arrive. The API answers 100 when it begins to read the body. */
async function begin(apiKey: string, headers = '') {
  const { socket, state } = send(apiKey, `${headers}Expect: 100-continue\r\n`);
  await until('it is in progress', () => state.text.startsWith('HTTP/1.1 100 '));
  return socket;
}

function send(apiKey: string, headers: string) {
  const port = Number(new URL(api.url).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  const state = { text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (data) => (state.text += String(data)));
  const sent = `POST ${create} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n${headers}`;
  const type = headers.includes('Content-Type') ? '' : 'Content-Type: application/json\r\n';
  socket.write(`${sent}${type}Content-Length: 1000\r\n\r\n`);
  return { socket, state };
}

const reading = (apiKey: string, headers: Record<string, string> = {}) =>
  call(api.url, apiKey, 'GET', '/v1/account', undefined, headers);
const statusOf = async (apiKey: string) => (await reading(apiKey)).status;

test('an account with too many slow bodies gets a 429 for further calls, and other accounts are served', async () => {
  api = await startApi({ calls: { own: 2, all: 10_000 } });
  const { apiKey: second } = await api.aKey({});
  const { apiKey: other } = await api.anAccount();
  const first = await begin(api.apiKey);
  await begin(second);
  const { json, headers } = await reading(second);
  expect(json.error).toMatchObject({ code: 'rate_limited', type: 'rate_limit_error' });
  expect(json.error.message).toMatch(/^This account has 2 calls in progress/);
  expect(headers.get('retry-after')).toBe('1');
  expect(await statusOf(other)).toBe(200);
  first.destroy();
  await until('there is room', async () => (await statusOf(second)) === 200);
});

test('held reads are calls in progress', async () => {
  api = await startApi({ calls: { own: 2, all: 10_000 } });
  const { json } = await api.create();
  const read = () => api.call('GET', `${create}/${json.id}`, undefined, { prefer: 'wait=60' });
  const held = [read(), read()];
  await until('both are held', async () => (await statusOf(api.apiKey)) === 429);
  await api.finish(json.id);
  for (const { status } of await Promise.all(held)) expect(status).toBe(200);
  expect(await statusOf(api.apiKey)).toBe(200);
});

test('a refused call is in progress as long as the rest of its body arrives', async () => {
  api = await startApi({ calls: { own: 1, all: 10_000 } });
  const { socket, state } = send(api.apiKey, 'Content-Type: text/plain\r\n');
  const trickle = setInterval(() => socket.write('x'), 100);
  await until('it is refused', () => state.text.startsWith('HTTP/1.1 415 '));
  expect(await statusOf(api.apiKey)).toBe(429);
  clearInterval(trickle);
  socket.destroy();
  await until('there is room', async () => (await statusOf(api.apiKey)) === 200);
});

test('many calls of an account one after another are never too many', async () => {
  api = await startApi({ calls: { own: 1, all: 10_000 } });
  for (let time = 0; time < 10; time += 1) {
    expect((await api.call('POST', create, textBody)).status).toBe(200);
    expect(await statusOf('no key')).toBe(401);
  }
});

test('behind a trusted proxy the calls in progress of each address are limited', async () => {
  api = await startApi({ calls: { own: 2, all: 10_000 }, trustedProxies: 1 });
  const { apiKey: other } = await api.anAccount();
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const forwarded = 'X-Forwarded-For: 192.0.2.1\r\n';
  const first = await begin(api.apiKey, forwarded);
  await begin(api.apiKey, forwarded);
  const statusFrom = async (address: string) => (await reading(other, from(address))).status;
  expect(await statusFrom('192.0.2.1')).toBe(429);
  // An address that the caller wrote into the header stands further left, and is ignored.
  const { json } = await reading(other, from('192.0.2.2, 192.0.2.1'));
  expect(json.error.message).toMatch(/^This address has 2 calls in progress/);
  expect(await statusFrom('192.0.2.2')).toBe(200);
  first.destroy();
  await until('there is room', async () => (await statusFrom('192.0.2.1')) === 200);
});
