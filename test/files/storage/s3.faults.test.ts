// Tests the names of S3 faults, with which an operator can tell the causes apart. Most tests use a
// real S3 server. The other tests use a small HTTP server, because a real server cannot be made to
// show these faults.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { freePorts } from '../../../src/embedded/ports';
import { createS3 } from '../../../src/files/storage/s3';
import type { S3Settings } from '../../../src/files/storage/s3-requests';
import type { Storage } from '../../../src/files/storage/storage';
import { lengthOf } from '../../support/files';
import { type S3Server, startS3Server } from '../../support/s3-server';

let server: S3Server;
const servers: Server[] = [];
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(async () => {
  await server?.stop();
  for (const each of servers) each.close();
  for (const each of servers) each.closeAllConnections();
});

const video = { contentType: 'video/mp4', length: 3 };
const three = () => Readable.from([Buffer.from('abc')]);
const storageWith = (changes: Partial<S3Settings>) =>
  createS3({ ...server.settings, ...changes }, server.folder);

async function faultsOf(storage: Storage): Promise<unknown[]> {
  const calls = [
    storage.write('a.mp4', three(), video),
    storage.read('a.mp4'),
    storage.remove('a.mp4'),
    firstOf(storage.list('')),
  ];
  const ends = await Promise.allSettled(calls);
  return ends.map((end) => (end.status === 'rejected' ? end.reason.fault : 'none'));
}

async function firstOf(objects: AsyncIterable<unknown>): Promise<unknown> {
  for await (const object of objects) return object;
  return null;
}

test('a wrong access key or secret is reported as the fault "denied"', async () => {
  const wrong = storageWith({ accessKeyId: 'another-key' });
  expect(await faultsOf(wrong)).toEqual(Array(4).fill('denied'));
  const secret = storageWith({ secretAccessKey: 'another-secret' });
  expect(await faultsOf(secret)).toEqual(Array(4).fill('denied'));
});

test('a missing bucket is reported as the fault "no bucket"', async () => {
  await server.createBucket('vanishing');
  const storage = storageWith({ bucket: 'vanishing' });
  await storage.remove('a.mp4');
  await server.removeBucket('vanishing');
  expect(await faultsOf(storage)).toEqual(Array(4).fill('no bucket'));
});

test('an S3 server that cannot be reached is reported as the fault "away"', async () => {
  const [port] = await freePorts(1);
  const storage = storageWith({ endpoint: `http://127.0.0.1:${port}` });
  expect(await faultsOf(storage)).toEqual(Array(4).fill('away'));
});

test('if the source of a write fails, the write fails with the same error', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('a');
      throw Object.assign(new Error('The source was cut.'), { code: 'ECONNRESET' });
    })(),
  );
  const write = createS3(server.settings, server.folder).write('b.mp4', broken, video);
  await expect(write).rejects.toThrow('The source was cut.');
});

test('a write fails with the fault "away" if the S3 server is killed, and no part of the object is stored', async () => {
  const storage = createS3(server.settings, server.folder);
  const chunk = Buffer.alloc(65_536);
  const source = Readable.from(
    (async function* () {
      for (let sent = 0; sent < 40; sent += 1) {
        yield chunk;
        if (sent === 20) await server.kill();
      }
    })(),
  );
  const write = storage.write('cut.mp4', source, { ...video, length: 40 * chunk.length });
  await expect(write).rejects.toMatchObject({ fault: 'away' });
  await server.restart();
  expect(await lengthOf(storage, 'cut.mp4')).toBeNull();
  await storage.write('cut.mp4', three(), video);
  expect(await lengthOf(storage, 'cut.mp4')).toBe(3);
});

test('a presigned link needs no key, gives access to a single object, and sets the content type', async () => {
  const storage = createS3(server.settings, server.folder);
  await storage.write('linked.mp4', three(), video);
  const link = await storage.presigned('linked.mp4', { seconds: 60, contentType: 'video/webm' });
  const reply = await fetch(link ?? '', { headers: { range: 'bytes=1-2' } });
  expect([reply.status, reply.headers.get('content-type')]).toEqual([206, 'video/webm']);
  expect(await reply.text()).toBe('bc');
  const other = await fetch((link ?? '').replace('linked.mp4', 'cut.mp4'));
  await other.text();
  expect(other.status).toBe(403);
});

test('a presigned link from an earlier time is always the same, and ends after its seconds', async () => {
  const storage = createS3(server.settings, server.folder);
  await storage.write('linked.mp4', three(), video);
  const now = Date.now();
  const linkFrom = (secondsAgo: number) => {
    const from = new Date(now - secondsAgo * 1_000);
    return storage.presigned('linked.mp4', { seconds: 3_600, contentType: 'video/mp4', from });
  };
  const [valid, over] = [await linkFrom(3_000), await linkFrom(3_700)];
  await setTimeout(1_100);
  expect(await linkFrom(3_000)).toBe(valid);
  const replies = await Promise.all([valid, over].map((link) => fetch(link ?? '')));
  await Promise.all(replies.map((reply) => reply.text()));
  expect(replies.map(({ status }) => status)).toEqual([200, 403]);
});

describe('with a faulty S3 server', () => {
  test.each([
    [507, 'InsufficientStorage', 'full'],
    [403, 'QuotaExceeded', 'full'],
    [503, 'SlowDown', 'away'],
    [500, 'InternalError', 'away'],
    [400, 'AuthorizationHeaderMalformed', 'denied'],
    [400, 'IncompleteBody', 'wrong length'],
  ])(
    'a write that is answered with %i %s fails with the fault "%s"',
    async (status, code, fault) => {
      const endpoint = await serve((_, response) => {
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(`<Error><Code>${code}</Code><Message>The reason.</Message></Error>`);
      });
      const write = storageWith({ endpoint }).write('a.mp4', three(), video);
      await expect(write).rejects.toMatchObject({
        fault,
        message: expect.stringContaining(`${status} ${code} The reason.`),
      });
    },
  );

  const limits = { idleMs: 300 };

  test('every call without an answer fails with the fault "away"', async () => {
    const endpoint = await serve(() => undefined);
    expect(await faultsOf(storageWith({ endpoint, limits }))).toEqual(Array(4).fill('away'));
  });

  test('the reader of an incomplete object gets an error', async () => {
    const endpoint = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half.');
    });
    const bytes = await storageWith({ endpoint, limits }).read('a.mp4');
    await expect(buffer(bytes as Readable)).rejects.toMatchObject({ fault: 'away' });
  });

  test('if the server does not answer `100 Continue`, the client sends the body after a pause', async () => {
    const received: string[] = [];
    const endpoint = await serve(async (request, response) => {
      received.push((await buffer(request)).toString());
      response.end();
    });
    const raw = servers.at(-1) as Server;
    raw.on('checkContinue', (request, response) => raw.emit('request', request, response));
    await storageWith({ endpoint }).write('a.mp4', three(), video);
    expect(received).toEqual(['abc']);
  });
});

test('a write succeeds even if its source pauses for longer than the idle time limit of the S3 connection', async () => {
  const slow = Readable.from(
    (async function* () {
      yield Buffer.from('a');
      await setTimeout(4_000);
      yield Buffer.from('bc');
    })(),
  );
  await storageWith({ limits: { idleMs: 2_000 } }).write('slow.mp4', slow, video);
});

async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const listening = createServer(answer);
  servers.push(listening);
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}
