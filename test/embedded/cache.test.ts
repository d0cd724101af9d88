// Tests the cache of downloaded and unpacked programs. A process that dies while filling an entry
// leaves no incomplete entry. A file that another user could have changed is not used.

import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cached, cacheFolder } from '../../src/embedded/cache';

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

test('the second start uses the cache entry that the first start stored', async () => {
  const folder = await cached(tool, cache);
  expect(await cached(tool, cache)).toBe(folder);
  expect(fills).toBe(1);
  expect(await readdir(cache)).toEqual(['tool-1.0']);
});

test('several simultaneous starts leave one complete cache entry', async () => {
  const folders = await Promise.all([1, 2, 3].map(() => cached(tool, cache)));
  expect(new Set(folders)).toEqual(new Set([join(cache, 'tool-1.0')]));
  expect(await readFile(join(cache, 'tool-1.0/bin/tool'), 'utf8')).toBe('whole');
  expect(await readdir(cache)).toEqual(['tool-1.0']);
});

test('several simultaneous starts replace a changed cache entry by one complete entry', async () => {
  for (let round = 0; round < 20; round += 1) {
    await writeFile(join(await cached(tool, cache), 'bin/tool'), 'changed');
    const starts = Array.from({ length: 8 }, () => cached(tool, cache));
    expect(new Set(await Promise.all(starts))).toEqual(new Set([join(cache, 'tool-1.0')]));
    expect(await readFile(join(cache, 'tool-1.0/bin/tool'), 'utf8')).toBe('whole');
    expect(await readdir(cache)).toEqual(['tool-1.0']);
  }
});

test('a cache entry is not filled again while a program writes and removes files of its own there', async () => {
  const folder = await cached(tool, cache);
  let ended = false;
  const program = async () => {
    for (let n = 0; !ended; n += 1) {
      const files = Array.from({ length: 8 }, (_, of) => join(folder, 'bin', `tool.${n}.${of}`));
      await Promise.all(files.map((file) => writeFile(file, 'x')));
      await Promise.all(files.map((file) => rm(file)));
    }
  };
  const running = program();
  for (let n = 0; n < 100; n += 1) expect(await cached(tool, cache)).toBe(folder);
  ended = true;
  await running;
  expect(fills).toBe(1);
});

test('an unfinished cache folder of a dead process is not used, and is removed after an hour', async () => {
  const draft = join(cache, 'tool-1.0.Ab12Cd');
  await mkdir(join(draft, 'bin'), { recursive: true });
  await writeFile(join(draft, 'bin/tool'), 'ha');
  const anHourAgo = Date.now() / 1000 - 3_600;
  await utimes(draft, anHourAgo, anHourAgo);
  const folder = await cached(tool, cache);
  expect(await readFile(join(folder, 'bin/tool'), 'utf8')).toBe('whole');
  expect(await readdir(cache)).toEqual(['tool-1.0']);
});

test('an incomplete cache entry is filled again', async () => {
  await mkdir(join(cache, 'tool-1.0', 'lib'), { recursive: true });
  const folder = await cached(tool, cache);
  expect(await readFile(join(folder, 'bin/tool'), 'utf8')).toBe('whole');
  expect(existsSync(join(folder, 'lib'))).toBe(false);
});

test('a failed fill of the cache leaves no file, and the next fill succeeds', async () => {
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

test('each version of a program has a separate cache entry', async () => {
  await cached(tool, cache);
  await cached({ ...tool, name: 'tool-1.1' }, cache);
  expect((await readdir(cache)).sort()).toEqual(['tool-1.0', 'tool-1.1']);
});

describe('a file that another user put into the cache', () => {
  const planted = () => join(cache, 'tool-1.0', 'bin', 'tool');

  test('is replaced if the service itself did not fill the folder', async () => {
    await mkdir(dirname(planted()), { recursive: true });
    await writeFile(planted(), 'evil');
    await cached(tool, cache);
    expect(await readFile(planted(), 'utf8')).toBe('whole');
  });

  test('is replaced if its content differs from the original', async () => {
    await cached(tool, cache);
    await writeFile(planted(), 'evil');
    await cached(tool, cache);
    expect(await readFile(planted(), 'utf8')).toBe('whole');
  });

  test('is replaced if the file is a symbolic link', async () => {
    await cached(tool, cache);
    await rm(planted());
    await symlink('/bin/sh', planted());
    await cached(tool, cache);
    expect(await readFile(planted(), 'utf8')).toBe('whole');
  });

  test.each([
    ['the file', 'bin/tool'],
    ['a folder of the cache entry', 'bin'],
    ['the whole cache entry', ''],
  ])('is replaced if other users may write to %s', async (_what, path) => {
    const folder = await cached(tool, cache);
    const mode = (await stat(join(folder, path))).mode & 0o777;
    await chmod(join(folder, path), mode | 0o022);
    await cached(tool, cache);
    expect(fills).toBe(2);
    expect((await stat(join(folder, path))).mode & 0o022).toBe(0);
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('is replaced if it belongs to another user, although its content is right', async () => {
    const folder = await cached(tool, cache);
    await chown(planted(), 65_534, 65_534);
    await cached(tool, cache);
    expect((await stat(join(folder, 'bin/tool'))).uid).toBe(0);
  });

  asRoot('stops the start if the whole cache belongs to another user', async () => {
    await cached(tool, cache);
    await chown(cache, 65_534, 65_534);
    await expect(cached(tool, cache)).rejects.toThrow(/is not safe .* it belongs to user 65534/);
  });

  test('is not used: the start fails if another user can write to the cache or move the cache', async () => {
    await chmod(cache, 0o777);
    await expect(cached(tool, cache)).rejects.toThrow(/is not safe .* other users/);
    await expect(cached(tool, join(cache, 'inner'))).rejects.toThrow(/everybody can write to/);
    await chmod(cache, 0o1777);
    await cached(tool, join(cache, 'inner'));
  });

  test('is impossible by default, because the cache is in a folder of root or of the user', () => {
    if (process.getuid?.() === 0) expect(cacheFolder()).toBe('/var/cache/video-generation-service');
    else expect(cacheFolder()).toMatch(/\.cache\/video-generation-service$/);
  });
});

test('another user, such as that of PostgreSQL, can run a program of the cache, whatever the umask is', async () => {
  const umask = process.umask(0o077);
  const inner = join(cache, 'inner');
  const folder = await cached(
    {
      ...tool,
      async fill(draft) {
        await tool.fill(draft);
        await chmod(join(draft, 'bin/tool'), 0o700);
      },
    },
    inner,
  ).finally(() => process.umask(umask));
  for (const path of [inner, folder, join(folder, 'bin'), join(folder, 'bin/tool')]) {
    expect((await stat(path)).mode & 0o777).toBe(0o755);
  }
});
