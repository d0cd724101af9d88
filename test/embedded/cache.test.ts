// The cache of downloaded and unpacked binaries: whole or not there, whoever dies while filling it.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cached } from '../../src/embedded/cache';

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'video-cache-'));
});
afterEach(() => rm(cache, { recursive: true, force: true }));

let fills = 0;
const tool = {
  name: 'tool-1.0',
  needs: ['bin/tool'],
  async fill(folder: string) {
    fills += 1;
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/tool'), 'whole');
  },
};
beforeEach(() => {
  fills = 0;
});

test('it is filled once, also by several at the same moment', async () => {
  const folders = await Promise.all([1, 2, 3].map(() => cached(tool, cache)));
  expect(new Set(folders)).toEqual(new Set([join(cache, 'tool-1.0')]));
  expect(fills).toBe(1);
  expect(await readdir(cache)).toEqual(['tool-1.0']);
});

test('a draft that somebody died over is not used, and is removed', async () => {
  await mkdir(join(cache, 'tool-1.0.Ab12Cd', 'bin'), { recursive: true });
  await writeFile(join(cache, 'tool-1.0.Ab12Cd', 'bin/tool'), 'ha');
  const folder = await cached(tool, cache);
  expect(await readFile(join(folder, 'bin/tool'), 'utf8')).toBe('whole');
  expect(await readdir(cache)).toEqual(['tool-1.0']);
});

test('one that has lost what it needs is filled again', async () => {
  await mkdir(join(cache, 'tool-1.0', 'lib'), { recursive: true });
  const folder = await cached(tool, cache);
  expect(await readFile(join(folder, 'bin/tool'), 'utf8')).toBe('whole');
  expect(existsSync(join(folder, 'lib'))).toBe(false);
});

test('a fill that fails leaves nothing, and the next one succeeds', async () => {
  const broken = {
    ...tool,
    async fill(folder: string) {
      await writeFile(join(folder, 'half'), '');
      throw new Error('the line went dead');
    },
  };
  await expect(cached(broken, cache)).rejects.toThrow('the line went dead');
  expect(await readdir(cache)).toEqual([]);
  await cached(tool, cache);
});

test.each([
  ['of a process that is dead', '999999999', 0],
  ['that nobody has touched for minutes', String(process.pid), 6 * 60],
])('a lock %s is taken over', async (_whose, pid, ageSeconds) => {
  const lock = join(cache, 'tool-1.0.lock');
  await writeFile(lock, pid);
  const then = Date.now() / 1000 - ageSeconds;
  await utimes(lock, then, then);
  await cached(tool, cache);
  expect(await readdir(cache)).toEqual(['tool-1.0']);
});

test('another version lies beside it', async () => {
  await cached(tool, cache);
  await cached({ ...tool, name: 'tool-1.1' }, cache);
  expect((await readdir(cache)).sort()).toEqual(['tool-1.0', 'tool-1.1']);
});
