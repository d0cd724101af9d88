// Tests the lock of a stack on its data folder: which of several starts gets it, and which messages
// the others print.

import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockStack } from '../../src/dev-stack/lock';
import { aDataDir, type DataDir } from '../support/processes';

let data: DataDir;
beforeEach(async () => {
  data = await aDataDir();
});
afterEach(() => data.remove());

const lines: string[] = [];
const lock = () => lockStack(data.path, (line) => void lines.push(line));
const file = () => join(data.path, 'stack.lock');
const content = () => JSON.parse(readFileSync(file(), 'utf8'));

/** The lock of a stack that was killed. */
async function aLeftLock(change: object = {}): Promise<void> {
  await lock();
  writeFileSync(
    file(),
    JSON.stringify({ ...content(), stack: { pid: 999_999_999, began: '1' }, ...change }),
  );
}

test('the first start gets the lock, and a second one is refused until the first has released it', async () => {
  const first = await lock();
  await expect(lock()).rejects.toThrow(
    `A stack runs on ${data.path} already (process ${process.pid})`,
  );
  first.record('studio', process.pid);
  expect(Object.keys(content().parts)).toEqual(['studio']);
  first.forget('studio');
  expect(content().parts).toEqual({});
  first.release();
  (await lock()).release();
});

test('of several starts after a kill, one gets the lock', async () => {
  await aLeftLock();
  const tries = await Promise.allSettled(Array.from({ length: 8 }, lock));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(readdirSync(data.path)).toEqual(['stack.lock']);
  expect(content().stack.pid).toBe(process.pid);
});

test('a start removes no lock that another stack has taken meanwhile', async () => {
  const first = await lock();
  writeFileSync(file(), JSON.stringify({ ...content(), stack: { pid: 1, began: 'other' } }));
  first.release();
  expect(content().stack.pid).toBe(1);
});

test('an empty lock file does not block a start', async () => {
  writeFileSync(file(), '');
  (await lock()).release();
});

test('a stack in another container counts as dead when it has not renewed its lock for a while', async () => {
  await aLeftLock({ where: 'pid:[1]', parts: { studio: { pid: process.pid, began: '' } } });
  await expect(lock()).rejects.toThrow(/another container.*start again in 30 s/);
  const before = new Date(Date.now() - 31_000);
  utimesSync(file(), before, before);
  (await lock()).release();
});

test('a folder that cannot be used is named, with the setting', async () => {
  writeFileSync(join(data.path, 'plain'), '');
  const start = lockStack(join(data.path, 'plain'), () => undefined);
  await expect(start).rejects.toThrow(/plain cannot be used for data \(EEXIST\).*DATA_DIR/);
});

test('a stack survives the removal of its folder', async () => {
  const held = await lock();
  await data.remove();
  held.record('studio', process.pid);
  expect(lines.at(-1)).toMatch(/stack\.lock cannot be written \(ENOENT\)/);
  held.release();
});
