// Tests of the link of a result that is not stored yet. The API passes on the provider's bytes, but
// no header or text that reveals the provider.

import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startApi, type TestApi, until } from '../../support/api';
import { type Planted, plantFile } from '../../support/files';

let api: TestApi;
let provider: Server;
let host: string;
const bytes = randomBytes(100_000);
/** The behaviour of the provider at the next request. A number is the status of its reply. */
let answer: 'bytes' | 'cut' | 'endless' | number = 'bytes';
const ranges: (string | undefined)[] = [];
let isClosed = false;

beforeAll(async () => {
  provider = createServer((request, reply) => {
    const { range } = request.headers;
    ranges.push(range);
    const secret = {
      'x-tos-request-id': 'provider',
      server: 'provider',
      'content-type': 'text/html',
    };
    if (typeof answer === 'number') return reply.writeHead(answer, secret).end('provider');
    if (answer === 'endless') {
      reply.once('close', () => (isClosed = true));
      reply.writeHead(200, secret);
      const write = () => {
        while (!reply.destroyed && reply.write(Buffer.alloc(65_536)));
      };
      reply.on('drain', write);
      return write();
    }
    const [, from = 0, to = bytes.length - 1] =
      /bytes=(\d+)-(\d+)/.exec(range ?? '')?.map(Number) ?? [];
    const part = bytes.subarray(from, to + 1);
    reply.writeHead(range ? 206 : 200, {
      ...secret,
      'content-length': part.length,
      ...(range ? { 'content-range': `bytes ${from}-${to}/${bytes.length}` } : {}),
    });
    if (answer === 'bytes') return reply.end(part);
    reply.write(part.subarray(0, 1_000), () => reply.destroy());
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
  api = await startApi({ allowHosts: [host] });
});
afterAll(async () => {
  await api?.close();
  provider?.closeAllConnections();
  provider?.close();
});
beforeEach(() => {
  answer = 'bytes';
  ranges.length = 0;
});

async function awaited(sourceUrl = `http://${host}/signed`): Promise<Planted> {
  const { json } = await api.create();
  return plantFile(api, Buffer.alloc(0), {
    role: 'video',
    task_id: json.id,
    state: 'awaited',
    source_url: sourceUrl,
    content_type: null,
    length: null,
    sha256: null,
  });
}

const read = async ({ token }: Planted, init: RequestInit = {}) => {
  const reply = await fetch(`${api.url}/files/${token}.mp4`, init);
  return { reply, body: Buffer.from(await reply.arrayBuffer()) };
};

test('an unstored result can be read with GET, with a byte range and with HEAD, and no header reveals the provider', async () => {
  const file = await awaited();
  const whole = await read(file);
  expect([whole.reply.status, whole.body.equals(bytes)]).toEqual([200, true]);
  expect(Object.fromEntries(whole.reply.headers)).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': '100000',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  });
  expect(JSON.stringify([...whole.reply.headers])).not.toMatch(/provider|127\.0\.0\.1/);
  const part = await read(file, { headers: { range: 'bytes=10-19' } });
  expect(part.reply.status).toBe(206);
  expect(part.reply.headers.get('content-range')).toBe('bytes 10-19/100000');
  expect(part.body.equals(bytes.subarray(10, 20))).toBe(true);
  const head = await read(file, { method: 'HEAD' });
  expect([head.reply.status, head.reply.headers.get('content-length')]).toEqual([200, '100000']);
  expect(ranges).toEqual([undefined, 'bytes=10-19', undefined]);
});

test.each([
  ['several ranges', { range: 'bytes=0-9,20-29' }],
  ['a range of another unit', { range: 'items=0-9' }],
  ['a range with If-Range', { range: 'bytes=0-9', 'if-range': '"known"' }],
])('a request with %s gets the whole unstored result', async (_, headers) => {
  const { reply, body } = await read(await awaited(), { headers });
  expect([reply.status, body.equals(bytes)]).toEqual([200, true]);
  expect(ranges).toEqual([undefined]);
});

test.each([400, 403, 404, 500])(
  'an unstored result is a 503 with Retry-After if the provider answers %i',
  async (status) => {
    answer = status;
    const { reply, body } = await read(await awaited());
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
    expect(body.toString()).not.toMatch(/provider/);
  },
);

test('an unstored result at an internal address is not read', async () => {
  const hidden = createServer((_, reply) => reply.end('secret'));
  await new Promise<void>((resolve) => hidden.listen(0, '127.0.0.1', resolve));
  const { port } = hidden.address() as AddressInfo;
  const { reply, body } = await read(await awaited(`http://127.0.0.1:${port}/`));
  expect([reply.status, body.toString().includes('secret')]).toEqual([503, false]);
  hidden.close();
});

test('if the provider cuts the transfer, the API cuts the connection to the client', async () => {
  answer = 'cut';
  await expect(read(await awaited())).rejects.toThrow();
  expect(api.failures.splice(0)).toHaveLength(1);
});

test('if the client disconnects, the download from the provider ends without a failure', async () => {
  answer = 'endless';
  const leaving = new AbortController();
  const { token } = await awaited();
  const reply = await fetch(`${api.url}/files/${token}.mp4`, { signal: leaving.signal });
  expect(reply.status).toBe(200);
  leaving.abort();
  await until(() => isClosed);
  expect(api.failures).toEqual([]);
});
