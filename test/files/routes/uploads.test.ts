// Tests of uploading, reading, listing and deleting files. A refused or failed upload must leave
// neither a row in the database nor bytes in the storage.

import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { setTerms } from '../../../src/accounts/terms.rows';
import { fileSchema, filesSchema } from '../../../src/contract/file-schema';
import { errorSchema } from '../../../src/contract/reply-schema';
import { StorageError } from '../../../src/files/storage/storage';
import { startApi, type TestApi } from '../../support/api';
import { statementsWaiting } from '../../support/database';
import { beginnings, mp4 } from '../../support/files';
import { deleteDueFiles } from '../../support/owed';
import { until } from '../../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ publicUrl: 'https://api.example.com' });
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const mb = 1024 * 1024;
const png = (bytes: number) =>
  Buffer.concat([beginnings['image/png'] as Buffer, Buffer.alloc(bytes - 16)]);

interface Sent {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly json: any;
}

async function send(
  body: string | Buffer | FormData | Readable,
  { type = 'application/octet-stream', key = api.apiKey, query = '', to = api.url } = {},
): Promise<Sent> {
  const isForm = body instanceof FormData;
  const reply = await fetch(`${to}/v1/files${query}`, {
    method: 'POST',
    body: body as never,
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': type }) },
    ...(body instanceof Readable ? { duplex: 'half' } : {}),
  } as RequestInit);
  return { status: reply.status, json: await reply.json() };
}

const rows = () => api.db('files').select('id', 'state', 'length').orderBy('created_at');
async function objects(of = api): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of of.storage.list('uploads/')) found.push(key);
  return found;
}

/** Expects that the work adds no row and no bytes. Waits for the API to clean up. */
async function leavesNothing(work: () => Promise<void>): Promise<void> {
  const before = { rows: await rows(), objects: (await objects()).sort() };
  await work();
  let after = {};
  const deadline = Date.now() + 10_000;
  do {
    await pause(20);
    after = { rows: await rows(), objects: (await objects()).sort() };
  } while (JSON.stringify(after) !== JSON.stringify(before) && Date.now() < deadline);
  expect(after).toEqual(before);
}

