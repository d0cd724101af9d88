// These tests make single attempts to deliver a callback to a real receiver. They check the
// message, its signatures and what is recorded. The meaning of each answer is in
// attempt-callback.answers.test.ts.

import { Webhook } from 'standardwebhooks';
import {
  beginResend,
  findCallback,
  findDelivery,
  listAttempts,
} from '../../../src/callbacks/callbacks.rows';
import { rotateSecret } from '../../../src/callbacks/webhook-secrets.rows';
import { createWebhook, deleteWebhook } from '../../../src/callbacks/webhooks.rows';
import { activeSecrets, aFinalTask, callbackWorld, endTask } from '../../support/callbacks';

const world = callbackWorld();
const { aTask, activities, deliver } = world;

test('a callback sends the stored task object byte for byte, signed with the account’s secret', async () => {
  const id = await aTask();
  expect(await deliver(id)).toMatchObject({ state: 'delivered', status: 204, nextInMs: null });
  const [received] = world.sink.received;
  const [secret = ''] = await activeSecrets(world.database.db, 'acct');
  const headers = received?.headers as Record<string, string>;
  expect(new Webhook(secret).verify(received?.body ?? '', headers)).toMatchObject({ id });
  expect(headers['webhook-id']).toBe(`${id}:succeeded`);
  expect(headers['content-type']).toBe('application/json');
  const { rows } = await world.database.db.raw(
    'select object::text as text from tasks where id = ?',
    [id],
  );
  expect(received?.body).toBe(rows[0].text);
});

describe('a callback of a webhook', () => {
  async function aWebhook() {
    const { db } = world.database;
    const accountId = 'acct';
    const wanted = { accountId, url: world.sink.url, events: ['succeeded'] as const };
    const webhook = await createWebhook(db, { ...wanted, max: 10, nowMs: Date.now() });
    return webhook as NonNullable<typeof webhook>;
  }

  test('is signed with the secret of the webhook', async () => {
    const { id: webhookId, secret } = await aWebhook();
    const id = await aTask(null);
    expect(await deliver(id)).toMatchObject({ state: 'delivered', status: 204 });
    const [received] = world.sink.received;
    const headers = received?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(received?.body ?? '', headers)).toMatchObject({ id });
    await deleteWebhook(world.database.db, 'acct', webhookId);
  });

  test('is stopped and sends nothing if the webhook was deleted', async () => {
    const { id: webhookId } = await aWebhook();
    const id = await aTask(null);
    await deleteWebhook(world.database.db, 'acct', webhookId);
    expect(await deliver(id)).toMatchObject({ state: 'stopped', nextInMs: null });
    expect(world.sink.received).toEqual([]);
    expect(await findCallback(world.database.db, id)).toMatchObject({ state: 'stopped' });
  });
});

test('every callback attempt has the same id, its own time, and two signatures during a secret rotation', async () => {
  const [old = ''] = await activeSecrets(world.database.db, 'acct');
  const fresh = await rotateSecret(world.database.db, 'acct', 3_600_000);
  world.sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  const startMs = Date.now();
  await deliver(id, { now: () => startMs });
  await deliver(id, { now: () => startMs + 60_000 }, 2);
  const [first, second] = world.sink.received.map(({ headers }) => headers);
  expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
  expect(Number(second?.['webhook-timestamp'])).toBe(Number(first?.['webhook-timestamp']) + 60);
  for (const secret of [old, fresh]) {
    for (const { body, headers } of world.sink.received) {
      expect(() =>
        new Webhook(secret).verify(body, headers as Record<string, string>),
      ).not.toThrow();
    }
  }
  const stranger = new Webhook(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
  expect(() =>
    stranger.verify(world.sink.received[0]?.body ?? '', first as Record<string, string>),
  ).toThrow();
});

test('after the overlap of a rotation only the new secret signs, and the old secret never signs again', async () => {
  const [old = ''] = await activeSecrets(world.database.db, 'acct');
  const fresh = await rotateSecret(world.database.db, 'acct', 0);
  expect(await activeSecrets(world.database.db, 'acct')).toEqual([fresh]);
  const id = await aTask();
  await deliver(id);
  const body = world.sink.received[0]?.body ?? '';
  const sent = world.sink.received[0]?.headers as Record<string, string>;
  expect(sent['webhook-signature']).not.toContain(' ');
  expect(new Webhook(fresh).verify(body, sent)).toMatchObject({ id });
  expect(() => new Webhook(old).verify(body, sent)).toThrow('No matching signature');
  const newest = await rotateSecret(world.database.db, 'acct', 3_600_000);
  expect((await findDelivery(world.database.db, id, 1, 1))?.secrets).toEqual([newest, fresh]);
});

test('a webhook secret has 32 random bytes, in the format of Standard Webhooks', async () => {
  const secrets = await activeSecrets(world.database.db, 'acct');
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  }
  expect(new Set(secrets).size).toBe(secrets.length);
});

