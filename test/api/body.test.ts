// A caller who leaves before his body has come: whoever waits for it is told, and does not wait for
// ever.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { readJsonBody } from '../../src/api/body';

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

/** A request whose body is announced with 100 bytes, of which a few have come. */
async function half(): Promise<IncomingMessage> {
  const next = once(server, 'request');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n');
  socket.write('content-length: 100\r\n\r\n{"model":');
  const [request] = (await next) as [IncomingMessage];
  return request;
}

const refusal = { refusal: { code: 'invalid_json' } };

test('in the middle of his body', async () => {
  const read = readJsonBody(await half(), 1_000);
  const refused = expect(read).rejects.toMatchObject(refusal);
  setTimeout(() => socket.destroy(), 50);
  await refused;
});

test('before anybody reads it', async () => {
  const request = await half();
  socket.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  await expect(readJsonBody(request, 1_000)).rejects.toMatchObject(refusal);
});