const partOf = (name: string, content: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`--limit\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(name === 'file' ? '; filename="a.png"\r\nContent-Type: image/png' : ''),
    Buffer.from('\r\n\r\n'),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const filler = Buffer.alloc(3 * mb, 'x');
const picture = partOf('file', png(2_400));
const withoutHeaders = (bytes: number) =>
  Buffer.concat([Buffer.from('--limit\r\n\r\n'), Buffer.alloc(bytes), Buffer.from('\r\n')]);
// One chunk of a request, and several.
const largeParts = [20_000, 40_000, 300_000];
const last = Buffer.from('--limit--\r\n');
const formType = 'multipart/form-data; boundary=limit';

test.each([
  ['a preamble', [filler, Buffer.from('\r\n'), picture, last]],
  ['an epilogue', [picture, last, filler]],
  ['a field', [partOf('note', filler), picture, last]],
  [
    'fields after the file',
    [picture, ...Array.from({ length: 9 }, () => partOf('a', filler)), last],
  ],
])('a chunked form with %s of megabytes around a small file is refused', (_, parts) =>
  leavesNothing(async () => {
    const { status, json } = await send(Readable.from(parts), { type: formType });
    expect([status, json.error?.code]).toEqual([413, 'request_too_large']);
  }),
);

describe('an upload', () => {
  test.each(largeParts)(
    'in a form is stored, and a part of %i bytes without headers after it is ignored',
    async (bytes) => {
      const form = Buffer.concat([picture, withoutHeaders(bytes), last]);
      const { status, json } = await send(form, { type: formType });
      expect([status, json.bytes]).toEqual([200, png(2_400).length]);
    },
  );

  test('as a raw body returns the stored file, which can be read by its link and by its id', async () => {
    const bytes = mp4(4.5, 200_000);
    const seconds = () => Math.floor(Date.now() / 1_000);
    const began = seconds();
    const { status, json } = await send(bytes, { type: 'video/mp4', query: '?name=boat.mp4' });
    const ended = seconds();
    expect(status).toBe(200);
    fileSchema.parse(json);
    expect(json).toMatchObject({
      object: 'file',
      kind: 'video',
      content_type: 'video/mp4',
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      name: 'boat.mp4',
      duration: 4.5,
    });
    // The days begin when the last byte has arrived, perhaps in a later second than the upload.
    expect(json.expires_at - 30 * 86_400).toBeGreaterThanOrEqual(json.created_at);
    expect(json.created_at).toBeGreaterThanOrEqual(began);
    expect(json.expires_at - 30 * 86_400).toBeLessThanOrEqual(ended);
    expect(json.url).toMatch(/^https:\/\/api\.example\.com\/files\/[\w-]{32}\.mp4$/);
    const linked = await fetch(`${api.url}${new URL(json.url).pathname}`);
    expect(Buffer.from(await linked.arrayBuffer()).equals(bytes)).toBe(true);
    const read = (path: string) => api.call('GET', `/v1/files/${json.id}${path}`);
    expect((await read('')).json).toEqual(json);
    const part = await fetch(`${api.url}/v1/files/${json.id}/content`, {
      headers: { authorization: `Bearer ${api.apiKey}`, range: 'bytes=4-7' },
    });
    expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
  });

  test('as a form takes the name of the file from the form', async () => {
    const form = new FormData();
    form.append('purpose', 'reference');
    form.append('file', new Blob([png(100_000)]), 'a boat.png');
    const { status, json } = await send(form);
    expect([status, json.kind, json.name, json.bytes]).toEqual([
      200,
      'image',
      'a boat.png',
      100_000,
    ]);
  });

  test.each(Object.keys(beginnings))(
    'of the type %s is recognised by its content',
    async (contentType) => {
      const body = Buffer.concat([beginnings[contentType] as Buffer, randomBytes(50)]);
      const { json } = await send(body, { type: 'text/plain' });
      expect(json.content_type).toBe(contentType);
    },
  );

  test('without a Content-Length is accepted', async () => {
    const { status, json } = await send(Readable.from([png(1_000), Buffer.alloc(5_000)]));
    expect([status, json.bytes]).toEqual([200, 6_000]);
  });
});

describe('refused uploads leave neither a row nor bytes', () => {
  const form = (...files: readonly [string, Buffer][]) => {
    const made = new FormData();
    for (const [name, bytes] of files) made.append('file', new Blob([bytes as never]), name);
    return made;
  };
  const small = png(1_000);
  const fileHead = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n';
  const cutForm = Buffer.concat([Buffer.from(fileHead), small]);

  test.each<[string, () => Promise<Sent>, number, string]>([
    ['plain text', () => send('A paper boat'), 415, 'unsupported_media_type'],
    [
      'HTML with the name of an image',
      () => send(form(['a.png', Buffer.from('<html>')])),
      415,
      'unsupported_media_type',
    ],
    ['an empty body', () => send(''), 400, 'invalid_value'],
    ['a form without a file', () => send(form()), 400, 'invalid_value'],
    [
      'a form with two files',
      () => send(form(['a.png', small], ['b.png', small])),
      400,
      'invalid_value',
    ],
    [
      'a form without a boundary',
      () => send('x', { type: 'multipart/form-data' }),
      400,
      'invalid_value',
    ],
    [
      'a form that ends early',
      () => send('--x\r\n', { type: 'multipart/form-data; boundary=x' }),
      400,
      'invalid_value',
    ],
    [
      'a form that ends inside its file',
      () => send(cutForm, { type: 'multipart/form-data; boundary=x' }),
      400,
      'invalid_value',
    ],
    ['a too large image', () => send(png(30 * mb + 1)), 413, 'request_too_large'],
    [
      'a too large image, sent in chunks,',
      () => send(Readable.from([png(30 * mb), Buffer.alloc(1)])),
      413,
      'request_too_large',
    ],
    [
      'a too large sound',
      () => send(Buffer.concat([beginnings['audio/wav'] as Buffer, Buffer.alloc(15 * mb)])),
      413,
      'request_too_large',
    ],
    [
      'a form with a too large image',
      () => send(form(['a.png', png(30 * mb + 1)])),
      413,
      'request_too_large',
    ],
  ])('an upload of %s is refused', async (_, ask, status, code) => {
    await leavesNothing(async () => {
      // The client may still be sending when the connection is closed.
      const reply = await ask().catch(() => null);
      if (reply) {
        expect([reply.status, errorSchema.parse(reply.json).error.code]).toEqual([status, code]);
      } else expect(status).toBe(413);
    });
  });

  test('a body with a too large Content-Length is refused before the body is read', async () => {
    await leavesNothing(async () => {
      for (const [type, bytes] of [
        ['video/mp4', 50 * mb + 1],
        ['image/png', 30 * mb + 1],
        ['audio/wav', 15 * mb + 1],
        ['multipart/form-data; boundary=x', 60 * mb],
        ['', 200 * mb],
      ] as const) {
        const sent = request(`${api.url}/v1/files`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${api.apiKey}`,
            'content-type': type,
            'content-length': bytes,
          },
        });
        sent.flushHeaders();
        const status = await new Promise((resolve, reject) => {
          sent.once('response', (reply) => resolve(reply.statusCode));
          sent.once('error', reject);
        });
        sent.destroy();
        expect([type, status]).toEqual([type, 413]);
      }
    });
  });

  test.each([
    ['a raw body', 'image/png', ''],
    [
      'a form',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n',
    ],
  ])('no part of %s is stored if its client disconnects in the middle', async (_, type, start) => {
    await leavesNothing(async () => {
      const count = (await rows()).length;
      const sent = request(`${api.url}/v1/files`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${api.apiKey}`,
          'content-type': type,
          'content-length': 1_000_000,
        },
      });
      sent.on('error', () => undefined);
      sent.write(start);
      sent.write(png(200_000));
      await until('the file has a row', async () => (await rows()).length === count + 1);
      sent.destroy();
    });
  });

  test.each(['image/png', 'multipart/form-data; boundary=x'])(
    'an upload of the type %s is a 400 if its client disconnects during the look-up of its API key',
    async (type) => {
      const { apiKey } = await api.anAccount();
      const lock = await api.db.transaction();
      await lock.raw('lock table api_keys in access exclusive mode');
      const count = api.requests.length;
      const sent = request(`${api.url}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': type, 'content-length': 9 },
      });
      sent.on('error', () => undefined);
      sent.write('A');
      await until(
        'the upload waits for the lock',
        async () => (await statementsWaiting(api.db)) > 0,
      );
      sent.destroy();
      await pause(200);
      await lock.rollback();
      await until('the request has ended', () => api.requests.length > count);
      expect(api.requests.at(-1)).toMatchObject({ status: 400, code: 'invalid_value' });
    },
  );

  test.each(largeParts)(
    'a form is refused if it only has a part of %i bytes without headers',
    (bytes) =>
      leavesNothing(async () => {
        const form = Buffer.concat([withoutHeaders(bytes), last]);
        const { status, json } = await send(form, { type: formType });
        expect([status, json.error?.code]).toEqual([400, 'invalid_value']);
      }),
  );

  test('an upload to a failing storage is a 500, and nothing is stored', async () => {
    const spied = jest
      .spyOn(api.storage, 'write')
      .mockRejectedValue(new Error('The disk is gone.'));
    await leavesNothing(async () => {
      expect((await send(small)).status).toBe(500);
    });
    spied.mockRestore();
    expect(api.failures.splice(0)).toHaveLength(1);
  });
});

