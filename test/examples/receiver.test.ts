// Sends real deliveries to the receivers in the folder examples. The receiver must process each
// signed message once and refuse every other message.

import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { beginResend, findCallback } from '../../src/callbacks/callbacks.rows';
import { rotateSecret } from '../../src/callbacks/webhook-secrets.rows';
import { freePorts } from '../../src/embedded/ports';
import {
  activeSecrets,
  aFinalTask,
  callbackActivities,
  createCallbackDatabase,
  testAccount,
} from '../support/callbacks';
import type { TestDatabase } from '../support/database';
import { type Program, runProgram } from '../support/program';
import { until } from '../support/until';

let database: TestDatabase;
let receiver: Program;
let url: string;
let secret: string;
beforeAll(async () => {
  database = await createCallbackDatabase();
  [secret = ''] = await activeSecrets(database.db, testAccount);
  ({ receiver, url } = await startReceiver(secret));
});
afterAll(async () => {
  await receiver?.stop();
  await database?.drop();
});

const receiverFile = join(__dirname, '../../examples/receiver.mjs');

async function startReceiver(secrets: string): Promise<{ receiver: Program; url: string }> {
  const env = { WEBHOOK_SECRET: secrets, PORT: '0' };
  const program = runProgram(process.execPath, [receiverFile], { env });
  await until('it listens', () => program.err().includes('listening on'));
  const address = /http:\/\/\S+/.exec(program.err())?.[0] ?? '';
  return { receiver: program, url: `${address}/hook` };
}

async function deliver(taskId: string, delivery = 1, to = url, attempt = 1) {
  const { attemptCallback } = callbackActivities(database, { allowHosts: [new URL(to).host] });
  return attemptCallback({ taskId, delivery, attempt, chance: 0 });
}

function signedAt(seconds: number, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`x.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': 'x',
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

const post = async (body: string, headers: Record<string, string>) =>
  (await fetch(url, { method: 'POST', body, headers })).status;
const nowSeconds = () => Math.floor(Date.now() / 1000);

test.each([
  ['no secret', ''],
  ['a secret without `whsec_`', 'c2VjcmV0'],
  ['a truncated secret', 'whsec_abc'],
])(
  'the example receiver prints one sentence and exits if it is started with %s',
  async (_, wrong) => {
    const env = { WEBHOOK_SECRET: wrong, PORT: '0' };
    const program = runProgram(process.execPath, [receiverFile], { env });
    expect(await program.code).toBe(1);
    expect(program.err()).toMatch(/^WEBHOOK_SECRET .*whsec_….*\n$/);
  },
);

test('the receiver verifies, accepts and processes a delivery', async () => {
  const id = await aFinalTask(database, url);
  expect(await deliver(id)).toMatchObject({ state: 'delivered', status: 204 });
  await until('the receiver processed the message', () =>
    receiver.out().includes(`${id} succeeded`),
  );
});

test('examples/fails-once.mjs answers 500 to the first attempt of a message and 204 to the second attempt', async () => {
  const [port] = await freePorts(1);
  const file = join(__dirname, '../../examples/fails-once.mjs');
  const program = runProgram(process.execPath, [file], { env: { PORT: String(port) } });
  const to = `http://127.0.0.1:${port}`;
  await until('it listens', () => fetch(to).then(Boolean, () => false));
  const id = await aFinalTask(database, to);
  expect(await deliver(id, 1, to)).toMatchObject({ state: 'pending', status: 500 });
  expect(await deliver(id, 1, to, 2)).toMatchObject({ state: 'delivered', status: 204 });
  await program.stop();
});

test('the receiver accepts a repeated message and does not process it again', async () => {
  const id = await aFinalTask(database, url);
  await deliver(id);
  expect(await beginResend(database.db, id)).toBe(2);
  expect(await deliver(id, 2)).toMatchObject({ state: 'delivered', status: 204 });
  // The receiver prints in order. The output of this later message shows that nothing more comes
  // from the repeated message.
  const last = await aFinalTask(database, url);
  await deliver(last);
  await until('the receiver processed the last message', () => receiver.out().includes(last));
  expect(receiver.out().split(id)).toHaveLength(2);
});

test.each<[string, () => Promise<number>]>([
  ['without signature', () => post('{}', {})],
  ['with a signature of another body', () => post('{"a":1}', signedAt(nowSeconds(), '{}'))],
  ['that is six minutes old', () => post('{}', signedAt(nowSeconds() - 360, '{}'))],
])('the receiver refuses a message %s', async (_, send) => {
  expect(await send()).toBe(400);
});

test('the receiver refuses a body of 300 KiB', async () => {
  const body = 'x'.repeat(300 * 1024);
  expect(await post(body, signedAt(nowSeconds(), body))).toBe(413);
});

test('a receiver that knows the old and the new secret misses no message during a rotation', async () => {
  const old = await aFinalTask(database, url);
  await deliver(old);
  const fresh = await rotateSecret(database.db, testAccount, 0);
  const both = await startReceiver(`${fresh} ${secret}`);
  const unaware = await aFinalTask(database, url);
  expect(await deliver(unaware)).toMatchObject({ state: 'pending', status: 400 });
  const aware = await aFinalTask(database, both.url);
  expect(await deliver(aware, 1, both.url)).toMatchObject({ state: 'delivered' });
  expect(await findCallback(database.db, aware)).toMatchObject({ state: 'delivered' });
  await both.receiver.stop();
});
