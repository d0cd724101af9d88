// Where downloaded and unpacked binaries are kept between runs: outside any clone, so that a fresh
// one starts at once, with the version in each name. A folder is filled beside its place and moved
// there when whole, so a half-written one is never used; a lock keeps two processes from filling
// the same.

import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// 5 min: longer than the slowest download seen; past that its owner is taken for stuck.
const lockStaleMs = 5 * 60_000;

/**
 * As root it must be reachable by the user that PostgreSQL runs as, and root's home directory is
 * not.
 */
export function cacheFolder(): string {
  if (process.getuid?.() === 0) return '/var/tmp/video-generation-service';
  return join(homedir() || tmpdir(), '.cache', 'video-generation-service');
}

interface Cached {
  /** Changes with the version of what is in it. */
  readonly name: string;
  /** Files without which it is of no use: something else may have tidied up here. */
  readonly needs: readonly string[];
  fill(folder: string): Promise<void>;
}

/** A folder in the cache, filled when it is not there yet or no longer whole. */
export async function cached(
  { name, needs, fill }: Cached,
  cache = cacheFolder(),
): Promise<string> {
  const place = join(cache, name);
  const isWhole = () => needs.every((file) => existsSync(join(place, file)));
  if (isWhole()) return place;
  await mkdir(cache, { recursive: true });
  const unlock = await lock(`${place}.lock`);
  try {
    if (isWhole()) return place;
    await removeLeftovers(cache, name);
    const draft = await mkdtemp(`${place}.`);
    try {
      await fill(draft);
      await chmod(draft, 0o755);
      await rename(draft, place);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    return place;
  } finally {
    await unlock();
  }
}

/**
 * What is no longer whole, and drafts of those that were killed while they filled one; the lock is
 * ours.
 */
async function removeLeftovers(cache: string, name: string): Promise<void> {
  for (const found of await readdir(cache)) {
    const isDraft = found.startsWith(`${name}.`) && found !== `${name}.lock`;
    if (isDraft || found === name) await rm(join(cache, found), { recursive: true, force: true });
  }
}

async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      const handle = await open(path, 'wx');
      await handle.write(String(process.pid));
      await handle.close();
      return () => unlink(path).catch(() => undefined);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isStale(path)) await unlink(path).catch(() => undefined);
    else await sleep(200);
  }
}

/** Its owner is dead, or has been at it for too long. */
async function isStale(path: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(path, 'utf8'));
    if ((await stat(path)).mtimeMs < Date.now() - lockStaleMs) return true;
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
