// One attempt of a callback against a real receiver: what is sent, what each answer means, what is recorded.

import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { createCallbackActivities } from '../../activities/callback';
import { findCallback, listAttempts } from '../../src/db/callbacks';
import { activeSecrets, createSecret, rotateSecret } from '../../src/db/webhook-secrets';
import { aTaskId } from '../support/builders';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let sink: CallbackSink;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.raw(`insert into accounts (id, name) values ('acct', 'acct')`);
  await createSecret(database.db, 'acct');
});
afterAll(() => database?.drop());
beforeEach(async () => {
  sink = await startCallbackSink();
});
afterEach(() => sink.close());

async function aFinalTask(url: string): Promise<string> {
  const id = aTaskId();
  const object = JSON.stringify({ id, status: 'succeeded', text: 'ü "quoted"' });
  await database.db.raw(
    `insert into tasks (id, account_id, model, status, version, object, request, plan, request_hash,
                        trace_id, callback_url, created_at, deadline_at, finished_at)
     values (?, 'acct', 'm', 'succeeded', 9, ?, '{}', '{}', 'h', 't', ?, now(), now(), now())`,
    [id, object, url],
  );
  return id;
}

const deliver = (taskId: string, allowHosts = [sink.hostPort], attempt = 1) =>
  createCallbackActivities({
    db: database.db,
    allowHosts,
    now: () => Date.now(),
    perHostMax: 2,
    onAttempt: () => undefined,
  }).attemptCallback({ taskId, delivery: 1, attempt, chance: 0.5 });

test('the stored object leaves byte for byte, signed for the account', async () => {
  const id = await aFinalTask(sink.url);
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
  const id = await aFinalTask(sink.url);
  await deliver(id);
  await deliver(id, [sink.hostPort], 2);
  expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const secret of [old, fresh]) {
    for (const { body, headers } of sink.received) {
      expect(() =>
        new Webhook(secret).verify(body, headers as Record<string, string>),
      ).not.toThrow();
    }
  }
});

test('after the overlap only the new secret signs', async () => {
  const fresh = await rotateSecret(database.db, 'acct', 0);
  expect(await activeSecrets(database.db, 'acct')).toEqual([fresh]);
});

const minute = 60_000;
const reply =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end('body');

test.each<[string, (response: ServerResponse) => void, string, number | null]>([
  ['200', reply(200), 'delivered', null],
  ['204', reply(204), 'delivered', null],
  ['301', reply(301, { location: 'http://169.254.169.254/' }), 'pending', 5_000],
  ['302', reply(302, { location: 'http://169.254.169.254/' }), 'pending', 5_000],
  ['400', reply(400), 'pending', 5_000],
  ['404', reply(404), 'pending', 5_000],
  ['410', reply(410), 'stopped', null],
  ['429 with Retry-After', reply(429, { 'retry-after': '120' }), 'pending', 2 * minute],
  ['429 asking for a week', reply(429, { 'retry-after': '604800' }), 'pending', 5 * minute],
  ['500', reply(500), 'pending', 5_000],
  [
    '503 with a date',
    reply(503, { 'retry-after': new Date(Date.now() + 200_000).toUTCString() }),
    'pending',
    200_000,
  ],
  ['a cut connection', (response) => void response.destroy(), 'pending', 5_000],
  [
    'ten megabytes',
    (response) => void response.writeHead(200).end(Buffer.alloc(10_000_000, 'x')),
    'delivered',
    null,
  ],
])('%s', async (_, answer, state, nextInMs) => {
  sink.answer = (__, response) => answer(response);
  const id = await aFinalTask(sink.url);
  const outcome = await deliver(id);
  expect(outcome.state).toBe(state);
  if (nextInMs === null) expect(outcome.nextInMs).toBeNull();
  // A date has whole seconds, and the test itself takes some of them.
  else expect(Math.abs((outcome.nextInMs ?? 0) - nextInMs)).toBeLessThan(30_000);
  expect(sink.received).toHaveLength(1);
  expect(await findCallback(database.db, id)).toMatchObject({ state });
  const [attempt] = await listAttempts(database.db, id);
  expect(attempt).toMatchObject({ attempt: 1, delivery: 1 });
  expect(attempt?.reply?.length ?? 0).toBeLessThanOrEqual(256);
});

test('the last attempt that fails leaves the callback exhausted', async () => {
  sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aFinalTask(sink.url);
  expect(await deliver(id, [sink.hostPort], 10)).toMatchObject({
    state: 'exhausted',
    nextInMs: null,
  });
});

test('an address that is not allowed is never dialled and its attempt says only that', async () => {
  const id = await aFinalTask(sink.url);
  const outcome = await deliver(id, []);
  expect(outcome).toMatchObject({ state: 'pending', error: 'The address is not allowed.' });
  expect(sink.received).toEqual([]);
});

test('a host that has its share of deliveries is left alone, without an attempt', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  sink.answer = (_, response) => void held.then(() => response.writeHead(204).end());
  const activities = createCallbackActivities({
    db: database.db,
    allowHosts: [sink.hostPort],
    now: () => Date.now(),
    perHostMax: 2,
    onAttempt: () => undefined,
  });
  const ids = await Promise.all([0, 1, 2].map(() => aFinalTask(sink.url)));
  const results = ids.map((taskId) =>
    activities.attemptCallback({ taskId, delivery: 1, attempt: 1, chance: 0.5 }).then(
      ({ state }) => state as string,
      ({ type }: { type: string }) => type,
    ),
  );
  await expect(Promise.race(results)).resolves.toBe('HostBusy');
  release();
  expect((await Promise.all(results)).sort()).toEqual(['HostBusy', 'delivered', 'delivered']);
});
