// Sends random and hostile requests to a running API. Every reply must be documented, and the API must report
// no failure of its own. After a failure fast-check prints the seed. The environment variable SEED
// repeats a run with that seed.

import fc from 'fast-check';
import { type RefusalCode, refusals } from '../../src/contract/error';
import { createdSchema, errorSchema, quoteSchema } from '../../src/contract/reply-schema';
import { create, startApi, type TestApi } from '../support/api';
import { hostileBody } from '../support/arbitrary';
import type { Reply } from '../support/service';
import { sized } from '../support/sized';

interface HostileSize {
  /** The number of examples of each kind. */
  readonly bodies: number;
  readonly quotes: number;
  readonly json: number;
  readonly bytes: number;
  readonly paths: number;
  readonly minutesEach: number;
}

/** Starts an API for the tests of one file. A failure of the API fails the test that caused it. */
function useAnApi(): () => TestApi {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api?.close());
  // Failures are the errors that the API would log as its own.
  afterEach(() => expect(api.failures).toEqual([]));
  return () => api;
}

/** The error codes that are documented for creates, for a caller with money and all permissions. */
const documented: readonly RefusalCode[] = [
  'invalid_json',
  'missing_required_parameter',
  'invalid_value',
  'unsupported_value',
  'conflicting_parameters',
  'model_not_found',
  'idempotency_key_reused',
];

function expectDocumented({ status, json, headers }: Reply): void {
  expect(headers.get('x-request-id')).toBeTruthy();
  if (status === 200) {
    createdSchema.parse(json);
    return;
  }
  const { error } = errorSchema.parse(json);
  expect(documented).toContain(error.code);
  const { status: its, type } = refusals[error.code as RefusalCode];
  expect([status, error.type]).toEqual([its, type]);
  expect(error.message.length).toBeLessThan(20_000);
  expect(error.message).not.toBe('');
}

const runs = (numRuns: number) => ({
  numRuns,
  ...(process.env.SEED ? { seed: Number(process.env.SEED) } : {}),
});

function testHostile(api: () => TestApi, size: HostileSize): void {
  const { bodies, quotes, json, bytes, paths, minutesEach } = size;
  const send = async (body: string, headers: Record<string, string> = {}) =>
    expectDocumented(await api().call('POST', create, body, headers));
  const within = minutesEach * 60_000;

  const nearlyRight = async () => {
    const before = api().temporal.submitted.length;
    await fc.assert(
      fc.asyncProperty(hostileBody, (body) => send(JSON.stringify(body))),
      runs(bodies),
    );
    // The generated bodies are useful only if some are accepted and some are not.
    const accepted = api().temporal.submitted.length - before;
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(bodies);
  };
  test(`${bodies} nearly valid bodies get documented replies`, nearlyRight, within);

  const asked = fc.asyncProperty(hostileBody, (body) => expectSameQuote(api(), body));
  test(
    `each of ${quotes} quotes is accepted or refused like a create with the same body`,
    () => fc.assert(asked, runs(quotes)),
    within,
  );

  const said = fc.asyncProperty(fc.json({ maxDepth: 4 }), (body) => send(body));
  test(
    `${json} random JSON bodies get documented replies`,
    () => fc.assert(said, runs(json)),
    within,
  );

  const key = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' });
  const anything = fc.string({ unit: 'binary', maxLength: 200 });
  // fetch refuses header values with spaces at the ends, so they are trimmed.
  const sent = fc.asyncProperty(anything, key, (body, idempotencyKey) =>
    send(body, { 'idempotency-key': idempotencyKey.trim() || 'x' }),
  );
  const bytesName = `${bytes} random texts with random Idempotency-Keys get documented replies`;
  test(bytesName, () => fc.assert(sent, runs(bytes)), within);

  const methods = fc.constantFrom('GET', 'DELETE', 'PUT');
  const walked = fc.asyncProperty(methods, anyPath, (method, path) =>
    expectRefused(api(), method, path),
  );
  test(
    `${paths} random paths and queries get documented replies`,
    () => fc.assert(walked, runs(paths)),
    within,
  );
}

