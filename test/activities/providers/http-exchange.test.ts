// These tests send requests to a provider. They cover the Retry-After header, the separate
// connections of creates and reads, and the end of our process.

import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { exchange } from '../../../activities/providers/http-exchange';
import { type Canned, startCanned } from '../../support/canned';
import { until } from '../../support/until';
import { webServers } from '../../support/web-servers';

const startServer = webServers();

let service: Canned;
beforeAll(async () => {
  service = await startCanned();
});
afterAll(() => service?.close());

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

test.each([
  ['a number of seconds', () => '7', 7_000, 7_000],
  ['a date', () => inSeconds(20), 1_000, 20_000],
  ['a past date', () => inSeconds(-60), 0, 0],
  ['more than the allowed half a minute', () => '86400', 30_000, 30_000],
])(
  'a Retry-After header with %s gives the expected delay of a read',
  async (_, header, least, most) => {
    service.say = () => ({ status: 429, headers: { 'retry-after': header() } });
    const answer = await ask();
    expect(answer.retryAfterMs).toBeGreaterThanOrEqual(least);
    expect(answer.retryAfterMs).toBeLessThanOrEqual(most);
  },
);

test('a Retry-After header delays creates by two minutes at most', async () => {
  service.say = () => ({ status: 429, headers: { 'retry-after': '86400' } });
  expect((await ask(undefined, 'POST')).retryAfterMs).toBe(120_000);
});

test('a read is answered while 70 creates are waiting for their answers', async () => {
  const hanging = await startServer((request, response) => {
    if (request.method === 'GET') response.end('{}');
  });
  const common = { url: `http://${hanging}`, apiKey: 'key', timeoutMs: 5_000 };
  const creates = Array.from({ length: 70 }, () => exchange({ ...common, method: 'POST' }));
  void Promise.allSettled(creates);
  expect(await exchange({ ...common, method: 'GET' })).toMatchObject({ status: 200 });
});

test('each create opens a connection of its own', async () => {
  const used = new WeakSet<object>();
  const host = await startServer(({ socket }, response) => {
    if (used.has(socket)) return socket.resetAndDestroy();
    used.add(socket);
    response.end('{}');
  });
  const create = {
    method: 'POST',
    url: `http://${host}`,
    apiKey: 'key',
    timeoutMs: 5_000,
  } as const;
  for (const _ of [1, 2]) {
    expect(await exchange(create)).toMatchObject({ status: 200 });
    await setTimeout(50);
  }
  // More than may have a socket at once.
  const many = await Promise.all(Array.from({ length: 150 }, () => exchange(create)));
  expect(many.map(({ status }) => status)).toEqual(Array(150).fill(200));
});

test('an invalid Retry-After header is ignored', async () => {
  service.say = () => ({ status: 429, headers: { 'retry-after': 'soon' } });
  expect((await ask()).retryAfterMs).toBeNull();
});

test('a process that is about to stop fails every request to a provider with the code STOPPING', async () => {
  await expect(ask(AbortSignal.abort())).rejects.toMatchObject({ code: 'STOPPING' });
});

/** A file of 40 MB, and what was read of it. */
function largeFile() {
  const chunk = Buffer.alloc(64_000);
  const file = { mark: 'mark', bytes: 40_960_000, open, read: 0, isOpen: false };
  async function* chunks() {
    file.isOpen = true;
    try {
      for (; file.read < file.bytes; file.read += chunk.length) yield chunk;
    } finally {
      file.isOpen = false;
    }
  }
  async function open() {
    return chunks();
  }
  return file;
}

test('an answer before the end of a file counts, and the file is read no further', async () => {
  const host = await startServer((request, response) => {
    request.once('data', () => {
      request.pause();
      response.writeHead(413).end('{}');
    });
  });
  const file = largeFile();
  const common = {
    method: 'POST',
    url: `http://${host}`,
    apiKey: 'key',
    timeoutMs: 60_000,
  } as const;
  const answer = await exchange({ ...common, body: { image: file.mark }, files: [file] });
  expect(answer.status).toBe(413);
  await until('the file is closed', () => !file.isOpen);
  expect(file.read).toBeLessThan(file.bytes);
});

test('a create whose file was not sent within the time limit has certainly not arrived', async () => {
  let received = '';
  const host = await startServer((request) => {
    request.once('data', (chunk) => {
      received += String(chunk);
      request.pause();
    });
  });
  const file = largeFile();
  const common = {
    method: 'POST',
    url: `http://${host}`,
    apiKey: 'key',
    timeoutMs: 2_000,
  } as const;
  const sent = exchange({ ...common, body: { image: file.mark }, files: [file] });
  await expect(sent).rejects.toMatchObject({ kind: 'late', code: 'TIMEOUT' });
  expect(received).toContain('{"image":"');
  await until('the file is closed', () => !file.isOpen);
  expect(file.read).toBeLessThan(file.bytes);
});

test('a form contains the bytes of its files in a body of known length', async () => {
  let body = '';
  const host = await startServer(async (request, response) => {
    body = await text(request);
    expect(request.headers['content-length']).toBe(String(body.length));
    response.end('{}');
  });
  const bytes = Buffer.from('four bytes and more');
  const file = { mark: 'mark', bytes: bytes.length, open: async () => Readable.from([bytes]) };
  const common = {
    method: 'POST',
    url: `http://${host}`,
    apiKey: 'key',
    timeoutMs: 5_000,
  } as const;
  const form = { image: `data:image/png;base64,${file.mark}`, again: file.mark };
  expect(await exchange({ ...common, form, files: [file] })).toMatchObject({ status: 200 });
  const encoded = bytes.toString('base64');
  expect(body).toContain(`name="image"\r\n\r\ndata:image/png;base64,${encoded}\r\n`);
  expect(body).toContain(`name="again"\r\n\r\n${encoded}\r\n`);
});

function ask(hurry?: AbortSignal, method: 'GET' | 'POST' = 'GET') {
  return exchange({ method, url: service.url, apiKey: 'key', timeoutMs: 5_000, hurry });
}

test('a key that no header can have is an error, and nothing happens after the time limit', async () => {
  const asked = { method: 'GET', url: service.url, apiKey: 'sk-abc\n', timeoutMs: 100 } as const;
  await expect(exchange(asked)).rejects.toThrow(/Invalid character/);
  await setTimeout(300);
});

test('no answer leaves a listener behind, not even one that changes the protocol', async () => {
  const stopping = new AbortController();
  const host = await startServer((request) => {
    request.socket.end(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    );
  });
  const asked = { method: 'GET', url: `http://${host}`, apiKey: 'key', timeoutMs: 300 } as const;
  await expect(exchange({ ...asked, hurry: stopping.signal })).rejects.toMatchObject({
    kind: 'ambiguous',
  });
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
});
