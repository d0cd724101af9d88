// Tests the sign-in of operators: keys, sessions of browsers, their cookies, and requests that other
// sites make a browser send. Requests are plain HTTP, so that every header is as the test says.

import { makeApiKey } from '../../src/accounts/keys.rows';
import { ConfigError, readConfig } from '../../src/config/config';
import { adminWith } from '../support/admin';
import { startConsole, type TestConsole } from '../support/console';

let served: TestConsole;
const admin = adminWith(() => served.environment);
beforeAll(async () => {
  served = await startConsole();
});
afterAll(() => served.close());

const me = '/admin/v1/me';
const json = { 'content-type': 'application/json' };
const sameOrigin = { 'sec-fetch-site': 'same-origin' };

function signIn(key: unknown, on = served, headers: Record<string, string> = sameOrigin) {
  return on.call('POST', '/session', { ...json, ...headers }, JSON.stringify({ key }));
}

/** The cookie of a new session, as a browser sends it. */
async function aSession(key = served.keys.owner, on = served): Promise<string> {
  const { headers, status } = await signIn(key, on);
  expect(status).toBe(204);
  return String(headers['set-cookie']).split(';')[0] ?? '';
}

const statusOf = async (cookie: string) =>
  (await served.call('GET', me, { cookie, ...sameOrigin })).status;

async function anOperator(name: string) {
  return (await admin(`operators add --name ${name} --role viewer --json`)).json as {
    operatorId: string;
    key: string;
  };
}

test('a key opens a session, which shows the operator, and the sign-in is in the log', async () => {
  const cookie = await aSession();
  const { json: shown } = await served.call('GET', me, { cookie, ...sameOrigin });
  expect(shown.data).toMatchObject({ name: 'owner', role: 'owner', currency: 'CNY' });
  const { json: acts } = await admin('log --json');
  expect(acts[0]).toMatchObject({ who: 'owner', via: 'console', command: 'console sign-in' });
});

test('the cookie of a session over HTTPS cannot be read, sent in clear or set by another host', async () => {
  const own = await startConsole({ settings: { CONSOLE_URL: 'https://console.test' } });
  try {
    const { headers } = await signIn(own.keys.viewer, own);
    const [value, ...attributes] = String(headers['set-cookie']).split('; ');
    expect(value).toMatch(/^__Host-console=[\w-]{43}$/);
    expect(attributes.sort()).toEqual([
      ...['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict', 'Secure'],
    ]);
    expect(headers['strict-transport-security']).toBeDefined();
    const answer = await own.call('GET', me, { cookie: value ?? '', ...sameOrigin });
    expect(answer.status).toBe(200);
  } finally {
    await own.close();
  }
});

test('a request with a key counts no cookie and needs no origin', async () => {
  const headers = { cookie: 'console=wrong', 'sec-fetch-site': 'cross-site' };
  const authorization = `Bearer ${served.keys.viewer}`;
  const { status } = await served.call('GET', me, { ...headers, authorization });
  expect(status).toBe(200);
});

