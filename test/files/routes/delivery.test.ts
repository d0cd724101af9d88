// Tests of the public link of a stored file: whole files, byte ranges, caching, removed files and
// redirects.

import { randomBytes } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { setAccountDisabled } from '../../../src/accounts/accounts.rows';
import { gatheredAtOnce } from '../../../src/database/gathered';
import { gatheredFindFile } from '../../../src/files/links.rows';
import { StorageError } from '../../../src/files/storage/storage';
import { removeUpload } from '../../../src/files/uploads.rows';
import { startApi, type TestApi } from '../../support/api';
import { countStatements } from '../../support/database';
import { type Planted, plantFile } from '../../support/files';
import { until } from '../../support/until';

let api: TestApi;
let file: Planted;
const bytes = randomBytes(300_000);
beforeAll(async () => {
  api = await startApi({ unknown: { perSecond: 5, burst: 5 } });
  file = await plantFile(api, bytes);
});
afterAll(() => api?.close());

const link = ({ token }: Planted) => `${api.url}/files/${token}.mp4`;
const read = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
  const reply = await fetch(url, { method, headers, redirect: 'manual' });
  return { reply, body: Buffer.from(await reply.arrayBuffer()) };
};

test('a file link needs no API key and returns the whole file', async () => {
  const { reply, body } = await read(link(file));
  expect(reply.status).toBe(200);
  expect(body.equals(bytes)).toBe(true);
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': '300000',
    'content-disposition': 'inline',
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
    'cache-control': 'private, max-age=86400, immutable',
    'x-content-type-options': 'nosniff',
    etag: `"${file.sha256}"`,
  });
});

