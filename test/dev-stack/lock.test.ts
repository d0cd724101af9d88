// Tests the lock of a stack on its data folder: which of several starts gets it, and which messages
// the others print.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { lockStack } from '../../src/dev-stack/lock';
import { aDataDir, type DataDir } from '../support/processes';

let data: DataDir;
beforeEach(async () => {
  data = await aDataDir();
});
afterEach(() => data.remove());

const lock = () => lockStack(data.path);
const file = () => join(data.path, 'stack.lock');
const holder = () => readFileSync(file(), 'utf8').split('\n')[0]?.split(' ');
const write = (...lines: readonly string[]) => writeFileSync(file(), `${lines.join('\n')}\n`);
const aMinuteAgo = () => new Date(Date.now() - 60_000);

test('the first start gets the lock, and a second one is refused until the first has released it', async () => {
  const first = await lock();
  await expect(lock()).rejects.toThrow(
    `A stack runs on ${data.path} already (process ${process.pid})`,
  );
  first.release();
  (await lock()).release();
});

test('the lock of a killed stack is free, and of several starts one gets it', async () => {
  write(`999999999 ${hostname()} 1`);
  const tries = await Promise.allSettled(Array.from({ length: 8 }, lock));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(holder()?.[0]).toBe(String(process.pid));
});

test('a stack whose number this process has now is dead, as after the restart of a container', async () => {
  write(`${process.pid} ${hostname()} 1`);
  (await lock()).release();
});

test('a process that got the number of a dead stack does not block a start', async () => {
  write(`${process.ppid} ${hostname()} 1`);
  await expect(lock()).rejects.toThrow(/runs on/);
  utimesSync(file(), aMinuteAgo(), aMinuteAgo());
  (await lock()).release();
});

test('a stack of another container counts as dead when it has not renewed its lock for a while', async () => {
  write('1 another-host 1', String(process.ppid));
  await expect(lock()).rejects.toThrow(/process 1 of another-host.*start again in 30 s/);
  utimesSync(file(), aMinuteAgo(), aMinuteAgo());
  (await lock()).release();
});

test('a start waits for the end of the processes that a killed stack has left', async () => {
  const left = spawn(process.execPath, ['-e', 'setTimeout(() => undefined, 600_000)']);
  await once(left, 'spawn');
  write(`999999999 ${hostname()} 1`, String(left.pid));
  let isLocked = false;
  const waiting = lock().then((held) => {
    isLocked = true;
    return held;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(isLocked).toBe(false);
  left.kill('SIGKILL');
  (await waiting).release();
});

test('a start removes no lock that another stack has taken meanwhile', async () => {
  const first = await lock();
  write('1 another-host 1');
  first.release();
  expect(holder()).toEqual(['1', 'another-host', '1']);
});

test('an empty lock file does not block a start', async () => {
  writeFileSync(file(), '');
  (await lock()).release();
});

test('a folder that cannot be used is named, with the setting', async () => {
  writeFileSync(join(data.path, 'plain'), '');
  const start = lockStack(join(data.path, 'plain'));
  await expect(start).rejects.toThrow(/plain cannot be used for data \(EEXIST\).*DATA_DIR/);
});

test('a stack survives the removal of its folder', async () => {
  const held = await lock();
  await data.remove();
  held.record(process.pid);
  held.release();
});
