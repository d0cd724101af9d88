// Uploads with real sockets: what arrives, what ends them, and where none is made.

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

test('the bytes arrive with their length and type, and the status is returned', async () => {
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

test('a receiver that refuses before the body gets no byte of it', async () => {
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

test('a receiver that does not answer the headers gets the body after a pause', async () => {
  const host = await serve(async (request, response) => {
    const bytes = await buffer(request);
    response.writeHead(bytes.equals(file) ? 200 : 400).end();
  }, 'checkContinue');
  expect(await put(host)).toBe(200);
});

test('a redirect is an answer, and its target is not called', async () => {
  const location = `https://127.0.0.1:${canaries.port}/`;
  const before = canaries.connections();
  const host = await serve((request, response) => {
    request.resume();
    request.once('end', () => response.writeHead(307, { location }).end());
  });
  expect(await put(host)).toBe(307);
  expect(canaries.connections()).toBe(before);
});

test.each(insideHosts)('no connection is made to %s', async (inside) => {
  const before = canaries.connections();
  const url = `https://${inside}:${canaries.port}/video.mp4`;
  const refused = { code: 'address_not_allowed' };
  await expect(put('example.com', { url })).rejects.toMatchObject(refused);
  expect(canaries.connections()).toBe(before);
});

test('no connection is made to a name with an inside address', async () => {
  const before = canaries.connections();
  const url = `https://bucket.example.com:${canaries.port}/video.mp4`;
  const resolve = () => Promise.resolve(['127.0.0.1']);
  const refused = { code: 'address_not_allowed' };
  await expect(put('example.com', { url, resolve })).rejects.toMatchObject(refused);
  expect(canaries.connections()).toBe(before);
});

test('a receiver that hangs fails the upload at the time limit', async () => {
  const host = await serve(() => undefined);
  const limits = { silenceMs: 200 };
  await expect(put(host, { limits })).rejects.toMatchObject({ code: 'timeout' });
});

test('a receiver that cuts the connection fails the upload', async () => {
  const host = await serve((request) => request.once('data', () => request.destroy()));
  await expect(put(host)).rejects.toMatchObject({ name: 'GuardedFailure' });
});

test('an answer of success before all bytes were sent is a failure', async () => {
  const host = await serve((_, response) => response.writeHead(200).end(), 'checkContinue');
  await expect(put(host)).rejects.toMatchObject({ code: 'broken_reply' });
});

test('an error of the source fails the upload with that error', async () => {
  const host = await serve(async (request) => void (await buffer(request).catch(() => null)));
  const bytes = Readable.from(
    (function* () {
      yield file.subarray(0, megabyte);
      throw new Error('The storage is away.');
    })(),
  );
  await expect(put(host, { bytes })).rejects.toThrow('The storage is away.');
});

test('an abort ends the upload with its reason', async () => {
  const host = await serve(() => undefined);
  const stopping = new AbortController();
  const upload = put(host, { signal: stopping.signal });
  stopping.abort(new Error('stopping'));
  await expect(upload).rejects.toThrow('stopping');
});
