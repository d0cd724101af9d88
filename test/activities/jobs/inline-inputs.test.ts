// These tests send creates whose input files are inside the request, because the generator can read
// no link of them. Files are read while they are sent, and large ones hold nobody up.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WorkerDeps } from '../../../activities/deps';
import type { Storage } from '../../../src/files/storage/storage';
import { createAccount } from '../../../src/money/new-account.rows';
import { aPlan, aRequest } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { plantFile } from '../../support/files';
import { until } from '../../support/until';
import { startUpstream, type Upstream } from '../../support/upstream';
import { webServers } from '../../support/web-servers';

const serve = webServers();
let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => upstream?.close());
afterAll(() => database?.drop());

const lengthOf = ({ headers }: IncomingMessage) => Number(headers['content-length']);

async function open(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const host = await serve(answer);
  upstream = await startUpstream(database.db, (base) => [
    { ...base, baseUrl: `http://${host}`, requestTimeoutMs: 170_000 },
  ]);
}

/** A job of a new account with one image, or without one. */
async function jobOf(accountId: string, image?: { readonly id: string }) {
  const { plan } = await upstream.input();
  const images = image ? [image.id] : [];
  return upstream.input(
    {},
    {
      accountId,
      plan: aPlan({
        channels: plan.channels,
        ...(image ? { files: { [image.id]: image.id } } : {}),
      }),
      request: aRequest({ images }),
    },
  );
}

async function accountWithImage(bytes: Buffer) {
  const { accountId } = await createAccount(database.db, { name: 'a', creditMicros: 1 });
  const { storage } = upstream.deps;
  const image = await plantFile({ db: database.db, storage, accountId }, bytes, {
    media: 'image',
    content_type: 'image/png',
  });
  return { accountId, image };
}

test('creates with large files keep no create with a small file or without files waiting, and are read only as fast as they are sent', async () => {
  const size = 40_000_000;
  const large: [IncomingMessage, ServerResponse][] = [];
  const accept = (response: ServerResponse) => response.end(`{"id":"${randomUUID()}"}`);
  // The generator does not read large creates until it has answered the small ones.
  await open(async (request, response) => {
    if (lengthOf(request) > size) return void large.push([request, response]);
    await text(request);
    accept(response);
  });
  let read = 0;
  const counted: Storage = {
    ...upstream.deps.storage,
    async read(key) {
      const bytes = await upstream.deps.storage.read(key);
      bytes?.on('data', (chunk: Buffer) => (read += chunk.length));
      bytes?.pause();
      return bytes;
    },
  };
  const over: Partial<WorkerDeps> = { storage: counted };
  const first = await accountWithImage(Buffer.alloc(size, 'a'));
  const second = await accountWithImage(Buffer.alloc(27_000, 'b'));
  const many = await Promise.all(
    Array.from({ length: 12 }, () => jobOf(first.accountId, first.image)),
  );
  const sent = Promise.all(many.map((input) => upstream.attempt(input, over)));
  await until('all large creates have begun', () => large.length === many.length);
  for (const input of [
    await jobOf(second.accountId, second.image),
    await jobOf(second.accountId),
  ]) {
    expect(await upstream.attempt(input, over)).toMatchObject({ outcome: 'open' });
  }
  // The buffers of the system take a few megabytes of each create.
  expect(read).toBeLessThan((many.length * size) / 2);
  for (const [request, response] of large) request.resume().once('end', () => accept(response));
  for (const placed of await sent) expect(placed).toMatchObject({ outcome: 'open' });
  expect(read).toBeGreaterThanOrEqual(many.length * size);
});

test('the generator gets the whole file in a body of known length', async () => {
  const bodies: string[] = [];
  await open(async (request, response) => {
    const body = await text(request);
    expect(lengthOf(request)).toBe(Buffer.byteLength(body));
    bodies.push(body);
    response.end('{"id":"job-whole"}');
  });
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 251));
  const { accountId, image } = await accountWithImage(bytes);
  expect(await upstream.attempt(await jobOf(accountId, image))).toMatchObject({ outcome: 'open' });
  const [body] = bodies;
  const { content } = JSON.parse(body ?? '') as { content: { image_url?: { url: string } }[] };
  const url = `data:image/png;base64,${bytes.toString('base64')}`;
  expect(content[1]?.image_url?.url === url).toBe(true);
});

test('a create whose file cannot be read has certainly not arrived, and is sent again', async () => {
  let isFailing = true;
  await open(async (request, response) => {
    await text(request).catch(() => undefined);
    response.end('{"id":"job-again"}');
  });
  const { accountId, image } = await accountWithImage(Buffer.alloc(3_000_000));
  const { storage } = upstream.deps;
  const failing: Storage = {
    ...storage,
    async read(key) {
      const bytes = await storage.read(key);
      if (isFailing) bytes?.once('data', () => bytes.destroy(new Error('the disk is away')));
      return bytes;
    },
  };
  const input = await jobOf(accountId, image);
  const attempt = () => upstream.attempt(input, { storage: failing });
  await expect(attempt()).rejects.toMatchObject({ type: 'TooLate' });
  expect(upstream.deps.channels.restMs('studio', 'creates')).toBe(0);
  isFailing = false;
  expect(await attempt()).toMatchObject({ outcome: 'open', upstreamId: 'job-again' });
});
