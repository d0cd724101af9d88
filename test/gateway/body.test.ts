// Tests of reading a body whose caller disconnects before the whole body has arrived. The read must
// end with a refusal and must not hang.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { readJsonBody } from '../../src/gateway/body';

let server: Server;
let socket: Socket;

beforeEach(async () => {
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
});
afterEach(() => {
  socket.destroy();
  server.close();
});

/** Sends a request that announces 100 bytes but contains only a few of them. */
async function half(): Promise<IncomingMessage> {
  const next = once(server, 'request');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n');
  socket.write('content-length: 100\r\n\r\n{"model":');
  const [request] = (await next) as [IncomingMessage];
  return request;
}

const refusal = { refusal: { code: 'invalid_json' } };

test('the read of a body ends with a refusal if the caller disconnects in the middle of the body', async () => {
  const read = readJsonBody(await half(), 1_000);
  const refused = expect(read).rejects.toMatchObject(refusal);
  setTimeout(() => socket.destroy(), 50);
  await refused;
});

test('the read of a body ends with a refusal if the caller disconnected before the read', async () => {
  const request = await half();
  socket.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  await expect(readJsonBody(request, 1_000)).rejects.toMatchObject(refusal);
});
