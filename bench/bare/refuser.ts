// The reference for a flood of requests: a bare server that refuses every request immediately. It
// reads no body.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const body = JSON.stringify({ error: { code: 'refused', message: 'Refused.' } });

const server = createServer((request, response) => {
  const isLarge = Number(request.headers['content-length'] ?? 0) > 128 * 1024;
  response.writeHead(401, {
    'content-length': body.length,
    ...(isLarge ? { connection: 'close' } : {}),
  });
  response.end(body);
});

server.listen(0, '127.0.0.1', () => process.send?.(server.address() as AddressInfo));
process.once('disconnect', () => process.exit(0));