test.each([
  ['bytes=0-0', 0, 1],
  ['bytes=1000-1999', 1000, 2000],
  ['bytes=299000-', 299_000, 300_000],
  ['bytes=299000-999999999', 299_000, 300_000],
  ['bytes=-500', 299_500, 300_000],
  ['bytes=-999999999', 0, 300_000],
])('a request with "Range: %s" returns that part of the file', async (range, from, to) => {
  const { reply, body } = await read(link(file), { range });
  expect(reply.status).toBe(206);
  expect(reply.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/300000`);
  expect(reply.headers.get('content-length')).toBe(String(to - from));
  expect(body.equals(bytes.subarray(from, to))).toBe(true);
});

test.each(['bytes=0-1,5-6', 'items=0-1', 'bytes=5-1', 'bytes=-', 'bytes=x-'])(
  'the header "Range: %s" is ignored, and the whole file is returned',
  async (range) => {
    const { reply, body } = await read(link(file), { range });
    expect([reply.status, body.length]).toEqual([200, 300_000]);
  },
);

test.each(['bytes=300000-', 'bytes=-0'])('a request with "Range: %s" is a 416', async (range) => {
  const { reply, body } = await read(link(file), { range });
  expect(reply.status).toBe(416);
  expect(reply.headers.get('content-range')).toBe('bytes */300000');
  expect(JSON.parse(body.toString()).error.code).toBe('range_not_satisfiable');
});

test('HEAD of a file link returns the headers only', async () => {
  const { reply, body } = await read(link(file), {}, 'HEAD');
  expect([reply.status, reply.headers.get('content-length'), body.length]).toEqual([
    200,
    '300000',
    0,
  ]);
});

test.each(['bytes=0-9', 'bytes=300000-'])(
  'HEAD of a file link ignores the header "Range: %s", which is for GET only',
  async (range) => {
    const { reply } = await read(link(file), { range }, 'HEAD');
    expect([reply.status, reply.headers.get('content-length')]).toEqual([200, '300000']);
    expect(reply.headers.get('content-range')).toBeNull();
  },
);

test('a client that has the file gets a 304, and a client with a part of another file gets the whole file', async () => {
  const known = await read(link(file), { 'if-none-match': `"${file.sha256}"` });
  expect([known.reply.status, known.body.length]).toEqual([304, 0]);
  const other = await read(link(file), { 'if-range': '"another"', range: 'bytes=0-9' });
  expect([other.reply.status, other.body.length]).toEqual([200, 300_000]);
  const same = await read(link(file), { 'if-range': `"${file.sha256}"`, range: 'bytes=0-9' });
  expect(same.reply.status).toBe(206);
});

test.each([
  ['expired', 'its time is over'],
  ['caller', 'its owner removed it'],
  ['operator', 'the operator removed it'],
])(
  'a file that was removed with the reason %j is a 410 that says %j',
  async (because, sentence) => {
    const gone = await plantFile(api, bytes, { state: 'removed', removed_because: because });
    const { reply, body } = await read(link(gone));
    expect(reply.status).toBe(410);
    const { error } = JSON.parse(body.toString());
    expect([error.code, error.message]).toEqual([
      'file_removed',
      expect.stringContaining(sentence),
    ]);
  },
);

test('an expired file is a 410 even before it is deleted', async () => {
  const past = await plantFile(api, bytes, {
    expires_at: api.db.raw(`now() - interval '1 minute'`),
  });
  expect((await read(link(past))).reply.status).toBe(410);
});

test('requests for unknown file links get a 404 and are rate-limited by client address, and existing file links are not limited', async () => {
  const unknown = () => `${api.url}/files/${randomBytes(24).toString('base64url')}.mp4`;
  const statuses: number[] = [];
  for (let call = 0; call < 8; call += 1) statuses.push((await read(unknown())).reply.status);
  expect(statuses.slice(0, 4)).toEqual([404, 404, 404, 404]);
  expect(statuses.at(-1)).toBe(429);
  expect((await read(link(file))).reply.status).toBe(200);
  api.clock += 60_000;
  expect((await read(`${api.url}/files/short.mp4`)).reply.status).toBe(404);
});

test('each of many concurrent reads gets the file of its link, and concurrent look-ups share one statement', async () => {
  const files = await Promise.all(
    Array.from({ length: 5 }, (_, at) => plantFile(api, Buffer.from(`file ${at}`))),
  );
  const asked = Array.from({ length: 10 }, () => files).flat();
  const bodies = await Promise.all(asked.map(async (one) => (await read(link(one))).body));
  expect(bodies.map(String)).toEqual(asked.map((one) => `file ${files.indexOf(one)}`));
  const statements = countStatements(api.apiDb);
  const find = gatheredFindFile(api.apiDb, gatheredAtOnce(2));
  const found = await Promise.all([...asked.map(({ token }) => token), 'unknown'].map(find));
  expect(found.map((row) => row?.id)).toEqual([...asked.map(({ id }) => id), undefined]);
  expect(statements.stop()).toBe(1);
});

test('a stored file without an object in the storage is a 500 and is reported as a failure', async () => {
  const lost = await plantFile(api, bytes);
  await api.storage.remove(lost.key);
  expect((await read(link(lost))).reply.status).toBe(500);
  expect(String(api.failures.splice(0)[0])).toContain(`no object of the file ${lost.id}`);
  expect(api.withoutBytes).toEqual([lost.id]);
});

test.each([
  ['is missing', async () => null],
  ['refuses', () => Promise.reject(new StorageError('away', 'It is away.'))],
  [
    'fails at the first byte',
    async () =>
      new Readable({
        read() {
          this.destroy(new StorageError('away', 'It is away.'));
        },
      }),
  ],
])('a refusal because the storage %s has none of the headers of the file', async (_, answer) => {
  const spied = jest.spyOn(api.storage, 'read').mockImplementation(answer);
  const { reply } = await read(link(file), { range: 'bytes=0-9' });
  spied.mockRestore();
  api.failures.splice(0);
  expect(reply.status).toBeGreaterThanOrEqual(500);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  for (const name of ['etag', 'content-range', 'content-disposition']) {
    expect(reply.headers.get(name)).toBeNull();
  }
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
});

test('a file that a browser opens as a page runs in a sandbox and in no frame', async () => {
  const { reply } = await read(link(file));
  const policy = reply.headers.get('content-security-policy')?.split('; ');
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", 'sandbox']),
  );
});

test('a file that is removed while it is read is a 410 and no fault', async () => {
  const removed = await plantFile(api, bytes);
  const spied = jest.spyOn(api.storage, 'read').mockImplementation(async () => {
    await removeUpload(api.db, api.accountId, removed.id);
    return null;
  });
  const { reply } = await read(link(removed));
  spied.mockRestore();
  expect(reply.status).toBe(410);
  expect(api.withoutBytes).not.toContain(removed.id);
});

test('the links of a disabled account are a 410 until it is enabled again', async () => {
  await setAccountDisabled(api.db, api.accountId, true);
  const { reply, body } = await read(link(file));
  await setAccountDisabled(api.db, api.accountId, false);
  expect([reply.status, JSON.parse(body.toString()).error.code]).toEqual([410, 'file_removed']);
  expect((await read(link(file))).reply.status).toBe(200);
});

test('an upload of a disabled account can be read while a task of the account is open', async () => {
  const { id } = (await api.create()).json;
  const upload = await plantFile(api, bytes);
  const result = await plantFile(api, bytes, { role: 'video', task_id: id });
  await setAccountDisabled(api.db, api.accountId, true);
  const statuses = async () => [
    (await read(link(upload))).reply.status,
    (await read(link(result))).reply.status,
  ];
  expect(await statuses()).toEqual([200, 410]);
  await api.finish(id);
  expect(await statuses()).toEqual([410, 410]);
  await setAccountDisabled(api.db, api.accountId, false);
});

test('if a client disconnects during a download, the read of the storage ends without a failure', async () => {
  const opened: Readable[] = [];
  const endless = () =>
    new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
  const large = await plantFile(api, bytes, { length: 10_000_000_000 });
  const spied = jest.spyOn(api.storage, 'read').mockImplementation(async () => {
    const stream = endless();
    opened.push(stream);
    return stream;
  });
  const sent = request(link(large), (reply) => reply.once('data', () => sent.destroy()));
  sent.on('error', () => undefined);
  sent.end();
  await until('a file was closed', () => opened.some(({ closed }) => closed));
  spied.mockRestore();
  expect(api.failures).toEqual([]);
});

test('clients that disconnect while their file is looked up leave no download in progress', async () => {
  const requests = api.requests.length;
  const lock = await api.db.transaction();
  await lock.raw('lock table files in access exclusive mode');
  const perAddressMax = 100;
  await Promise.all(Array.from({ length: perAddressMax }, () => left(link(file))));
  await lock.rollback();
  await until('all calls have ended', () => api.requests.length >= requests + perAddressMax);
  expect((await read(link(file))).reply.status).toBe(200);
  // A look-up that waits too long for the lock fails.
  api.failures.splice(0);
});

test('a download that is left before its first byte ends', async () => {
  const silent = new Readable({ read: () => undefined });
  const spied = jest.spyOn(api.storage, 'read').mockResolvedValue(silent);
  const requests = api.requests.length;
  const sent = request(link(file));
  sent.on('error', () => undefined);
  sent.end();
  await until('the storage is read', () => spied.mock.calls.length > 0);
  sent.destroy();
  await until('the call has ended', () => api.requests.length > requests);
  spied.mockRestore();
  expect(silent.destroyed).toBe(true);
  expect(api.failures).toEqual([]);
});

/** Sends a request, and disconnects when the API has got it. */
async function left(url: string): Promise<void> {
  const sent = request(url, { agent: false });
  sent.on('error', () => undefined);
  sent.end();
  await new Promise((resolve) => sent.once('finish', resolve));
  await setTimeout(50);
  sent.destroy();
}

test('if the storage fails during a download, the connection is cut', async () => {
  const spied = jest.spyOn(api.storage, 'read').mockImplementation(async () =>
    Readable.from(
      (async function* () {
        yield Buffer.alloc(1_000);
        throw new Error('The disk is gone.');
      })(),
    ),
  );
  await expect(read(link(file))).rejects.toThrow();
  spied.mockRestore();
  expect(api.failures.splice(0)).toHaveLength(1);
});

test('with FILES_DELIVERY=redirect a GET is redirected to the storage, and the API answers HEAD itself', async () => {
  const server = createServer((_, reply) => reply.end('from the storage'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/signed`;
  const redirecting = await startApi({ filesDelivery: 'redirect' }, undefined, api.database);
  try {
    jest.spyOn(redirecting.storage, 'presigned').mockResolvedValue(address);
    const url = `${redirecting.url}/files/${file.token}.mp4`;
    const { reply } = await read(url);
    expect([reply.status, reply.headers.get('location')]).toEqual([302, address]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(await (await fetch(url)).text()).toBe('from the storage');
    expect((await read(url, {}, 'HEAD')).reply.status).toBe(200);
  } finally {
    await redirecting.close();
    server.close();
  }
});

test('with FILES_DELIVERY=redirect the API sends the file itself if the storage has no presigned addresses', async () => {
  const redirecting = await startApi({ filesDelivery: 'redirect' }, undefined, api.database);
  try {
    await redirecting.storage.write(file.key, Readable.from([bytes]), {
      contentType: 'video/mp4',
      length: bytes.length,
    });
    expect((await read(`${redirecting.url}/files/${file.token}.mp4`)).body.equals(bytes)).toBe(
      true,
    );
  } finally {
    await redirecting.close();
  }
});