test('a callback whose tenth attempt fails is recorded and counted as exhausted', async () => {
  world.sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  const outcomes: string[] = [];
  const onAttempt = (outcome: string) => void outcomes.push(outcome);
  await deliver(id, { onAttempt }, 9);
  expect(await deliver(id, { onAttempt }, 10)).toMatchObject({
    state: 'exhausted',
    nextInMs: null,
  });
  expect(outcomes).toEqual(['again', 'exhausted']);
  expect(await findCallback(world.database.db, id)).toMatchObject({
    state: 'exhausted',
    nextAt: null,
  });
});

test('a callback to a forbidden address is not sent, and its error says that the address is not allowed', async () => {
  const id = await aTask();
  const outcome = await deliver(id, { allowHosts: [] });
  expect(outcome).toMatchObject({ state: 'pending', error: 'The address is not allowed.' });
  expect(world.sink.received).toEqual([]);
});

test('the transaction that ends a task stores its callback as pending, if the task asked for a callback', async () => {
  const asked = await aTask();
  const silent = await aTask(null);
  const running = await aFinalTask(world.database, world.sink.url, { final: false });
  expect(await findCallback(world.database.db, asked)).toMatchObject({
    state: 'pending',
    deliveries: 1,
  });
  expect(await findCallback(world.database.db, silent)).toBeNull();
  expect(await findCallback(world.database.db, running)).toBeNull();
  await expect(deliver(silent)).rejects.toMatchObject({ type: 'NoCallback', nonRetryable: true });
  await expect(deliver(running)).rejects.toMatchObject({ type: 'NoCallback' });
  await endTask(world.database.db, running);
  expect(await findCallback(world.database.db, running)).toMatchObject({ state: 'pending' });
  expect(world.sink.received).toEqual([]);
});

test('an account without a webhook secret gets no callback, not even an unsigned callback', async () => {
  await world.database.db.raw(`insert into accounts (id, name) values ('bare', 'bare')`);
  const id = await aFinalTask(world.database, world.sink.url, { accountId: 'bare' });
  expect(await deliver(id)).toMatchObject({
    state: 'pending',
    error: 'The account has no webhook secret.',
  });
  expect(world.sink.received).toEqual([]);
});

test('a resend starts a new delivery of the same callback and ends the older delivery', async () => {
  world.sink.answer = (_, response) => void response.writeHead(500).end();
  const id = await aTask();
  await deliver(id);
  expect(await beginResend(world.database.db, id)).toBe(2);
  expect(await deliver(id, {}, 2)).toMatchObject({ state: 'superseded', nextInMs: null });
  world.sink.answer = (_, response) => void response.writeHead(204).end();
  const resent = { taskId: id, delivery: 2, attempt: 1, chance: 0 };
  expect(await activities().attemptCallback(resent)).toMatchObject({ state: 'delivered' });
  expect(new Set(world.sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect((await listAttempts(world.database.db, id)).map(({ delivery }) => delivery)).toEqual([
    1, 2,
  ]);
});

test('a cancelled delivery is recorded as stopped, unless its callback has arrived', async () => {
  const [waiting, arrived] = [await aTask(), await aTask()];
  await deliver(arrived);
  for (const taskId of [waiting, arrived]) await activities().stopCallback({ taskId, delivery: 1 });
  expect(await findCallback(world.database.db, waiting)).toMatchObject({
    state: 'stopped',
    nextAt: null,
  });
  expect(await findCallback(world.database.db, arrived)).toMatchObject({ state: 'delivered' });
});

/** Attempts so many callbacks of one account while the receiver answers none; one is refused. */
async function attemptsAtOnce(count: number, perHostMax: number) {
  const held = withResolvers();
  world.sink.answer = (_, response) => void held.promise.then(() => response.writeHead(204).end());
  const { attemptCallback } = activities({ perHostMax });
  const ids = await Promise.all(Array.from({ length: count }, () => aTask()));
  const results = ids.map((taskId) =>
    attemptCallback({ taskId, delivery: 1, attempt: 1, chance: 0 }).then(
      ({ state }) => state as string,
      ({ type }: { type: string }) => type,
    ),
  );
  await expect(Promise.race(results)).resolves.toBe('HostBusy');
  held.resolve();
  return { attemptCallback, ids, outcomes: await Promise.all(results) };
}

test('a receiver at its limit of deliveries gets no further request, and no attempt is recorded', async () => {
  const { attemptCallback, ids, outcomes } = await attemptsAtOnce(3, 2);
  expect([...outcomes].sort()).toEqual(['HostBusy', 'delivered', 'delivered']);
  const busy = ids[outcomes.indexOf('HostBusy')] ?? '';
  expect(await listAttempts(world.database.db, busy)).toEqual([]);
  const again = await attemptCallback({ taskId: busy, delivery: 1, attempt: 1, chance: 0 });
  expect(again.state).toBe('delivered');
});

test('an account leaves some deliveries of a receiver’s host to other accounts', async () => {
  const { outcomes } = await attemptsAtOnce(5, 5);
  expect(outcomes.filter((outcome) => outcome === 'delivered')).toHaveLength(4);
});

function withResolvers() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
