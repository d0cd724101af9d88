// The reference for the delivery of files: a server that streams one file to every request.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';

const file = process.argv[2] ?? '';

const server = createServer(async (_request, response) => {
  const { size } = await stat(file);
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': size });
  // A client may close the connection early. This error is ignored, because the bench counts the
  // bytes that have arrived.
  await pipeline(createReadStream(file), response).catch(() => undefined);
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.once('disconnect', () => process.exit(0));
