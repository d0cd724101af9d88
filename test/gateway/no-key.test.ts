// Tests that a request without an API key reaches no handler, for any spelling of its path. The API
// reads no body, sends no statement and reports no failure.

import { Agent, type IncomingMessage, request } from 'node:http';
import { startApi, type TestApi } from '../support/api';
import { countStatements } from '../support/database';
import { documentedRoutes } from '../support/routes';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const spellings: readonly [string, (path: string) => string][] = [
  ['as documented', (path) => path],
  ['in capitals', (path) => path.toUpperCase()],
  ['with a capital version', (path) => path.replace('/v1', '/V1')],
  ['with a doubled slash', (path) => `/${path}`],
  ['with a doubled slash inside', (path) => path.replace('/v1/', '/v1//')],
  ['with an encoded version', (path) => path.replace('/v1', '/%76%31')],
  ['with an encoded slash', (path) => path.replace('/v1/', '/v1%2f')],
  ['in absolute form', (path) => `http://any.example${path}`],
  ['in absolute form with a capital version', (path) => `http://any${path.replace('v1', 'V1')}`],
  ['with dot segments in front', (path) => `/docs/..${path}`],
  ['with a dot segment at the end', (path) => `${path}/.`],
  ['with two dots at the end', (path) => `${path}/x/..`],
  ['with a slash at the end', (path) => `${path}/`],
  ['with a parameter', (path) => `${path};a=b?x=/v1/models`],
];

function keyedRoutes(): [string, string][] {
  return documentedRoutes()
    .map((route) =>
      route
        .replace('{task_id}', 'task_01k9m3c5x8v2q4w6e8r0t2y4na')
        .replace('{file_id}', 'file_01k9m3c5x8v2q4w6e8r0t2y4na')
        .split(' '),
    )
    .filter(([, path = '']) => path.startsWith('/v1'))
    .map(([method = '', path = '']) => [method, path]);
}

/** Sends a request that announces a body, does not send the body, and returns the reply. */
function withoutBody(method: string, path: string, bytes = 1_000): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes) };
  const agent = new Agent({ keepAlive: true });
  return new Promise((resolve, reject) => {
    const sent = request(api.url, { method, path, headers, agent }, (reply) => {
      resolve(reply);
      agent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });
}

test('the only documented routes outside /v1 are probes, version, API documents and file links', () => {
  const open = documentedRoutes().filter((route) => !route.includes(' /v1/'));
  expect(open.sort()).toEqual([
    'GET /',
    // A file link needs no key, because its path contains a secret token.
    'GET /files/{token}.{ext}',
    'GET /livez',
    'GET /openapi.json',
    'GET /readyz',
    'GET /readyz/serving',
    'GET /version',
  ]);
});

test('more than ten documented routes need a key', () => {
  expect(keyedRoutes().length).toBeGreaterThan(10);
});

test.each(spellings)(
  'every call without a key is answered with 401 or 404, also with its path written %s',
  async (_, spelled) => {
    const statements = countStatements(api.apiDb);
    for (const [method, path] of keyedRoutes()) {
      const { statusCode: status } = await withoutBody(method, spelled(path));
      if (status !== 404)
        expect([method, spelled(path), status]).toEqual([method, spelled(path), 401]);
    }
    expect(statements.stop()).toBe(0);
    expect(api.failures).toEqual([]);
    expect(api.requests.splice(0).every(({ accountId }) => accountId === undefined)).toBe(true);
  },
);

test('the connection of a refused call is closed if its unread body is large, and kept if the body is small', async () => {
  const connectionOf = async (bytes: number) =>
    (await withoutBody('POST', '/v1/videos/generations', bytes)).headers.connection;
  expect(await connectionOf(1_000)).toBe('keep-alive');
  expect(await connectionOf(10_000_000)).toBe('close');
});

test('a refused call is logged and counted under the route that it asked for', async () => {
  api.requests.splice(0);
  for (const route of documentedRoutes().filter((one) => one.includes(' /v1/'))) {
    const [method = '', path = ''] = route.split(' ');
    await withoutBody(method, path.replace(/\{\w+\}/g, 'x'), 0);
    const pattern = path.replace(/\{(\w+)\}/g, ':$1');
    expect(api.requests.map((request) => request.route)).toEqual([pattern]);
    api.requests.splice(0);
  }
});
