// Tests of the checks that every request passes: API keys, bodies, paths, methods and headers.
// Hostile input must get a documented 4xx, and must not be logged as an error.

import { request } from 'node:http';
import { makeApiKey, revokeKey } from '../../src/accounts/keys.rows';
import { errorSchema } from '../../src/contract/reply-schema';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { countStatements } from '../support/database';
import { documentedRoutes, possibleRoutes, shapedRoutes } from '../support/routes';
import { call } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ corsOrigins: ['https://page.example.com'] });
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

interface Raw {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** Uses node:http, because fetch refuses to send most of these requests. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Buffer | string,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}${path}`, { method, headers, agent: false }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const post = (body: Buffer | string, headers: Record<string, string> = {}) =>
  raw(
    'POST',
    create,
    { authorization: `Bearer ${api.apiKey}`, 'content-type': 'application/json', ...headers },
    body,
  );

function codeOf({ text }: Raw): string {
  return errorSchema.parse(JSON.parse(text)).error.code;
}

describe('API keys', () => {
  const wrong: [string, () => string | undefined][] = [
    ['none', () => undefined],
    ['another scheme', () => `Basic ${api.apiKey}`],
    ['no scheme', () => api.apiKey],
    ['an empty one', () => 'Bearer '],
    ['a malformed one', () => 'Bearer nonsense'],
    ['a well-formed unknown one', () => `Bearer ${makeApiKey()}`],
    [
      'one with a typo',
      () => `Bearer ${api.apiKey.slice(0, -1)}${api.apiKey.endsWith('a') ? 'b' : 'a'}`,
    ],
    ['two', () => `Bearer ${api.apiKey} ${api.apiKey}`],
    ['one with NUL', () => `Bearer ${'%00'.repeat(10)}`],
  ];

  test('every wrong key gets the same 401', async () => {
    const replies = await Promise.all(
      wrong.map(([, value]) => {
        const authorization = value();
        return raw('GET', '/v1/models', authorization === undefined ? {} : { authorization });
      }),
    );
    expect(replies.map(({ status }) => status)).toEqual(wrong.map(() => 401));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(codeOf(replies[0]!)).toBe('invalid_api_key');
    expect(replies[0]?.headers['www-authenticate']).toBe('Bearer');
  });

  test('an expired key is refused', async () => {
    const { apiKey } = await api.aKey({ expiresAt: new Date(Date.now() - 1_000) });
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).status).toBe(401);
  });

  test('a key that expires while it is cached is refused from then on', async () => {
    const { apiKey } = await api.aKey({ expiresAt: new Date(Date.now() + api.clock + 10_000) });
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).status).toBe(200);
    api.clock += 11_000;
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).status).toBe(401);
  });

  test('a revoked key stops working within 30 s', async () => {
    const { keyId, apiKey } = await api.aKey({});
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).status).toBe(200);
    await revokeKey(api.db, keyId);
    api.clock += 30_000;
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).status).toBe(401);
  });

  test('a request without a key is a 401 even if its body is faulty', async () => {
    const reply = await raw('POST', create, { 'content-type': 'text/plain' }, 'x');
    expect(reply.status).toBe(401);
  });
});

describe('request bodies', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const text = JSON.stringify(textBody);

  test.each<[string, Buffer | string, Record<string, string>, number, string]>([
    [
      'of the type text/plain',
      text,
      { 'content-type': 'text/plain' },
      415,
      'unsupported_media_type',
    ],
    [
      'of a form type',
      text,
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    [
      'in another charset',
      text,
      { 'content-type': 'application/json; charset=latin1' },
      415,
      'unsupported_media_type',
    ],
    [
      'with a false Content-Encoding gzip',
      text,
      { 'content-encoding': 'gzip' },
      415,
      'unsupported_media_type',
    ],
    ['without content', '', {}, 400, 'invalid_json'],
    ['of broken JSON', '{"model":', {}, 400, 'invalid_json'],
    ['that is a number', '1', {}, 400, 'invalid_json'],
    ['that is a list', '[]', {}, 400, 'invalid_json'],
    ['that is null', 'null', {}, 400, 'invalid_json'],
    [
      'that is not UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      {},
      400,
      'invalid_json',
    ],
    ['with the name __proto__', '{"__proto__":{"a":1}}', {}, 400, 'invalid_json'],
    ['with the escaped name __proto__', '{"\\u005f_proto__":{"a":1}}', {}, 400, 'invalid_json'],
    ['with the name constructor', '{"constructor":{"prototype":{"a":1}}}', {}, 400, 'invalid_json'],
    [
      'with NUL in a string',
      '{"model":"studio-2.0","prompt":"a\\u0000b"}',
      {},
      400,
      'invalid_json',
    ],
    ['with a lone surrogate', '{"model":"studio-2.0","prompt":"\\ud800"}', {}, 400, 'invalid_json'],
    ['of 33 levels', nested(33), {}, 400, 'invalid_json'],
    ['of 100,000 levels', '['.repeat(100_000), {}, 400, 'invalid_json'],
    [
      'with an infinite number',
      '{"model":"studio-2.0","prompt":"x","duration":1e400}',
      {},
      400,
      'invalid_json',
    ],
    [
      'with a number of too many digits',
      '{"model":"studio-2.0","prompt":"x","metadata":{"element":829836802793406551}}',
      {},
      400,
      'invalid_json',
    ],
    [
      'with metadata as JSON text with a number of too many digits',
      '{"model":"studio-2.0","prompt":"x","metadata":"{\\"element\\":829836802793406551}"}',
      {},
      400,
      'invalid_value',
    ],
    ['with 1,001 names', `{${'"a":0,'.repeat(1_000)}"a":0}`, {}, 400, 'invalid_json'],
    ['with 17,001 elements', `{"x":[${'0,'.repeat(17_000)}0]}`, {}, 400, 'invalid_json'],
    [
      'of 32 levels, which are allowed, but with an empty model name',
      `{"model":"","x":${nested(31)}}`,
      {},
      400,
      'invalid_value',
    ],
  ])('a body %s is refused with a documented code', async (_, body, headers, status, code) => {
    const reply = await post(body, headers);
    expect([reply.status, codeOf(reply)]).toEqual([status, code]);
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;',
    'application/json; foo=bar; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ])('a body of the type %s is accepted', async (type) => {
    expect((await post(text, { 'content-type': type })).status).toBe(200);
  });

  test('a surrogate pair in a body is a valid character', async () => {
    expect((await post('{"model":"studio-2.0","prompt":"\\ud83c\\udfac"}')).status).toBe(200);
  });

  test.each([
    ['128 KiB and one byte with a Content-Length', 128 * 1024 + 1, true],
    ['128 KiB and one byte in chunks', 128 * 1024 + 1, false],
    ['12 MiB in chunks', 12 * 1024 * 1024, false],
  ])('a body of %s is a 413', async (_, size, announced) => {
    const body = Buffer.alloc(size, 0x20);
    const headers: Record<string, string> = announced
      ? { 'content-length': String(size) }
      : { 'transfer-encoding': 'chunked' };
    // The server may close the connection before the largest body is fully sent.
    const reply = await post(body, headers).catch((error: NodeJS.ErrnoException) => error.code);
    if (size > 1024 * 1024 && typeof reply === 'string') {
      expect(['EPIPE', 'ECONNRESET']).toContain(reply);
    } else {
      expect([(reply as Raw).status, codeOf(reply as Raw)]).toEqual([413, 'request_too_large']);
    }
  });

  test('a body of exactly 128 KiB is accepted', async () => {
    const padding = 128 * 1024 - text.length;
    expect((await post(text + ' '.repeat(padding))).status).toBe(200);
  });
});

describe('paths and methods', () => {
  const authorized = () => ({ authorization: `Bearer ${api.apiKey}` });

  test.each([
    ['GET', '/nowhere'],
    ['GET', '/v1/nowhere'],
    ['POST', '/v1/video'],
    ['GET', '/v1/videos/generations/a/b'],
    ['GET', '/V1/nowhere'],
    ['GET', '//v1/models'],
  ])('%s %s is a 404', async (method, path) => {
    const reply = await raw(method, path, authorized());
    expect([reply.status, codeOf(reply)]).toEqual([404, 'route_not_found']);
  });

  const documented = [...possibleRoutes(), ...shapedRoutes()].map(
    (route) => route.split(' ') as [string, string],
  );
  /** The documented methods of a path. Every GET also answers HEAD. */
  const methodsOf = (path: string) =>
    documented.flatMap(([method, known]) => {
      if (known !== path) return [];
      return method === 'GET' ? ['GET', 'HEAD'] : [method];
    });

  test.each([...new Set(documented.map(([, path]) => path))])(
    'a 405 for the path %s names exactly the documented methods',
    async (path) => {
      const methods = methodsOf(path);
      for (const method of ['PUT', 'PATCH', 'OPTIONS', 'GET', 'POST', 'DELETE']) {
        const known = [...documentedRoutes(), ...shapedRoutes()];
        if (known.includes(`${method} ${path}`)) continue;
        const reply = await raw(method, path.replace(/\{\w+\}/g, 'x'), authorized());
        expect(reply.status).toBe(405);
        expect(reply.text).toMatch(/method_not_allowed|InvalidAction/);
        expect(String(reply.headers.allow).split(', ').sort()).toEqual([...methods].sort());
      }
    },
  );

  test.each([
    '/v1/videos/generations/%E0%A4%A',
    '/v1/videos/generations/%00',
    `/v1/videos/generations/${'x'.repeat(4000)}`,
  ])('GET %s is a documented 4xx', async (path) => {
    const reply = await raw('GET', path, authorized());
    expect([400, 404]).toContain(reply.status);
    expect(['task_not_found', 'route_not_found']).toContain(codeOf(reply));
  });

  test('HEAD answers like GET, without a body', async () => {
    const reply = await raw('HEAD', '/v1/models', authorized());
    expect([reply.status, reply.text]).toEqual([200, '']);
  });
});

describe('headers', () => {
  test('every reply carries its own request id and the security headers', async () => {
    const replies = [
      await raw('GET', '/livez', { 'x-request-id': 'mine' }),
      await raw('GET', '/nowhere', {}),
      await raw('GET', '/v1/models', {}),
      await post('{}'),
    ];
    const ids = replies.map(({ headers }) => headers['x-request-id']);
    expect(new Set(ids).size).toBe(replies.length);
    expect(ids).not.toContain('mine');
    for (const { headers } of replies) {
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });

  test('an Idempotency-Key is read behind any number of other headers', async () => {
    const others = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`x-${n}`, '1']));
    const headers = { ...others, 'idempotency-key': 'behind-others' };
    const replies = [];
    for (let n = 0; n < 2; n += 1) replies.push(await post(JSON.stringify(textBody), headers));
    const ids = replies.map(({ text }) => JSON.parse(text).id);
    expect(ids).toEqual([expect.stringMatching(/^task_/), ids[0]]);
    expect(replies[1]?.headers['idempotent-replayed']).toBe('true');
  });

  test('HSTS is sent only if the public address is https', async () => {
    expect((await raw('GET', '/livez', {})).headers['strict-transport-security']).toBeUndefined();
    const secure = await startApi({ publicUrl: 'https://api.example.com' });
    try {
      const { headers } = await call(secure.url, secure.apiKey, 'GET', '/v1/models');
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d+$/);
    } finally {
      await secure.close();
    }
  });

  test('only pages of configured origins may call the API', async () => {
    const ask = (origin: string, method: string) =>
      raw(method, '/v1/models', { origin, 'access-control-request-method': 'GET' });
    const named = await ask('https://page.example.com', 'OPTIONS');
    expect([named.status, named.headers['access-control-allow-origin']]).toEqual([
      204,
      'https://page.example.com',
    ]);
    const other = await ask('https://elsewhere.example.com', 'GET');
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('a page of a configured origin may send the headers of the clients of other services', async () => {
    const asked = 'authorization, content-type, x-stainless-lang, mcp-protocol-version';
    const { headers } = await raw('OPTIONS', '/v1/videos', {
      origin: 'https://page.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': asked,
    });
    const allowed = String(headers['access-control-allow-headers']).split(', ');
    expect(allowed).toEqual(expect.arrayContaining(asked.split(', ')));
    const shown = String(headers['access-control-expose-headers']).split(', ');
    expect(shown).toEqual(expect.arrayContaining(['x-should-retry', 'openai-poll-after-ms']));
  });

  test('a process that is stopping closes each connection after its reply', async () => {
    api.serving = false;
    const { headers, status } = await raw('GET', '/readyz', { connection: 'keep-alive' });
    api.serving = true;
    expect([status, headers.connection]).toEqual([503, 'close']);
  });
});

describe('documents and probes', () => {
  test('the OpenAPI document and its page load nothing from other hosts', async () => {
    const document = await raw('GET', '/openapi.json', {});
    expect(JSON.parse(document.text).openapi).toBe('3.1.1');
    const html = await raw('GET', '/docs', {});
    expect(html.status).toBe(200);
    expect(html.headers['content-security-policy']).toMatch(/script-src 'self';/);
    const links = [...html.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).toMatch(/^\/docs\//);
      const file = await raw('GET', link, {});
      expect(file.status).toBe(200);
      const { etag } = file.headers;
      expect((await raw('GET', link, { 'if-none-match': String(etag) })).status).toBe(304);
    }
  });

  test('/version, /livez and /readyz need no key, and /readyz is a 503 without Temporal', async () => {
    expect(JSON.parse((await raw('GET', '/version', {})).text)).toEqual({
      name: 'test',
      version: '0',
      commit: 'test',
    });
    expect((await raw('GET', '/livez', {})).status).toBe(200);
    expect(JSON.parse((await raw('GET', '/readyz', {})).text)).toMatchObject({ ready: true });
    api.temporal.reachable = false;
    const missing = await raw('GET', '/readyz', {});
    expect((await raw('GET', '/readyz/serving', {})).text).toBe('{"serving":true}');
    api.temporal.reachable = true;
    expect([missing.status, JSON.parse(missing.text).parts.temporal]).toEqual([503, false]);
  });

  test('concurrent calls of /readyz share one database query', async () => {
    const { max } = api.apiDb.client.pool;
    const taken = await Promise.all(Array.from({ length: max }, () => api.apiDb.transaction()));
    const statements = countStatements(api.apiDb);
    const probes = await Promise.all(Array.from({ length: 20 }, () => raw('GET', '/readyz', {})));
    expect(statements.stop()).toBe(1);
    for (const transaction of taken) await transaction.rollback();
    for (const { status } of probes) expect(status).toBe(503);
    expect((await raw('GET', '/readyz', {})).status).toBe(200);
  });
});
