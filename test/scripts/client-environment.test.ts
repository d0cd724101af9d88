// What the TypeScript client and its command line take from the environment.

import { VideoClient } from '../../clients/typescript/src';
import { clientOptions } from '../../clients/typescript/src/cli/arguments';
import { webServers } from '../support/web-servers';

const startServer = webServers();
const before = { ...process.env };
beforeEach(() => {
  for (const name of ['VIDEO_BASE_URL', 'VIDEO_API_KEY', 'BASE_URL', 'API_KEY'])
    delete process.env[name];
});
afterAll(() => {
  process.env = before;
});

async function seenBy(options: ConstructorParameters<typeof VideoClient>[0]) {
  const seen: unknown[] = [];
  const answer = (server: string) => async () => {
    const host = await startServer((request, response) => {
      seen.push([server, request.headers.authorization]);
      response.end(JSON.stringify({ id: 'task_1' }));
    });
    return `http://${host}`;
  };
  process.env.VIDEO_BASE_URL = await answer('environment')();
  process.env.VIDEO_API_KEY = 'key-of-environment';
  const given = options?.baseUrl === 'given' ? { baseUrl: await answer('option')() } : {};
  await new VideoClient({ ...options, ...given }).get('task_1');
  return seen;
}

test('a client without options takes its address and key from the environment', async () => {
  expect(await seenBy(undefined)).toEqual([['environment', 'Bearer key-of-environment']]);
  const unset = { baseUrl: undefined, apiKey: undefined };
  expect(await seenBy(unset)).toEqual([['environment', 'Bearer key-of-environment']]);
});

test('an option goes before the environment', async () => {
  const options = { baseUrl: 'given', apiKey: 'key-of-option' };
  expect(await seenBy(options)).toEqual([['option', 'Bearer key-of-option']]);
});

test.each([
  [{}, {}, 'Missing: baseUrl (or VIDEO_BASE_URL) and apiKey (or VIDEO_API_KEY).'],
  [{ baseUrl: 'http://localhost' }, {}, 'Missing: apiKey (or VIDEO_API_KEY).'],
  [{}, { VIDEO_API_KEY: 'k' }, 'Missing: baseUrl (or VIDEO_BASE_URL).'],
  [
    { apiKey: '' },
    { VIDEO_API_KEY: 'k', VIDEO_BASE_URL: 'http://a' },
    'Missing: apiKey (or VIDEO_API_KEY).',
  ],
])('a client of %j with the environment %j says what is missing', (options, env, message) => {
  Object.assign(process.env, env);
  expect(() => new VideoClient(options)).toThrow(new TypeError(message));
});

test('where there is no `process`, the options are enough', () => {
  const { process: node } = globalThis;
  Reflect.deleteProperty(globalThis, 'process');
  try {
    expect(() => new VideoClient({ baseUrl: 'http://localhost', apiKey: 'k' })).not.toThrow();
    expect(() => new VideoClient({ apiKey: 'k' })).toThrow('VIDEO_BASE_URL');
  } finally {
    globalThis.process = node;
  }
});

test('the command line takes the names of the package, and then the shorter ones', () => {
  const short = { BASE_URL: 'http://short', API_KEY: 'short' };
  const long = { VIDEO_BASE_URL: 'http://long', VIDEO_API_KEY: 'long' };
  expect(clientOptions(short)).toEqual({ baseUrl: 'http://short', apiKey: 'short' });
  expect(clientOptions({ ...short, ...long })).toEqual({ baseUrl: 'http://long', apiKey: 'long' });
  expect(clientOptions({ API_KEY: 'k' }).baseUrl).toBe('http://127.0.0.1:8080');
  expect(() => clientOptions({ BASE_URL: 'http://a' })).toThrow('Set VIDEO_API_KEY');
});
