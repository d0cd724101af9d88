// The folder of a test run, for data that the run loses at its end anyway. It is in memory if there
// is enough of it: most test files create databases, which takes several times as long on a disk.

import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './processes';

const memory = '/dev/shm';
const prefix = 'video-tests-';
// Many times what a run needs.
const leastBytes = 6 * 1024 ** 3;

export async function makeRunFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  const free = Math.min(bavail * bsize, process.availableMemory());
  const parent = free >= leastBytes ? memory : tmpdir();
  await removeLeft(parent);
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
}

/** Removes the folders of runs that were killed. */
async function removeLeft(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(prefix)
      ? Number(name.slice(prefix.length).split('-')[0])
      : Number.NaN;
    if (pid > 0 && !isAlive(pid)) await rm(join(parent, name), { recursive: true, force: true });
  }
}
