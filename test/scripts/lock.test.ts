// Tests the lock around installing and building. Only one process at a time may have the lock. A
// killed process must not block another process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { until } from '../support/until';

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-lock-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process that takes the lock, writes a file, and ends when it gets input. */
function holder(name: string): ChildProcess {
  const lock = pathToFileURL(join(__dirname, '../../scripts/lib/lock.mjs')).href;
  const program = `
    import { writeFileSync } from 'node:fs';
    import { withLock } from '${lock}';
    await withLock(${JSON.stringify(join(folder, 'lock'))}, 600_000, () => {
      writeFileSync(${JSON.stringify(join(folder, name))}, '');
      return new Promise((resolve) => process.stdin.once('data', resolve));
    });
    process.exit();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
}

const has = (name: string) => existsSync(join(folder, name));

test('a second process waits until the first process releases the lock', async () => {
  const first = holder('first');
  await until('the first has it', () => has('first'));
  holder('second');
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(has('second')).toBe(false);
  first.stdin?.write('done');
  await until('the second has it', () => has('second'));
});

test('a process immediately gets the lock of a killed process', async () => {
  const first = holder('first');
  await until('the first has it', () => has('first'));
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect(has('lock')).toBe(true);
  holder('second');
  await until('the second has it', () => has('second'));
});
