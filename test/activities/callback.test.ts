// One attempt of a callback against a real receiver: what is sent, what each answer means, what is
// recorded.

import { Webhook } from 'standardwebhooks';
import type { CallbackDeps } from '../../activities/callback';
import { beginResend, findCallback, listAttempts } from '../../src/db/callbacks';
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

test('after the overlap only the new secret signs, and no later rotation brings an old one back', async () => {
  const [old = ''] = await activeSecrets(database.db, 'acct');
  const fresh = await rotateSecret(database.db, 'acct', 0);
  expect(await activeSecrets(database.db, 'acct')).toEqual([fresh]);
  const id = await aTask();
  await deliver(id);
  const body = sink.received[0]?.body ?? '';
  const sent = sink.received[0]?.headers as Record<string, string>;
  expect(sent['webhook-signature']).not.toContain(' ');
  expect(new Webhook(fresh).verify(body, sent)).toMatchObject({ id });
  expect(() => new Webhook(old).verify(body, sent)).toThrow('No matching signature');
  const newest = await rotateSecret(database.db, 'acct', 3_600_000);
  expect(await activeSecrets(database.db, 'acct')).toEqual([newest, fresh]);
});

test('a secret is 32 random bytes in the form that verifying libraries take', async () => {
  const secrets = await activeSecrets(database.db, 'acct');
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  }
  expect(new Set(secrets).size).toBe(secrets.length);
});

test('the last attempt that fails leaves the callback exhausted, and says so to whoever counts', async () => {
  sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  const told: string[] = [];
  const onAttempt = (outcome: string) => void told.push(outcome);
  await deliver(id, { onAttempt }, 9);
  expect(await deliver(id, { onAttempt }, 10)).toMatchObject({
    state: 'exhausted',
    nextInMs: null,
  });
  expect(told).toEqual(['again', 'exhausted']);
  expect(await findCallback(database.db, id)).toMatchObject({ state: 'exhausted', nextAt: null });
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
