// Checks real deliveries with the Standard Webhooks libraries of Python, Go and Java. The receivers
// come from docs/consumers.md. The Python library also verifies every attempt of a long delivery.
// The tests of a language that the machine lacks are skipped.

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
import { hasTool, javaLibrary, pythonPackage, succeed } from '../support/foreign';
import { runProgram } from '../support/program';
import {
  itReceives,
  type ReceiverCommand,
  type SnippetReceiver,
  snippetFolder,
  startReceiver,
} from '../support/receivers';

// Long enough to download and compile the libraries on a new machine.
jest.setTimeout(300_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await createCallbackDatabase();
});
afterAll(() => database?.drop());

interface Language {
  readonly name: string;
  readonly block: string;
  readonly file: string;
  readonly isThere: boolean;
  build(folder: string): Promise<Omit<ReceiverCommand, 'cwd'>>;
}

const python = hasTool('python3', '-m', 'pip', '--version');
const inPython = () => pythonPackage('standardwebhooks', '1.1.0');
const languages: readonly Language[] = [
  {
    name: 'Python',
    block: 'python',
    file: 'receiver.py',
    isThere: python,
    build: async () => ({
      command: 'python3',
      args: ['receiver.py'],
      env: { PYTHONPATH: await inPython() },
    }),
  },
  {
    name: 'Go',
    block: 'go',
    file: 'main.go',
    isThere: hasTool('go', 'version'),
    async build(folder) {
      const library = 'github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1';
      await succeed('go', ['mod', 'init', 'receiver'], folder);
      await succeed('go', ['get', library], folder);
      await succeed('go', ['build', '-o', 'receiver', '.'], folder);
      return { command: join(folder, 'receiver'), args: [] };
    },
  },
  {
    name: 'Java',
    block: 'java',
    file: 'Receiver.java',
    isThere: hasTool('mvn', '--version') && hasTool('javac', '--version'),
    async build(folder) {
      const jar = await javaLibrary('com.standardwebhooks', 'standardwebhooks', '1.1.0');
      await succeed('javac', ['-cp', jar, 'Receiver.java'], folder);
      return { command: 'java', args: ['-cp', `${jar}:${folder}`, 'Receiver'] };
    },
  },
];

for (const { name, block, file, isThere, build } of languages) {
  (isThere ? describe : describe.skip)(`the Standard Webhooks library of ${name}`, () => {
    let receiver: SnippetReceiver;
    let remove: () => Promise<void>;
    beforeAll(async () => {
      const made = await snippetFolder(block, file);
      remove = made.remove;
      const command = { ...(await build(made.folder)), cwd: made.folder };
      receiver = await startReceiver(database, block, command);
    });
    afterAll(async () => {
      await receiver?.program.stop();
      await remove?.();
    });
    itReceives(
      `the receiver in ${name}`,
      () => receiver,
      () => database,
    );
  });
}

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
      await attemptCallback({ taskId: id, delivery: 1, attempt, chance: 0.5 });
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