describe('the files of an account', () => {
  test('are invisible to other accounts', async () => {
    const { json } = await send(png(500));
    const other = await api.anAccount();
    const as = (method: string, path: string) =>
      fetch(`${api.url}/v1/files/${json.id}${path}`, {
        method,
        headers: { authorization: `Bearer ${other.apiKey}` },
      });
    const replies = [await as('GET', ''), await as('GET', '/content'), await as('DELETE', '')];
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
    const list = await fetch(`${api.url}/v1/files`, {
      headers: { authorization: `Bearer ${other.apiKey}` },
    });
    expect(await list.json()).toEqual({ data: [], next: null });
    expect((await api.call('GET', `/v1/files/${json.id}`)).status).toBe(200);
  });

  test('are listed in pages, newest first', async () => {
    const { apiKey: key } = await api.anAccount();
    const ids: string[] = [];
    for (let nth = 0; nth < 5; nth += 1) ids.push((await send(png(100 + nth), { key })).json.id);
    const page = async (query: string) => {
      const reply = await fetch(`${api.url}/v1/files?limit=2${query}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return filesSchema.parse(await reply.json());
    };
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const { data, next } = await page(after);
      seen.push(...data.map(({ id }) => id));
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(seen).toEqual(ids.reverse());
  });

  test('are kept for the number of days that was set for the account before the upload', async () => {
    const { accountId, apiKey: key } = await api.anAccount();
    const daysOf = async () => {
      const { json } = await send(png(100), { key });
      // The upload may take a second or two.
      return Math.round((json.expires_at - json.created_at) / 86_400);
    };
    for (const days of [7, 36_500]) {
      await setTerms(api.db, accountId, { filesKeptDays: days });
      expect(await daysOf()).toBe(days);
    }
    await setTerms(api.db, accountId, { filesKeptDays: null });
    expect(await daysOf()).toBe(30);
  });

  test('are deleted at once, with their bytes and their links', async () => {
    const { json } = await send(png(700));
    const path = `/v1/files/${json.id}`;
    expect((await api.call('DELETE', path)).json).toEqual({
      id: json.id,
      object: 'file',
      deleted: true,
    });
    expect(api.requests.at(-1)).toMatchObject({ method: 'DELETE', fileId: json.id });
    expect((await objects()).some((key) => key.endsWith(json.id))).toBe(false);
    expect((await fetch(`${api.url}${new URL(json.url).pathname}`)).status).toBe(410);
    expect((await api.call('GET', path)).status).toBe(404);
    expect((await api.call('DELETE', path)).status).toBe(404);
  });
});

describe('the upload limits of an account', () => {
  const own = (settings: Parameters<typeof startApi>[0]) =>
    startApi(settings, undefined, api.database);

  test('the maximum number of files is exact for concurrent uploads', async () => {
    const limited = await own({ uploadsMax: 5 });
    try {
      const to = limited.url;
      const { apiKey: key } = await limited.anAccount();
      const sent = await Promise.all(Array.from({ length: 12 }, () => send(png(300), { key, to })));
      const statuses = sent.map(({ status }) => status).sort((a, b) => a - b);
      expect(statuses).toEqual([...Array(5).fill(200), ...Array(7).fill(409)]);
      const refused = sent.find(({ status }) => status === 409);
      expect(refused?.json.error.code).toBe('upload_limit_reached');
      expect(await objects(limited)).toHaveLength(5);
      const first = sent.find(({ status }) => status === 200)?.json.id;
      const headers = { authorization: `Bearer ${key}` };
      await fetch(`${to}/v1/files/${first}`, { method: 'DELETE', headers });
      expect((await send(png(300), { key, to })).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('the maximum number of bytes is exact for concurrent uploads', async () => {
    const limited = await own({ uploadedBytesMax: 10_000 });
    try {
      const { apiKey: key } = await limited.anAccount();
      const bodies = Array.from({ length: 12 }, () => png(3_000));
      const sent = await Promise.all(bodies.map((body) => send(body, { key, to: limited.url })));
      expect(sent.filter(({ status }) => status === 200)).toHaveLength(3);
      expect((await send(png(1_000), { key, to: limited.url })).status).toBe(200);
      expect((await send(png(1_000), { key, to: limited.url })).json.error.message).toContain(
        'its limit of 10000',
      );
    } finally {
      await limited.close();
    }
  });

  test('an upload that the storage finishes after its fault is not counted, and its bytes are deleted half an hour later', async () => {
    const limited = await own({ uploadsMax: 1 });
    try {
      const { db, storage } = limited;
      const { accountId, apiKey: key } = await limited.anAccount();
      const ofAccount = () => db('files').where({ account_id: accountId });
      const write = storage.write.bind(storage);
      let finish: () => Promise<void> = () => Promise.reject(new Error('Nothing was sent.'));
      const spied = jest
        .spyOn(storage, 'write')
        .mockImplementation(async (path, bytes, options) => {
          const sent = await buffer(bytes);
          finish = () => write(path, Readable.from([sent]), options);
          throw new StorageError('away', 'S3 answered 504.');
        });
      expect((await send(png(1_000), { key, to: limited.url })).status).toBe(503);
      spied.mockRestore();
      expect(limited.failures.splice(0)).toHaveLength(1);
      await finish();

      expect((await send(png(1_000), { key, to: limited.url })).status).toBe(200);
      await deleteDueFiles({ db, storage });
      expect(await objects(limited)).toHaveLength(2);
      await ofAccount()
        .where({ state: 'removed' })
        .update({ due_at: db.raw(`due_at - interval '30 minutes 1 second'`) });
      await deleteDueFiles({ db, storage });
      const stored = await ofAccount().where({ state: 'stored' });
      expect(await objects(limited)).toEqual(stored.map((row) => row.key));
      const given = await ofAccount().where({ state: 'removed' });
      expect(given).toMatchObject([{ removed_at: expect.any(Date) }]);
    } finally {
      await limited.close();
    }
  });

  test('uploads have their own rate limit', async () => {
    const limited = await own({ uploads: { perSecond: 1, burst: 5 } });
    try {
      const { apiKey: key } = await limited.anAccount();
      const statuses: number[] = [];
      for (let nth = 0; nth < 6; nth += 1) {
        statuses.push((await send(png(300), { key, to: limited.url })).status);
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    } finally {
      await limited.close();
    }
  });
});

test('a disabled account cannot upload a file, even while its API key is still cached', async () => {
  const { accountId, apiKey: key } = await api.anAccount();
  expect((await send(png(300), { key })).status).toBe(200);
  await leavesNothing(async () => {
    await api.db('accounts').where({ id: accountId }).update({ disabled_at: new Date() });
    const { status, json } = await send(png(300), { key });
    expect([status, json.error.code]).toEqual([403, 'account_disabled']);
  });
});

test('a video of 49 MiB that is sent in chunks is accepted', async () => {
  const chunks = Array.from({ length: 49 }, () => Buffer.alloc(mb));
  const { status } = await send(Readable.from([beginnings['video/mp4'] as Buffer, ...chunks]));
  expect(status).toBe(200);
});
