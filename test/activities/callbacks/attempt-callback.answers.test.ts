// These tests check what follows from a receiver's answer to a callback: whether and when the
// callback is tried again, and what is recorded. The message itself is in
// attempt-callback.test.ts, and interrupted attempts are in attempt-callback.crash.test.ts.

import type { ServerResponse } from 'node:http';
import { findCallback, listAttempts } from '../../../src/callbacks/callbacks.rows';
import { startCallbackSink } from '../../support/callback-sink';
import { callbackWorld } from '../../support/callbacks';
import { startCanaries } from '../../support/canaries';
import { expiredCertificate, testCertificate, testKey } from '../../support/certificate';

const world = callbackWorld();
const { aTask, deliver } = world;

const minute = 60_000;
const hour = 60 * minute;
const clock = 1_900_000_000_000;
const dateIn = (ms: number) => new Date(clock + ms).toUTCString();
type Say = (response: ServerResponse) => void;
const reply =
  (status: number, headers: Record<string, string> = {}): Say =>
  (response) =>
    void response.writeHead(status, headers).end('body');
const later = (status: number, retryAfter: string) => reply(status, { 'retry-after': retryAfter });

function endlessHeaders({ socket }: ServerResponse): void {
  socket?.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`);
}

// The expected times are exact, because the clock is fixed and `chance` is 0.
test.each<[string, number, Say, string, number | null]>([
  ['200', 1, reply(200), 'delivered', null],
  ['204', 1, reply(204), 'delivered', null],
  ['299', 1, reply(299), 'delivered', null],
  ['301', 1, reply(301, { location: 'http://169.254.169.254/' }), 'pending', 5_000],
  ['302', 1, reply(302, { location: 'http://169.254.169.254/' }), 'pending', 5_000],
  ['307', 1, reply(307, { location: 'http://[fd00:ec2::254]/' }), 'pending', 5_000],
  ['400', 1, reply(400), 'pending', 5_000],
  ['404', 2, reply(404), 'pending', 5 * minute],
  ['410', 1, reply(410), 'stopped', null],
  ['429 with a Retry-After of two minutes', 1, later(429, '120'), 'pending', 2 * minute],
  ['429 with a Retry-After shorter than our own pause', 3, later(429, '1'), 'pending', 30 * minute],
  ['429 with a Retry-After of a week', 1, later(429, '604800'), 'pending', 5 * minute],
  ['429 with a Retry-After of 12 hours', 6, later(429, '43200'), 'pending', 12 * hour],
  ['429 with a Retry-After of eleven days', 9, later(429, '999999'), 'pending', 24 * hour],
  ['429 with an invalid Retry-After', 1, later(429, 'soon'), 'pending', 5_000],
  ['500', 1, reply(500), 'pending', 5_000],
  ['503 with a date as Retry-After', 1, later(503, dateIn(200_000)), 'pending', 200_000],
  ['503 with a past date as Retry-After', 1, later(503, dateIn(-9_000)), 'pending', 5_000],
  ['a closed connection', 1, (response) => void response.destroy(), 'pending', 5_000],
  [
    'a connection reset',
    1,
    (response) => void response.socket?.resetAndDestroy(),
    'pending',
    5_000,
  ],
  ['endless headers', 1, endlessHeaders, 'pending', 5_000],
  [
    'an answer that is not HTTP',
    1,
    (r) => void r.socket?.end('SSH-2.0-hello\r\n'),
    'pending',
    5_000,
  ],
  ['no answer', 1, () => undefined, 'pending', 5_000],
  [
    'an answer of ten megabytes',
    1,
    (r) => void r.end(Buffer.alloc(10_000_000, 'x')),
    'delivered',
    null,
  ],
  ['an answer with a NUL character', 1, (r) => void r.end('a\0b'), 'delivered', null],
])(
  'after "%s" for attempt %i, the callback’s state and the time of its next attempt are stored',
  async (_, attempt, answer, state, nextInMs) => {
    world.sink.answer = (__, response) => answer(response);
    const id = await aTask();
    const over = { now: () => clock, limits: { timeoutMs: 3_000 } };
    expect(await deliver(id, over, attempt)).toMatchObject({ state, nextInMs });
    expect(world.sink.received).toHaveLength(1);
    const nextAt = nextInMs === null ? null : new Date(clock + nextInMs);
    expect(await findCallback(world.database.db, id)).toMatchObject({ state, nextAt });
    const attempts = await listAttempts(world.database.db, id);
    expect(attempts).toMatchObject([
      { attempt, delivery: 1, at: new Date(clock), latencyMs: expect.any(Number) },
    ]);
    expect(attempts[0]?.reply?.length ?? 0).toBeLessThanOrEqual(256);
    expect(attempts[0]?.error === null).toBe(state === 'delivered');
  },
);

test.each([301, 302, 303, 307, 308])(
  'a redirect with status %i is not followed, not even to an allowed address',
  async (status) => {
    const canaries = await startCanaries();
    const elsewhere = `127.0.0.1:${canaries.port}`;
    world.sink.answer = (_, response) =>
      void response.writeHead(status, { location: `http://${elsewhere}/` }).end();
    const id = await aTask();
    const outcome = await deliver(id, { allowHosts: [world.sink.hostPort, elsewhere] });
    expect(outcome).toMatchObject({ state: 'pending', status, error: `HTTP ${status}` });
    expect(canaries.connections()).toBe(0);
    await canaries.close();
  },
);

test.each([
  ['of an unknown issuer', testCertificate],
  ['that has expired', expiredCertificate],
])(
  'a receiver with a certificate %s gets no request, and the attempt records an error',
  async (_, cert) => {
    const secure = await startCallbackSink({ key: testKey, cert });
    const id = await aTask(secure.url);
    const outcome = await deliver(id, { allowHosts: [secure.hostPort] });
    expect(outcome).toMatchObject({
      state: 'pending',
      status: null,
      error: expect.stringContaining('certificate'),
    });
    expect(secure.received).toEqual([]);
    await secure.close();
  },
);

test('the first 256 characters of a receiver’s answer are recorded', async () => {
  world.sink.answer = (_, response) => void response.writeHead(500).end(`no: ${'x'.repeat(5_000)}`);
  const id = await aTask();
  await deliver(id);
  expect(await listAttempts(world.database.db, id)).toMatchObject([
    { status: 500, error: 'HTTP 500', reply: `no: ${'x'.repeat(252)}` },
  ]);
});
