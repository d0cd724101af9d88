// One attempt of a callback against a real receiver: what is sent, what each answer means, what is recorded.

import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { CallbackDeps } from '../../activities/callback';
import { beginAttempt, beginResend, findCallback, listAttempts } from '../../src/db/callbacks';
import { activeSecrets, rotateSecret } from '../../src/db/webhook-secrets';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { aFinalTask, callbackActivities, createCallbackDatabase } from '../support/callbacks';
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

const aTask = (url: string | null = sink.url) => aFinalTask(database, url);
const activities = (over: Partial<CallbackDeps> = {}) =>
  callbackActivities(database, { allowHosts: [sink.hostPort], ...over });
const deliver = (taskId: string, over: Partial<CallbackDeps> = {}, attempt = 1) =>
  activities(over).attemptCallback({ taskId, delivery: 1, attempt, chance: 0.5 });

test('the stored object leaves byte for byte, signed for the account', async () => {
  const id = await aTask();
  expect(await deliver(id)).toMatchObject({ state: 'delivered', status: 204, nextInMs: null });
  const [received] = sink.received;
  const [secret = ''] = await activeSecrets(database.db, 'acct');
  const headers = received?.headers as Record<string, string>;
  expect(new Webhook(secret).verify(received?.body ?? '', headers)).toMatchObject({ id });
  expect(headers['webhook-id']).toBe(`${id}:succeeded`);
  expect(headers['content-type']).toBe('application/json');
  const { rows } = await database.db.raw('select object::text as text from tasks where id = ?', [
    id,
  ]);
  expect(received?.body).toBe(rows[0].text);
});

