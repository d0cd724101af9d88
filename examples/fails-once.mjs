// A receiver that shows how callbacks are retried. It answers 500 to the first attempt of each
// message and 204 to the next one. It does not verify signatures; examples/receiver.mjs does.
//
// PORT=9000 node examples/fails-once.mjs

import { createServer } from 'node:http';

const seen = new Set();

createServer((request, response) => {
  const id = request.headers['webhook-id'];
  const status = seen.has(id) ? 204 : 500;
  seen.add(id);
  request.resume().on('end', () => response.writeHead(status).end());
  console.log(new Date().toISOString(), id, status);
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'));
