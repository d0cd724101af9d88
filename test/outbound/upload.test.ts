// Tests uploads with real sockets. The tests show which bytes arrive, what ends an upload, and
// which addresses get no connection.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { putBytes, type Upload } from '../../src/outbound/upload';
import { type Canaries, startCanaries } from '../support/canaries';
import { insideHosts } from '../support/hosts';
import { webServers } from '../support/web-servers';

let canaries: Canaries;
const serve = webServers();
beforeAll(async () => {
  canaries = await startCanaries();
});
afterAll(() => canaries?.close());

const megabyte = 1024 * 1024;
const file = randomBytes(3 * megabyte);

const put = (host: string, over: Partial<Upload> = {}) =>
  putBytes({
    url: `http://${host}/bucket/video.mp4?X-Amz-Signature=secret`,
    bytes: Readable.from([file.subarray(0, megabyte), file.subarray(megabyte)]),
    length: file.length,
    contentType: 'video/mp4',
    allowHosts: [host],
    ...over,
  });

test('an upload sends the bytes with their length and type, and returns the status', async () => {
  let received: { bytes: Buffer; request: IncomingMessage } | undefined;
  const host = await serve(async (request, response) => {
    received = { bytes: await buffer(request), request };
    response.writeHead(201).end();
  });
  expect(await put(host)).toBe(201);
  expect(received?.bytes.equals(file)).toBe(true);
  const { method, url, headers } = received!.request;
  expect([method, url]).toEqual(['PUT', '/bucket/video.mp4?X-Amz-Signature=secret']);
  expect(headers).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': String(file.length),
  });
  expect(headers['transfer-encoding']).toBeUndefined();
});

test('an upload sends no bytes to a receiver that refuses the headers', async () => {
  const host = await serve((_, response) => response.writeHead(403).end(), 'checkContinue');
  let isRead = false;
  const bytes = new Readable({
    read() {
      isRead = true;
      this.push(null);
    },
  });
  expect(await put(host, { bytes })).toBe(403);
  expect([isRead, bytes.destroyed]).toEqual([false, true]);
});

test('an upload sends the body after a pause if the receiver does not answer the headers', async () => {
  const host = await serve(async (request, response) => {
    const bytes = await buffer(request);
    response.writeHead(bytes.equals(file) ? 200 : 400).end();
  }, 'checkContinue');
  expect(await put(host)).toBe(200);
});

test('an upload returns the status of a redirect and does not connect to the target of the redirect', async () => {
  const location = `https://127.0.0.1:${canaries.port}/`;
  const before = canaries.connections();
  const host = await serve((request, response) => {
    request.resume();
    request.once('end', () => response.writeHead(307, { location }).end());
  });
  expect(await put(host)).toBe(307);
  expect(canaries.connections()).toBe(before);
});

test.each(insideHosts)('an upload makes no connection to %s', async (inside) => {
  const before = canaries.connections();
  const url = `https://${inside}:${canaries.port}/video.mp4`;
  const refused = { code: 'address_not_allowed' };
  await expect(put('example.com', { url })).rejects.toMatchObject(refused);
  expect(canaries.connections()).toBe(before);
});

test('an upload makes no connection to a name that resolves to an internal address', async () => {
  const before = canaries.connections();
  const url = `https://bucket.example.com:${canaries.port}/video.mp4`;
  const resolve = () => Promise.resolve(['127.0.0.1']);
  const refused = { code: 'address_not_allowed' };
  await expect(put('example.com', { url, resolve })).rejects.toMatchObject(refused);
  expect(canaries.connections()).toBe(before);
});

test('an upload fails with a timeout if the receiver does not answer', async () => {
  const host = await serve(() => undefined);
  const limits = { silenceMs: 200 };
  await expect(put(host, { limits })).rejects.toMatchObject({ code: 'timeout' });
});

test('an upload fails if the receiver cuts the connection', async () => {
  const host = await serve((request) => request.once('data', () => request.destroy()));
  await expect(put(host)).rejects.toMatchObject({ name: 'GuardedFailure' });
});

test('an upload fails if the receiver answers 200 before all bytes were sent', async () => {
  const host = await serve((_, response) => response.writeHead(200).end(), 'checkContinue');
  await expect(put(host)).rejects.toMatchObject({ code: 'broken_reply' });
});

test('an upload fails with the error of the stream that it reads', async () => {
  const host = await serve(async (request) => void (await buffer(request).catch(() => null)));
  const bytes = Readable.from(
    (function* () {
      yield file.subarray(0, megabyte);
      throw new Error('The storage is away.');
    })(),
  );
  await expect(put(host, { bytes })).rejects.toThrow('The storage is away.');
});

test('an abort ends an upload with the reason of the abort', async () => {
  const host = await serve(() => undefined);
  const stopping = new AbortController();
  const upload = put(host, { signal: stopping.signal });
  stopping.abort(new Error('stopping'));
  await expect(upload).rejects.toThrow('stopping');
});
