// Generated and hostile requests thrown at a running server: only documented answers, in the
// documented envelope, and not one line in the log that calls for a person.

import fc from 'fast-check';
import { type RefusalCode, refusals } from '../../src/contract/error';
import { createdSchema, errorSchema, quoteSchema } from '../../src/contract/reply-schema';
import { create, startApi, type TestApi } from '../support/api';
import { hostileBody } from '../support/arbitrary';
import type { Reply } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
// What the log would show as an error is what the API answered as its own fault.
afterEach(() => expect(api.failures).toEqual([]));

/**
 * The codes this route is documented to answer with; the generated caller has money and every
 * permission.
 */
const documented: readonly RefusalCode[] = [
  'invalid_json',
  'missing_required_parameter',
  'invalid_value',
  'unsupported_value',
  'conflicting_parameters',
  'model_not_found',
  'idempotency_key_reused',
];

function expectDocumented({ status, json, headers }: Reply, accepted: typeof createdSchema): void {
  expect(headers.get('x-request-id')).toBeTruthy();
  if (status === 200) {
    accepted.parse(json);
    return;
  }
  const { error } = errorSchema.parse(json);
  expect(documented).toContain(error.code);
  const { status: its, type } = refusals[error.code as RefusalCode];
  expect([status, error.type]).toEqual([its, type]);
  expect(error.message.length).toBeLessThan(20_000);
  expect(error.message).not.toBe('');
}

const send = async (body: string, headers: Record<string, string> = {}) =>
  expectDocumented(await api.call('POST', create, body, headers), createdSchema);

test('bodies that are nearly right', async () => {
  const before = api.engine.submitted.length;
  await fc.assert(
    fc.asyncProperty(hostileBody, (body) => send(JSON.stringify(body))),
    { numRuns: 400 },
  );
  // Nearly right must mean both: some are accepted, some are not.
  const accepted = api.engine.submitted.length - before;
  expect(accepted).toBeGreaterThan(0);
  expect(accepted).toBeLessThan(400);
});

test('a quote is refused exactly where a create is', async () => {
  await fc.assert(
    fc.asyncProperty(hostileBody, async (body) => {
      const text = JSON.stringify(body);
      const made = await api.call('POST', create, text);
      const quoted = await api.call('POST', '/v1/videos/quotes', text);
      expect(quoted.status).toBe(made.status);
      if (quoted.status === 200) quoteSchema.parse(quoted.json);
      else expect(quoted.json).toEqual(made.json);
    }),
    { numRuns: 120 },
  );
});

test('anything JSON can say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), (body) => send(body)),
    { numRuns: 120 },
  );
});

test('anything at all, under any Idempotency-Key', async () => {
  const key = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), key, (body, idempotencyKey) =>
      // fetch itself refuses to send a header that is only spaces at its ends; those never reach a
      // server.
      send(body, { 'idempotency-key': idempotencyKey.trim() || 'x' }),
    ),
    { numRuns: 120 },
  );
});

const large = (fill: string) => (times: number) => fill.repeat(times).slice(0, -1);
const listOf = (item: string, count: number) => `[${large(`${item},`)(count)}]`;
const body = (field: string) => `{"model":"studio-2.0","prompt":"x",${field}}`;

// Each fits into the one mebibyte that is read, and each would be costly to answer element by
// element.
test.each<[string, string]>([
  ['half a million images', body(`"images":${listOf('1', 500_000)}`)],
  ['a hundred thousand tools', body(`"metadata":{"tools":${listOf('{}', 100_000)}}`)],
  ['a deep list', body(`"x":${'['.repeat(400_000)}${']'.repeat(400_000)}`)],
  ['deep metadata as text', body(`"metadata":"${'['.repeat(900_000)}"`)],
  ['numbers that grow', body(`"metadata":{"x":${listOf('1e20', 150_000)}}`)],
  ['a long name of a model', `{"model":"${'m'.repeat(900_000)}","prompt":"x"}`],
  ['a long prompt of switches', `{"model":"studio-2.0","prompt":"${'--dur '.repeat(100_000)}"}`],
  ['a long address', body(`"images":["https://${'a.'.repeat(400_000)}com"]`)],
  ['an element with names of the language', body('"images":[{"toString":1,"valueOf":1}]')],
  ['a tool with names of the language', body('"metadata":{"tools":[{"type":"x","toString":1}]}')],
  ['an absent target', body('"metadata":{"super_resolution_config":{"resolution":[],"fps":24}}')],
  [
    'eighty thousand unknown names',
    body(
      `"metadata":{"super_resolution_config":{${large('"k":1,')(1)},${Array.from(
        { length: 80_000 },
        (_, index) => `"${index}":1`,
      ).join(',')}}}`,
    ),
  ],
])('%s: a short 400', async (_, text) => {
  expect(text.length).toBeLessThan(1024 * 1024);
  const reply = await api.call('POST', create, text);
  expect(reply.status).toBe(400);
  expectDocumented(reply, createdSchema);
});

test('any path, any query', async () => {
  const word = fc.oneof(
    fc.constantFrom('', '%00', '%', '%E0%A4%A', '..', 'null', '__proto__', 'task_', ' '),
    fc
      .string({ unit: 'binary', maxLength: 20 })
      .map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const path = fc.oneof(
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
  const methods = fc.constantFrom('GET', 'DELETE', 'PUT');
  await fc.assert(
    fc.asyncProperty(methods, path, async (method, where) => {
      const { status, json } = await api.call(method, where);
      if (status === 200) return;
      const { code, type } = errorSchema.parse(json).error;
      expect([400, 404, 405]).toContain(status);
      expect([status, type]).toEqual([
        refusals[code as RefusalCode].status,
        refusals[code as RefusalCode].type,
      ]);
    }),
    { numRuns: 300 },
  );
});
