// Checks docs/consumers.md: its receiver runs, and its retry schedule is correct.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { attemptsMax, nextGapMs } from '../../src/callbacks/schedule.rules';
import { createCallbackDatabase } from '../support/callbacks';
import type { TestDatabase } from '../support/database';
import {
  consumersPage,
  itReceives,
  type SnippetReceiver,
  snippetFolder,
  startReceiver,
} from '../support/receivers';

let database: TestDatabase;
let receiver: SnippetReceiver;
let remove: () => Promise<void>;
beforeAll(async () => {
  database = await createCallbackDatabase();
  const made = await snippetFolder('js', 'receiver.mjs');
  remove = made.remove;
  await symlink(join(__dirname, '../../node_modules'), join(made.folder, 'node_modules'));
  const command = { command: process.execPath, args: ['receiver.mjs'], cwd: made.folder };
  receiver = await startReceiver(database, 'javascript', command);
});
afterAll(async () => {
  await receiver?.program.stop();
  await remove?.();
  await database?.drop();
});

itReceives(
  'the receiver in JavaScript',
  () => receiver,
  () => database,
);

test('docs/consumers.md lists the actual retry schedule of callbacks', () => {
  const sentences = consumersPage.replace(/\s+/g, ' ');
  const [, documented = ''] =
    /Further attempts come after (.*?), each up to a fifth later/.exec(sentences) ?? [];
  const unitMs = { s: 1_000, min: 60_000, h: 3_600_000 };
  const gaps = documented.split(/, | and /).map((gap) => {
    const [number, unit] = gap.split(' ');
    return Number(number) * unitMs[unit as keyof typeof unitMs];
  });
  expect(gaps).toEqual(
    Array.from({ length: attemptsMax - 1 }, (_, i) => nextGapMs(i + 1, 0, null)),
  );
  expect(sentences).toContain('After the tenth attempt');
  expect(attemptsMax).toBe(10);
});