async function expectSameQuote(api: TestApi, body: Record<string, unknown>): Promise<void> {
  const text = JSON.stringify(body);
  const made = await api.call('POST', create, text);
  const quoted = await api.call('POST', '/v1/videos/quotes', text);
  expect(quoted.status).toBe(made.status);
  if (quoted.status === 200) quoteSchema.parse(quoted.json);
  else expect(quoted.json).toEqual(made.json);
}

const word = fc.oneof(
  fc.constantFrom('', '%00', '%', '%E0%A4%A', '..', 'null', '__proto__', 'task_', ' '),
  fc
    .string({ unit: 'binary', maxLength: 20 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
);

const anyPath = fc.oneof(
  word.map((id) => `${create}/${id}`),
  word.map((id) => `${create}/${id}/callbacks`),
  fc.tuple(word, word, word).map(([limit, after, model]) => {
    return `/v1/tasks?limit=${limit}&after=${after}&model=${model}&status=${after}`;
  }),
  fc.tuple(word, word).map(([limit, after]) => {
    return `/v1/account/statement?limit=${limit}&after=${after}`;
  }),
  word.map((rest) => `/v1/${rest}`),
);

async function expectRefused(api: TestApi, method: string, path: string): Promise<void> {
  const { status, json } = await api.call(method, path);
  if (status === 200) return;
  expect([400, 404, 405]).toContain(status);
  if (isOfOpenAi(path)) {
    expect(json.error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
    return;
  }
  const { code, type } = errorSchema.parse(json).error;
  expect([status, type]).toEqual([
    refusals[code as RefusalCode].status,
    refusals[code as RefusalCode].type,
  ]);
}

/** True if the path, without its dots, is one of OpenAI's form, whose errors have other fields. */
function isOfOpenAi(path: string): boolean {
  const { pathname } = new URL(path, 'http://localhost');
  return /^\/v1\/videos(?:\/|$)(?!generations|quotes)/.test(pathname);
}

const api = useAnApi();

testHostile(
  api,
  sized({
    each: { bodies: 400, quotes: 120, json: 120, bytes: 120, paths: 300, minutesEach: 3 },
    long: {
      ...{ bodies: 2_000, quotes: 2_000, json: 2_000, bytes: 2_000, paths: 2_000 },
      minutesEach: 15,
    },
  }),
);

const large = (fill: string) => (times: number) => fill.repeat(times).slice(0, -1);
const listOf = (item: string, count: number) => `[${large(`${item},`)(count)}]`;
const body = (field: string) => `{"model":"studio-2.0","prompt":"x",${field}}`;

// Each body fits into the limit of 128 KiB. A message for every element would be expensive.
test.each<[string, string]>([
  ['60,000 images', body(`"images":${listOf('1', 60_000)}`)],
  ['3,900 tools', body(`"metadata":{"tools":${listOf('{}', 3_900)}}`)],
  ['a deep list', body(`"x":${'['.repeat(60_000)}${']'.repeat(60_000)}`)],
  ['deep metadata as a string', body(`"metadata":"${'['.repeat(120_000)}"`)],
  [
    'numbers that become longer when they are written out',
    body(`"metadata":{"x":${listOf('1e20', 20_000)}}`),
  ],
  ['a long model name', `{"model":"${'m'.repeat(120_000)}","prompt":"x"}`],
  ['a long prompt of switches', `{"model":"studio-2.0","prompt":"${'--dur '.repeat(20_000)}"}`],
  ['a long address', body(`"images":["https://${'a.'.repeat(60_000)}com"]`)],
  ['an element with built-in property names', body('"images":[{"toString":1,"valueOf":1}]')],
  ['a tool with built-in property names', body('"metadata":{"tools":[{"type":"x","toString":1}]}')],
  [
    'super-resolution without a target',
    body('"metadata":{"super_resolution_config":{"resolution":[],"fps":24}}'),
  ],
  [
    '3,900 unknown names in super_resolution_config',
    body(
      `"metadata":{"super_resolution_config":{${large('"k":1,')(1)},${Array.from(
        { length: 3_900 },
        (_, index) => `"${index}":1`,
      ).join(',')}}}`,
    ),
  ],
])('a body with %s is answered with a short 400', async (_, text) => {
  expect(text.length).toBeLessThan(128 * 1024);
  const reply = await api().call('POST', create, text);
  expect(reply.status).toBe(400);
  expectDocumented(reply);
});