test('every attempt has the same id, its own time, and both secrets during a rotation', async () => {
  const [old = ''] = await activeSecrets(database.db, 'acct');
  const fresh = await rotateSecret(database.db, 'acct', 3_600_000);
  sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  const startMs = Date.now();
  await deliver(id, { now: () => startMs });
  await deliver(id, { now: () => startMs + 60_000 }, 2);
  const [first, second] = sink.received.map(({ headers }) => headers);
  expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
  expect(Number(second?.['webhook-timestamp'])).toBe(Number(first?.['webhook-timestamp']) + 60);
  for (const secret of [old, fresh]) {
    for (const { body, headers } of sink.received) {
      expect(() =>
        new Webhook(secret).verify(body, headers as Record<string, string>),
      ).not.toThrow();
    }
  }
  const stranger = new Webhook(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
  expect(() =>
    stranger.verify(sink.received[0]?.body ?? '', first as Record<string, string>),
  ).toThrow();
});

test('after the overlap only the new secret signs', async () => {
  const fresh = await rotateSecret(database.db, 'acct', 0);
  expect(await activeSecrets(database.db, 'acct')).toEqual([fresh]);
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

test('the last attempt that fails leaves the callback exhausted', async () => {
  sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  expect(await deliver(id, {}, 10)).toMatchObject({
    state: 'exhausted',
    nextInMs: null,
  });
});

test('an address that is not allowed is never dialled and its attempt says only that', async () => {
  const id = await aTask();
  const outcome = await deliver(id, { allowHosts: [] });
  expect(outcome).toMatchObject({ state: 'pending', error: 'The address is not allowed.' });
  expect(sink.received).toEqual([]);
});

test('a callback is owed from the transaction that ends its task, and only where one was asked for', async () => {
  const asked = await aTask();
  const silent = await aTask(null);
  const running = await aFinalTask(database, sink.url, { final: false });
  expect(await findCallback(database.db, asked)).toMatchObject({ state: 'pending', deliveries: 1 });
  expect(await findCallback(database.db, silent)).toBeNull();
  expect(await findCallback(database.db, running)).toBeNull();
  await expect(deliver(silent)).rejects.toMatchObject({ type: 'NoCallback', nonRetryable: true });
  await expect(deliver(running)).rejects.toMatchObject({ type: 'NoCallback' });
  await database.db.raw('update tasks set finished_at = now() where id = ?', [running]);
  expect(await findCallback(database.db, running)).toMatchObject({ state: 'pending' });
  expect(sink.received).toEqual([]);
});

test('an attempt whose outcome was recorded is not made again when only the word of it was lost', async () => {
  const id = await aTask();
  await deliver(id);
  expect(await deliver(id)).toMatchObject({ state: 'delivered' });
  sink.answer = (_, response) => void response.writeHead(500).end();
  const failing = await aTask();
  const now = () => clock;
  const first = await deliver(failing, { now });
  expect(await deliver(failing, { now })).toEqual(first);
  expect(sink.received).toHaveLength(2);
});

test('an attempt that was cut off is made again and stays visible', async () => {
  const id = await aTask();
  await beginAttempt(database.db, id, 1, 1, new Date(clock));
  await deliver(id);
  const attempts = await listAttempts(database.db, id);
  expect(attempts).toMatchObject([
    { attempt: 1, status: null, latencyMs: null, error: expect.stringContaining('cut off') },
    { attempt: 1, status: 204, error: null },
  ]);
});

test('nothing leaves while the attempt cannot be recorded', async () => {
  const id = await aTask();
  await database.db.raw('alter table callback_attempts rename to elsewhere');
  try {
    await expect(deliver(id)).rejects.toThrow();
  } finally {
    await database.db.raw('alter table elsewhere rename to callback_attempts');
  }
  expect(sink.received).toEqual([]);
});

test('an account without a secret is sent nothing unsigned', async () => {
  await database.db.raw(`insert into accounts (id, name) values ('bare', 'bare')`);
  const id = await aFinalTask(database, sink.url, { accountId: 'bare' });
  expect(await deliver(id)).toMatchObject({
    state: 'pending',
    error: 'The account has no webhook secret.',
  });
  expect(sink.received).toEqual([]);
});

test('sending again is a new delivery of the same message, and the older one leaves it to that', async () => {
  sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  await deliver(id);
  expect(await beginResend(database.db, id)).toBe(2);
  expect(await deliver(id, {}, 2)).toMatchObject({ state: 'superseded', nextInMs: null });
  sink.answer = (_, response) => void response.writeHead(204).end();
  const resent = { taskId: id, delivery: 2, attempt: 1, chance: 0.5 };
  expect(await activities().attemptCallback(resent)).toMatchObject({ state: 'delivered' });
  expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect((await listAttempts(database.db, id)).map(({ delivery }) => delivery)).toEqual([1, 2]);
});

test('a delivery that is cancelled is stopped, but not one that has arrived', async () => {
  const [waiting, arrived] = [await aTask(), await aTask()];
  await deliver(arrived);
  for (const taskId of [waiting, arrived]) await activities().stopCallback({ taskId, delivery: 1 });
  expect(await findCallback(database.db, waiting)).toMatchObject({
    state: 'stopped',
    nextAt: null,
  });
  expect(await findCallback(database.db, arrived)).toMatchObject({ state: 'delivered' });
});

test('a receiver that has its share of deliveries is left alone, without an attempt', async () => {
  const held = withResolvers();
  sink.answer = (_, response) => void held.promise.then(() => response.writeHead(204).end());
  const { attemptCallback } = activities({ perHostMax: 2 });
  const ids = await Promise.all([0, 1, 2].map(() => aTask()));
  const results = ids.map((taskId) =>
    attemptCallback({ taskId, delivery: 1, attempt: 1, chance: 0.5 }).then(
      ({ state }) => state as string,
      ({ type }: { type: string }) => type,
    ),
  );
  await expect(Promise.race(results)).resolves.toBe('HostBusy');
  held.resolve();
  const outcomes = await Promise.all(results);
  expect([...outcomes].sort()).toEqual(['HostBusy', 'delivered', 'delivered']);
  const busy = ids[outcomes.indexOf('HostBusy')] ?? '';
  expect(await listAttempts(database.db, busy)).toEqual([]);
  const again = await attemptCallback({ taskId: busy, delivery: 1, attempt: 1, chance: 0.5 });
  expect(again.state).toBe('delivered');
});

function withResolvers() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
