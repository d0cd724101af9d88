// What a receiver's answer means: whether it is tried again and when, and what is kept of it.

import type { ServerResponse } from 'node:http';
import type { CallbackDeps } from '../../activities/callback';
import { findCallback, listAttempts } from '../../src/db/callbacks';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { aFinalTask, callbackActivities, createCallbackDatabase } from '../support/callbacks';
import { startCanaries } from '../support/canaries';
import { expiredCertificate, testCertificate, testKey } from '../support/certificate';
import type { TestDatabase } from '../support/database';

let database: TestDatabase;
let sink: CallbackSink;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(() => database?.drop());
beforeEach(async () => {
  sink = await startCallbackSink();
});
afterEach(() => sink.close());

const aTask = (url = sink.url) => aFinalTask(database, url);
const deliver = (taskId: string, over: Partial<CallbackDeps> = {}, attempt = 1) =>
  callbackActivities(database, { allowHosts: [sink.hostPort], ...over }).attemptCallback({
    taskId,
    delivery: 1,
    attempt,
    chance: 0.5,
  });

const minute = 60_000;
const hour = 60 * minute;
const clock = 1_900_000_000_000;
const dateIn = (ms: number) => new Date(clock + ms).toUTCString();
type Say = (response: ServerResponse) => void;
const reply =
  (status: number, headers: Record<string, string> = {}): Say =>
  (response) =>
    void response.writeHead(status, headers).end('body');

function endlessHeaders({ socket }: ServerResponse): void {
  socket?.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`);
}

// Gaps are exact, because the clock stands and chance is in the middle.
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
  ['429 with Retry-After', 1, reply(429, { 'retry-after': '120' }), 'pending', 2 * minute],
  ['429 asking for less', 3, reply(429, { 'retry-after': '1' }), 'pending', 30 * minute],
  ['429 asking for a week', 1, reply(429, { 'retry-after': '604800' }), 'pending', 5 * minute],
  ['429 asking for 12 hours', 6, reply(429, { 'retry-after': '43200' }), 'pending', 12 * hour],
  [
    '429 at the end of its patience',
    9,
    reply(429, { 'retry-after': '999999' }),
    'pending',
    24 * hour,
  ],
  ['429 with nonsense', 1, reply(429, { 'retry-after': 'soon' }), 'pending', 5_000],
  ['500', 1, reply(500), 'pending', 5_000],
  ['503 with a date', 1, reply(503, { 'retry-after': dateIn(200_000) }), 'pending', 200_000],
  ['503 with a date gone by', 1, reply(503, { 'retry-after': dateIn(-9_000) }), 'pending', 5_000],
  ['a cut connection', 1, (response) => void response.destroy(), 'pending', 5_000],
  ['a reset', 1, (response) => void response.socket?.resetAndDestroy(), 'pending', 5_000],
  ['headers without end', 1, endlessHeaders, 'pending', 5_000],
  [
    'something that is not HTTP',
    1,
    (r) => void r.socket?.end('SSH-2.0-hello\r\n'),
    'pending',
    5_000,
  ],
  ['silence', 1, () => undefined, 'pending', 5_000],
  ['ten megabytes', 1, (r) => void r.end(Buffer.alloc(10_000_000, 'x')), 'delivered', null],
  ['a NUL in the reply', 1, (r) => void r.end('a\0b'), 'delivered', null],
])('%s to attempt %i', async (_, attempt, answer, state, nextInMs) => {
  sink.answer = (__, response) => answer(response);
  const id = await aTask();
  const over = { now: () => clock, limits: { timeoutMs: 1_000 } };
  expect(await deliver(id, over, attempt)).toMatchObject({ state, nextInMs });
  expect(sink.received).toHaveLength(1);
  const nextAt = nextInMs === null ? null : new Date(clock + nextInMs);
  expect(await findCallback(database.db, id)).toMatchObject({ state, nextAt });
  const attempts = await listAttempts(database.db, id);
  expect(attempts).toMatchObject([{ attempt, delivery: 1, at: new Date(clock), latencyMs: 0 }]);
  expect(attempts[0]?.reply?.length ?? 0).toBeLessThanOrEqual(256);
  expect(attempts[0]?.error === null).toBe(state === 'delivered');
});

test.each([301, 302, 303, 307, 308])(
  '%i leads nowhere, not even to an address that is allowed',
  async (status) => {
    const canaries = await startCanaries();
    const elsewhere = `127.0.0.1:${canaries.port}`;
    sink.answer = (_, response) =>
      void response.writeHead(status, { location: `http://${elsewhere}/` }).end();
    const id = await aTask();
    const outcome = await deliver(id, { allowHosts: [sink.hostPort, elsewhere] });
    expect(outcome).toMatchObject({ state: 'pending', status, error: `HTTP ${status}` });
    expect(canaries.connections()).toBe(0);
    await canaries.close();
  },
);

test.each([
  ['that nobody vouches for', testCertificate],
  ['that has expired', expiredCertificate],
])('a certificate %s is an error of the attempt, and nothing is sent', async (_, cert) => {
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
});

test('what is kept of an answer is its beginning', async () => {
  sink.answer = (_, response) => void response.writeHead(500).end(`no: ${'x'.repeat(5_000)}`);
  const id = await aTask();
  await deliver(id);
  expect(await listAttempts(database.db, id)).toMatchObject([
    { status: 500, error: 'HTTP 500', reply: `no: ${'x'.repeat(252)}` },
  ]);
});
