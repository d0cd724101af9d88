// Generated and hostile bodies thrown at a running server: only documented answers, in the documented envelope, none of
// them a fault of the server.

import fc from 'fast-check';
import { refusals } from '../../src/contract/error';
import { createdSchema, errorSchema } from '../../src/contract/reply-schema';
import { startApi, type TestApi } from '../support/api';
import { hostileBody } from '../support/arbitrary';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const documented = [200, 400, 402, 403, 409, 413, 415, 429];

async function send(body: string, headers: Record<string, string> = {}) {
  const path = '/v1/videos/generations';
  const { status, json } = await api.call('POST', path, body, headers);
  expect(documented).toContain(status);
  if (status === 200) {
    createdSchema.parse(json);
    return;
  }
  const { error } = errorSchema.parse(json);
  const known = refusals[error.code as keyof typeof refusals];
  expect([known.status, known.type]).toEqual([status, error.type]);
  expect(error.message).not.toBe('');
}

test('bodies that are nearly right', async () => {
  await fc.assert(
    fc.asyncProperty(hostileBody, (body) => send(JSON.stringify(body))),
    { numRuns: 400 },
  );
  expect(api.failures).toEqual([]);
});

test('anything JSON can say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), (body) => send(body)),
    { numRuns: 200 },
  );
  expect(api.failures).toEqual([]);
});

test('anything at all, under any Idempotency-Key', async () => {
  const key = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), key, (body, idempotencyKey) =>
      // fetch itself refuses to send a header that is only spaces at its ends; those never reach a server.
      send(body, { 'idempotency-key': idempotencyKey.trim() || 'x' }),
    ),
    { numRuns: 200 },
  );
  expect(api.failures).toEqual([]);
});
