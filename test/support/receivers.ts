// Extracts the receivers of docs/consumers.md and tests them with real deliveries. The receivers in
// all languages must pass the same tests.

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginResend } from '../../src/callbacks/callbacks.rows';
import { createSecret, rotateSecret } from '../../src/callbacks/webhook-secrets.rows';
import { freePorts } from '../../src/embedded/ports';
import { activeSecrets, aFinalTask, callbackActivities } from './callbacks';
import type { TestDatabase } from './database';
import { type Program, runProgram } from './program';
import { until } from './until';

export const consumersPage = readFileSync(join(__dirname, '../../docs/consumers.md'), 'utf8');

/** The code block in this language. Throws unless the page has exactly one. */
export function snippet(language: string): string {
  const blocks = [...consumersPage.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const found = blocks.filter(([, named]) => named === language);
  if (found.length !== 1) throw new Error(`The page has ${found.length} blocks of ${language}.`);
  return found[0]?.[2] ?? '';
}

/** A folder with the snippet, in which it can be built and run. */
export async function snippetFolder(language: string, file: string) {
  const folder = await mkdtemp(join(tmpdir(), 'video-receiver-'));
  await writeFile(join(folder, file), snippet(language));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

interface ReceiverCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface SnippetReceiver {
  readonly url: string;
  readonly program: Program;
  readonly accountId: string;
  readonly secret: string;
}

/** Runs the receiver for its own account, with that account's secret. */
export async function startReceiver(
  { db }: TestDatabase,
  accountId: string,
  { command, args, cwd, env }: ReceiverCommand,
): Promise<SnippetReceiver> {
  await db.raw('insert into accounts (id, name) values (?, ?)', [accountId, accountId]);
  const secret = await createSecret(db, accountId);
  const [port = 0] = await freePorts(1);
  const program = runProgram(command, args, {
    cwd,
    env: { ...env, WEBHOOK_SECRET: secret, PORT: String(port) },
  });
  let ended = false;
  void program.code.then(
    () => {
      ended = true;
    },
    () => {
      ended = true;
    },
  );
  await until('it listens', async () => {
    if (ended) throw new Error(`It ended: ${program.err()}`);
    return answers(port);
  });
  return { url: `http://127.0.0.1:${port}/video-callbacks`, program, accountId, secret };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Registers the tests that each receiver in docs/consumers.md must pass. */
export function itReceives(
  name: string,
  receiver: () => SnippetReceiver,
  database: () => TestDatabase,
) {
  const aTask = () => aFinalTask(database(), receiver().url, { accountId: receiver().accountId });
  const deliver = (taskId: string, delivery = 1) => {
    const allowHosts = [new URL(receiver().url).host];
    const { attemptCallback } = callbackActivities(database(), { allowHosts });
    return attemptCallback({ taskId, delivery, attempt: 1, chance: 0 });
  };
  const timesTaken = (id: string) => receiver().program.out().split(`${id} succeeded`).length - 1;

  test(`${name} verifies a delivery and accepts it`, async () => {
    const id = await aTask();
    expect(await deliver(id)).toMatchObject({ state: 'delivered', status: 204 });
    await until('it was taken', () => timesTaken(id) === 1);
  });

  test(`${name} processes a message exactly once even if the message is sent twice`, async () => {
    const [id, last] = [await aTask(), await aTask()];
    await deliver(id);
    await beginResend(database().db, id);
    expect(await deliver(id, 2)).toMatchObject({ state: 'delivered', status: 204 });
    await deliver(last);
    await until('the one behind it was taken', () => timesTaken(last) === 1);
    expect(timesTaken(id)).toBe(1);
  });

  test.each([
    ['the test of a webhook', { id: 'hook_x', object: 'webhook.test', created_at: 1 }],
    ['an alert', { type: 'balance.low', timestamp: '2027-01-31T00:00:00.000Z', data: {} }],
  ])(`${name} accepts %s, which is no task`, async (_, message) => {
    const body = JSON.stringify(message);
    const signed = signature({ body, secret: receiver().secret, age: 0 });
    const headers = { 'content-type': 'application/json', ...signed };
    const before = receiver().program.out();
    const { status } = await fetch(receiver().url, { method: 'POST', body, headers });
    expect(status).toBe(204);
    expect(await deliver(await aTask())).toMatchObject({ state: 'delivered' });
    await until('the task behind it was taken', () => receiver().program.out() !== before);
    expect(receiver().program.out()).not.toContain('undefined');
  });

  test.each([
    ['unsigned', {}],
    ['signed for another body', { body: '{"id":"x"}' }],
    ['signed with another secret', { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }],
    ['six minutes old', { age: 360 }],
  ])(`${name} refuses a message that is %s`, async (kind, over) => {
    const body = '{"id":"task_x","status":"succeeded"}';
    const signed = signature({ body, secret: receiver().secret, age: 0, ...over });
    const headers = { 'content-type': 'application/json', ...(kind === 'unsigned' ? {} : signed) };
    const { status } = await fetch(receiver().url, { method: 'POST', body, headers });
    expect(status).toBe(400);
  });

  test(`${name} accepts both secrets during a rotation, and only the new secret afterwards`, async () => {
    const { accountId, secret } = receiver();
    await rotateSecret(database().db, accountId, 3_600_000);
    expect(await activeSecrets(database().db, accountId)).toHaveLength(2);
    expect(await deliver(await aTask())).toMatchObject({ state: 'delivered' });
    await rotateSecret(database().db, accountId, 0);
    expect(await activeSecrets(database().db, accountId)).not.toContain(secret);
    expect(await deliver(await aTask())).toMatchObject({ state: 'pending', status: 400 });
  });
}

function signature(of: { body: string; secret: string; age: number }): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000) - of.age;
  const key = Buffer.from(of.secret.slice('whsec_'.length), 'base64');
  const signed = createHmac('sha256', key).update(`x.${seconds}.${of.body}`).digest('base64');
  return {
    'webhook-id': 'x',
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signed}`,
  };
}