test('a header that a proxy adds for itself does not sign a browser out', async () => {
  const cookie = await aSession();
  for (const authorization of ['Basic YTpi', 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x']) {
    const own = await served.call('GET', me, { cookie, authorization, ...sameOrigin });
    expect(own.status).toBe(200);
    const forged = { cookie, authorization, 'sec-fetch-site': 'cross-site' };
    expect((await served.call('GET', me, forged)).status).toBe(403);
    expect((await served.call('GET', me, { authorization })).status).toBe(401);
  }
});

test('unknown, expired and disabled keys get one and the same answer', async () => {
  const [disabled, expired] = [await anOperator('gone'), await anOperator('late')];
  await admin('operators disable gone');
  const expire = `update operators set expires_at = now() - interval '1 s' where name = 'late'`;
  await served.database.db.raw(expire);
  const keys = [makeApiKey('vo_'), makeApiKey('vk_'), disabled.key, expired.key, 'vo_short', ''];
  const byHeader = await Promise.all(
    keys.map((key) => served.call('GET', me, { authorization: `Bearer ${key}` })),
  );
  const bySession = await Promise.all(keys.map((key) => signIn(key)));
  const answers = [...byHeader, ...bySession, await signIn(7)];
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(401);
});

test('refused calls are counted by their reason', async () => {
  const countOf = async (code: string) =>
    Number(
      new RegExp(`refusals_total\\{code="${code}".*\\} (\\d+)`).exec(await served.metrics())?.[1],
    );
  const before = await Promise.all(['signed_out', 'cross_site', 'forbidden'].map(countOf));
  await signIn(makeApiKey('vo_'));
  await signIn(served.keys.viewer, served, { 'sec-fetch-site': 'same-site' });
  await served.as('viewer', 'GET', '/operators');
  const after = await Promise.all(['signed_out', 'cross_site', 'forbidden'].map(countOf));
  expect(after).toEqual(before.map((count) => count + 1));
});

test('an address that tries many unknown keys is slowed down, and a valid key or another address is not', async () => {
  const own = await startConsole({ settings: { TRUSTED_PROXIES: '1' } });
  try {
    const tried = async (address: string) => {
      const authorization = `Bearer ${makeApiKey('vo_')}`;
      const headers = { authorization, 'x-forwarded-for': address };
      return (await own.call('GET', me, headers)).status;
    };
    const statuses: number[] = [];
    for (let tries = 0; tries < 50; tries += 1) statuses.push(await tried('203.0.113.1'));
    expect(new Set(statuses.slice(0, 10))).toEqual(new Set([401]));
    expect(new Set(statuses.slice(10))).toEqual(new Set([429]));
    expect(await tried('203.0.113.2')).toBe(401);
    expect(await tried('203.0.113.1')).toBe(429);
    const { status } = await own.as('viewer', 'GET', '/me');
    expect(status).toBe(200);
  } finally {
    await own.close();
  }
});

test('an address that tries many unknown cookies is slowed down, which is logged, and a session still works', async () => {
  const own = await startConsole();
  try {
    const cookie = await aSession(own.keys.viewer, own);
    const ask = async (sent: string) =>
      (await own.call('GET', me, { cookie: sent, ...sameOrigin })).status;
    const statuses: number[] = [];
    for (let tries = 0; tries < 20; tries += 1) {
      statuses.push(
        await ask(`console=${makeApiKey('vo_').slice(3).padEnd(43, 'x').slice(0, 43)}`),
      );
    }
    expect(new Set(statuses.slice(0, 10))).toEqual(new Set([401]));
    expect(new Set(statuses.slice(10))).toEqual(new Set([429]));
    const refused = own.lines.filter(({ event }) => event === 'operator_refused');
    expect(refused).toHaveLength(20);
    expect(await ask(cookie)).toBe(200);
    expect(await ask('console=no-cookie')).toBe(401);
  } finally {
    await own.close();
  }
});

test('an address that signs out many unknown cookies is slowed down, and a session still signs out', async () => {
  const own = await startConsole();
  try {
    const cookie = await aSession(own.keys.viewer, own);
    const signOut = async (sent: string) =>
      (await own.call('DELETE', '/session', { cookie: sent, ...sameOrigin })).status;
    const statuses: number[] = [];
    for (let tries = 0; tries < 20; tries += 1) {
      statuses.push(await signOut(`console=${'x'.repeat(41)}${10 + tries}`));
    }
    expect(new Set(statuses.slice(0, 10))).toEqual(new Set([204]));
    expect(new Set(statuses.slice(10))).toEqual(new Set([429]));
    expect(await signOut('console=no-cookie')).toBe(204);
    expect(await signOut(cookie)).toBe(204);
    const { status } = await own.call('GET', me, { cookie, ...sameOrigin });
    expect(status).toBe(429);
  } finally {
    await own.close();
  }
});

test('an operator signs in, and the probe is ready, while reports and acts use all other connections', async () => {
  const held = await Promise.all(
    served.pools.flatMap((pool) =>
      Array.from({ length: pool.client.pool.max }, async () => {
        const connection = await pool.client.acquireConnection();
        return () => pool.client.releaseConnection(connection);
      }),
    ),
  );
  try {
    expect(held).toHaveLength(8);
    expect(await statusOf(await aSession())).toBe(200);
    expect((await served.call('GET', '/readyz')).status).toBe(200);
  } finally {
    await Promise.all(held.map((release) => release()));
  }
});

test('sign-ins count as calls of the operator', async () => {
  const own = await startConsole();
  try {
    const statuses: number[] = [];
    for (let calls = 0; calls < 101; calls += 1) {
      statuses.push((await signIn(own.keys.viewer, own)).status);
    }
    expect(statuses.filter((status) => status === 204)).toHaveLength(100);
    expect(statuses.at(-1)).toBe(429);
  } finally {
    await own.close();
  }
});

test('an operator may call twenty times a second, with a burst of five seconds', async () => {
  const own = await startConsole();
  try {
    const authorization = `Bearer ${own.keys.viewer}`;
    const answers = Array.from({ length: 101 }, () => own.call('GET', me, { authorization }));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  } finally {
    await own.close();
  }
});

test('the session of a disabled operator ends at once, and so does a session that signs out', async () => {
  const { key } = await anOperator('leaver');
  const [first, second] = [await aSession(key), await aSession(key)];
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
  const { status, headers } = await served.call('DELETE', '/session', {
    cookie: first,
    ...sameOrigin,
  });
  expect([status, String(headers['set-cookie'])]).toEqual([
    204,
    expect.stringContaining('Max-Age=0'),
  ]);
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  await admin('operators disable leaver');
  expect(await statusOf(second)).toBe(401);
});

test.each([
  ['seen_at', 121],
  ['created_at', 721],
])('a session whose %s is %i minutes ago is signed out', async (column, minutes) => {
  const cookie = await aSession();
  await served.database.db.raw(
    `update operator_sessions set ${column} = now() - make_interval(mins => ?)`,
    [minutes],
  );
  expect(await statusOf(cookie)).toBe(401);
});

test('a call keeps a session open', async () => {
  const cookie = await aSession();
  const move = `update operator_sessions set seen_at = now() - interval '119 min'`;
  for (const _ of [1, 2]) {
    await served.database.db.raw(move);
    expect(await statusOf(cookie)).toBe(200);
  }
  const { rows } = await served.database.db.raw(
    `select count(*)::int as count from operator_sessions where seen_at > now() - interval '1 min'`,
  );
  expect(rows[0].count).toBeGreaterThan(0);
});

test('a call that no person caused does not keep a session open', async () => {
  const cookie = await aSession();
  await served.database.db.raw(`update operator_sessions set seen_at = now() - interval '119 min'`);
  const headers = { cookie, ...sameOrigin, 'x-unattended': '1' };
  expect((await served.call('GET', me, headers)).status).toBe(200);
  const { rows } = await served.database.db.raw(
    `select count(*)::int as count from operator_sessions where seen_at > now() - interval '100 min'`,
  );
  expect(rows[0].count).toBe(0);
});

describe('a request with a cookie that another page may have sent', () => {
  const origin = () => served.url;
  const forged: [what: string, headers: () => Record<string, string>][] = [
    ['Sec-Fetch-Site: cross-site', () => ({ 'sec-fetch-site': 'cross-site', origin: origin() })],
    ['Sec-Fetch-Site: same-site', () => ({ 'sec-fetch-site': 'same-site', origin: origin() })],
    ['Sec-Fetch-Site: none', () => ({ 'sec-fetch-site': 'none' })],
    ['a foreign Origin', () => ({ origin: 'https://evil.test' })],
    ['another port as Origin', () => ({ origin: 'http://localhost:1' })],
    ['Origin: null', () => ({ origin: 'null' })],
    ['neither header', () => ({})],
  ];

  test.each(forged)('with %s changes nothing', async (_, headers) => {
    const { accountId } = (await admin('accounts create --name Acme --json')).json;
    const cookie = await aSession();
    const known = (await admin('log --json')).json;
    const credit = JSON.stringify({ amount: '5', reference: 'r', reason: 'x', why: 'y' });
    const path = `/admin/v1/accounts/${accountId}/credits`;
    const post = await served.call('POST', path, { cookie, ...json, ...headers() }, credit);
    const form = { cookie, 'content-type': 'text/plain', ...headers() };
    const plain = await served.call('POST', path, form, credit);
    const out = await served.call('DELETE', '/session', { cookie, ...headers() });
    const into = await signIn(served.keys.owner, served, headers());
    for (const { status, json: answer } of [post, plain, out, into]) {
      expect([status, answer.error.code]).toEqual([403, 'cross_site']);
    }
    expect((await admin('log --json')).json).toEqual(known);
    expect(await statusOf(cookie)).toBe(200);
  });

  test('from another site reads nothing, and from this site or a typed address it reads', async () => {
    const cookie = await aSession();
    const statuses = ['cross-site', 'same-site', 'none', 'same-origin'].map(async (site) => {
      return (await served.call('GET', me, { cookie, 'sec-fetch-site': site })).status;
    });
    expect(await Promise.all(statuses)).toEqual([403, 403, 200, 200]);
  });

  test('from this site acts, and only with JSON', async () => {
    const { accountId } = (await admin('accounts create --name Acme --json')).json;
    const cookie = await aSession();
    const path = `/admin/v1/accounts/${accountId}/credits`;
    const credit = JSON.stringify({ amount: '5', reference: 'r', reason: 'x', why: 'y' });
    const own = { cookie, ...sameOrigin };
    const text = await served.call('POST', path, { ...own, 'content-type': 'text/plain' }, credit);
    expect(text.status).toBe(415);
    const old = { cookie, origin: served.url, ...json };
    for (const headers of [{ ...own, ...json }, old]) {
      expect((await served.call('POST', path, headers, credit)).status).toBe(200);
    }
    const { json: acts } = await admin(`log --account ${accountId} --json --limit 2`);
    expect(acts).toMatchObject([{ via: 'console' }, { via: 'console' }]);
  });
});

test('answers are not stored, not framed, not shared with other sites, and allow no other host', async () => {
  const { headers } = await served.as('viewer', 'GET', '/me');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test.each<[what: string, settings: Record<string, string>, origins: string]>([
  ['of the API', {}, 'https://video.test'],
  [
    'of the API and of the bucket to which it redirects',
    { FILES_DELIVERY: 'redirect', S3_ENDPOINT: 'https://s3.test', S3_BUCKET: 'video' },
    'https://video.test https://s3.test',
  ],
  [
    'of the API and of the bucket in its host name',
    {
      ...{ FILES_DELIVERY: 'redirect', S3_ENDPOINT: 'https://s3.test:9000/', S3_BUCKET: 'video' },
      S3_PATH_STYLE: 'false',
    },
    'https://video.test https://video.s3.test:9000',
  ],
  ['of the API, which has no bucket', { FILES_DELIVERY: 'redirect' }, 'https://video.test'],
])('the page may show files %s and nothing else of another host', async (_, settings, origins) => {
  const own = await startConsole({
    known: { database: served.database },
    settings: { PUBLIC_URL: 'https://video.test/', ...settings },
  });
  try {
    const { status, headers } = await own.call('GET', '/');
    expect([status, headers['content-security-policy']]).toEqual([
      200,
      "default-src 'none'; script-src 'self'; style-src 'self'; " +
        `img-src 'self' data: ${origins}; media-src ${origins}; connect-src 'self'; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ]);
  } finally {
    await own.close();
  }
});

describe('CONSOLE_URL', () => {
  const read = (consoleUrl: string, publicUrl: string) =>
    readConfig('console', {
      ...{ DATABASE_URL: 'postgres://x/y', TEMPORAL_ADDRESS: 'x:1' },
      ...{ CONSOLE_URL: consoleUrl, PUBLIC_URL: publicUrl },
    });

  test.each([
    ['http://console.test', 'https://video.test', 'must begin with https://'],
    ['https://video.test', 'https://video.test', 'has the host name of PUBLIC_URL'],
    ['https://video.test:8443', 'https://video.test', 'has the host name of PUBLIC_URL'],
  ])('%s beside PUBLIC_URL %s stops the process: it %s', (consoleUrl, publicUrl, sentence) => {
    expect(() => read(consoleUrl, publicUrl)).toThrow(ConfigError);
    expect(() => read(consoleUrl, publicUrl)).toThrow(sentence);
  });

  test.each([
    ['https://console.test', 'https://video.test'],
    ['http://localhost:8085', 'http://localhost:8080'],
  ])('%s beside PUBLIC_URL %s is right', (consoleUrl, publicUrl) => {
    expect(read(consoleUrl, publicUrl).consoleUrl).toBe(consoleUrl);
  });
});
