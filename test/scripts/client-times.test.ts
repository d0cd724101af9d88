// The time limits of the TypeScript client, against servers that take or give bytes slowly.

import { VideoClient } from '../../clients/typescript/src';
import { until } from '../support/until';
import { webServers } from '../support/web-servers';

const startServer = webServers();

test('an upload may take longer than the time limit, because its bytes take time', async () => {
  let attempts = 0;
  const host = await startServer((request, response) => {
    attempts += 1;
    request.resume();
    setTimeout(() => response.end(JSON.stringify({ id: 'file_1' })), 1_000);
  });
  const client = new VideoClient({ baseUrl: `http://${host}`, apiKey: 'key', timeoutMs: 500 });
  const { id } = await client.upload(new Uint8Array(500_000));
  expect([id, attempts]).toEqual(['file_1', 1]);
});

test('an upload that breaks after the time for repeats is repeated', async () => {
  let attempts = 0;
  const host = await startServer((request, response) => {
    attempts += 1;
    request.resume();
    if (attempts === 1) setTimeout(() => response.destroy(), 1_000);
    else response.end(JSON.stringify({ id: 'file_1' }));
  });
  const client = new VideoClient({ baseUrl: `http://${host}`, apiKey: 'key', repeatForMs: 500 });
  const { id } = await client.upload(new Uint8Array(500_000));
  expect([id, attempts]).toEqual(['file_1', 2]);
});

test('a download continues after a caller that took its time for a chunk', async () => {
  const bytes = Buffer.alloc(20_000_000, 1);
  let reads = 0;
  const host = await startServer((request, response) => {
    reads += 1;
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': bytes.length - from });
    response.end(bytes.subarray(from));
  });
  const times = { timeoutMs: 5_000, repeatForMs: 1_000 };
  const client = new VideoClient({ baseUrl: `http://${host}`, apiKey: 'key', ...times });
  let received = 0;
  for await (const chunk of client.download(`http://${host}/files/a.mp4`)) {
    if (received === 0) await new Promise((resolve) => setTimeout(resolve, 6_000));
    received += chunk.length;
  }
  expect([received, reads]).toEqual([bytes.length, 1]);
});

test('a download that meets another file closes its connection', async () => {
  let isLeft = false;
  const host = await startServer((request, response) => {
    const isFirst = request.headers.range === undefined;
    response.writeHead(isFirst ? 200 : 206, { etag: isFirst ? '"a"' : '"b"' });
    response.write('some bytes');
    if (isFirst) setTimeout(() => response.destroy(), 200);
    else response.once('close', () => (isLeft = true));
  });
  const client = new VideoClient({ baseUrl: `http://${host}`, apiKey: 'key' });
  const read = async () => {
    for await (const _ of client.download(`http://${host}/files/a.mp4`));
  };
  await expect(read()).rejects.toMatchObject({ code: 'content_changed' });
  await until('the connection is closed', () => isLeft, 5_000);
});
