// Checks real deliveries with the Standard Webhooks library of Python. The receiver comes from
// docs/consumers.md. The library also verifies every attempt of a long delivery. The tests are
// skipped on a machine without Python.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rotateSecret } from '../../src/callbacks/webhook-secrets.rows';
import { startCallbackSink } from '../support/callback-sink';
import {
  activeSecrets,
  aFinalTask,
  callbackActivities,
  createCallbackDatabase,
  testAccount,
} from '../support/callbacks';
import type { TestDatabase } from '../support/database';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';
import {
  itReceives,
  type SnippetReceiver,
  snippetFolder,
  startReceiver,
} from '../support/receivers';

// Long enough to download the library on a new machine.
jest.setTimeout(300_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(() => database?.drop());

const python = hasTool('python3', '-m', 'pip', '--version');
const inPython = () => pythonPackage('standardwebhooks', '1.1.0');

(python ? describe : describe.skip)('the Standard Webhooks library of Python', () => {
  let receiver: SnippetReceiver;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const made = await snippetFolder('python', 'receiver.py');
    remove = made.remove;
    const env = { PYTHONPATH: await inPython() };
    const command = { command: 'python3', args: ['receiver.py'], cwd: made.folder, env };
    receiver = await startReceiver(database, 'python', command);
  });
  afterAll(async () => {
    await receiver?.program.stop();
    await remove?.();
  });
  itReceives(
    'the receiver in Python',
    () => receiver,
    () => database,
  );
});

const verifyAll = `
import json, sys
from standardwebhooks import Webhook
for message in json.load(open(sys.argv[1])):
    for secret in message["secrets"]:
        task = Webhook(secret).verify(message["body"], message["headers"])
        print(task["id"], task["text"])
`;

(python ? test : test.skip)(
  'the Python library verifies all ten attempts of a delivery with the old and the new secret during a rotation',
  async () => {
    const sink = await startCallbackSink();
    sink.answer = (_, response) => void response.writeHead(500).end();
    const id = await aFinalTask(database, sink.url);
    await rotateSecret(database.db, testAccount, 3_600_000);
    const secrets = await activeSecrets(database.db, testAccount);
    expect(secrets).toHaveLength(2);
    const startMs = Date.now();
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const now = () => startMs + attempt * 1_000;
      const { attemptCallback } = callbackActivities(database, {
        now,
        allowHosts: [sink.hostPort],
      });
      await attemptCallback({ taskId: id, delivery: 1, attempt, chance: 0 });
    }
    await sink.close();
    const headers = sink.received.map((message) => message.headers);
    expect(new Set(headers.map((sent) => sent['webhook-id'])).size).toBe(1);
    expect(new Set(headers.map((sent) => sent['webhook-timestamp'])).size).toBe(10);

    const { folder, remove } = await snippetFolder('python', 'receiver.py');
    const messages = sink.received.map((message) => ({ ...message, secrets }));
    await writeFile(join(folder, 'messages.json'), JSON.stringify(messages));
    await writeFile(join(folder, 'verify.py'), verifyAll);
    const env = { PYTHONPATH: await inPython(), PYTHONIOENCODING: 'utf-8' };
    const program = runProgram('python3', ['verify.py', 'messages.json'], { cwd: folder, env });
    expect([await program.code, program.err()]).toEqual([0, '']);
    await remove();
    expect(program.out().split('\n').filter(Boolean)).toEqual(
      Array(20).fill(`${id} ü "quoted" \u2028`),
    );
  },
);
