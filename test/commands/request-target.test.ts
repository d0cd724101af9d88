// Tests that a request has one path, however its client writes it.

import { connect } from 'node:net';
import Koa from 'koa';
import { listen } from '../../src/commands/http-server';
import { isUpload } from '../../src/files/read-upload.http';

test.each([
  ['http://x/v1/files', '/v1/files', ''],
  ['HTTP://x:80/v1/files?name=a', '/v1/files', 'name=a'],
  ['//x/v1/files', '//x/v1/files', ''],
  ['http://x', '/', ''],
  ['http://x?name=a', '/', 'name=a'],
  ['/v1/files#x', '/v1/files', ''],
  ['/v1/files?name=a#?x', '/v1/files', 'name=a'],
  ['*', '/*', ''],
])('a request of %j has the same path everywhere', async (target, path, query) => {
  const app = new Koa();
  app.use((ctx) => {
    ctx.body = { path: ctx.path, query: ctx.querystring, isUpload: isUpload(ctx.req) };
  });
  let asUpload: boolean | undefined;
  const options = {
    isUpload: (request: Parameters<typeof isUpload>[0]) => {
      asUpload = isUpload(request);
      return asUpload;
    },
  };
  const address = { host: 'HOST', port: 'PORT' };
  const server = await listen(app.callback(), '127.0.0.1', 0, address, options);
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    Buffer.from(
      `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      'latin1',
    ),
  );
  let text = '';
  for await (const part of socket) text += String(part);
  await server.close();
  const seen = JSON.parse(text.split('\r\n\r\n')[1] ?? 'null');
  expect(seen).toEqual({ path, query, isUpload: path === '/v1/files' });
  expect(asUpload).toBe(seen.isUpload);
});
