// The folder that keeps downloaded and unpacked programs between runs. The folder is outside of any
// clone, so that a new clone needs no download. The name of each entry contains the version. An
// entry is filled in a temporary folder, which is renamed when the entry is complete. An entry is
// used only if its files are unchanged and no other user could have written to them.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { faultOfOwner, isIntact, sealFolder } from './sealed-folder';
import { SetupError } from './setup-error';

/**
 * For root the cache is in /var/cache. Only root can write there, and the user that runs PostgreSQL
 * can read it. That user cannot read root's home directory.
 */
export function cacheFolder(): string {
  const parent = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache');
  return join(parent, 'video-generation-service');
}

interface Cached {
  /** The name of the entry. It contains the version of the content. */
  readonly name: string;
  /** Files that a complete entry must have. */
  readonly needs: readonly string[];
  fill(folder: string): Promise<void>;
}

/** Returns the folder of an entry. The folder is filled if it is absent, incomplete or changed. */
export async function cached(entry: Cached, cache = cacheFolder()): Promise<string> {
  const folder = join(cache, entry.name);
  await prepare(cache);
  if (await isWhole(folder, entry.needs)) return folder;
  await removeOldDrafts(cache, entry.name);
  const draft = await mkdtemp(`${folder}.`);
  try {
    await entry.fill(draft);
    await chmod(draft, 0o755);
    await sealFolder(draft);
    await put(draft, folder, entry.needs);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

async function isWhole(folder: string, needs: readonly string[]): Promise<boolean> {
  return needs.every((file) => existsSync(join(folder, file))) && (await isIntact(folder));
}

// Processes that replace the same entry may take away each other's folders.
const putAttempts = 20;

/**
 * Renames the filled folder to the final path. If another process has filled the entry in the
 * meantime, the folder of that process is used.
 */
async function put(draft: string, folder: string, needs: readonly string[]): Promise<void> {
  for (let attempt = 1; !(await isWhole(folder, needs)); attempt += 1) {
    await removeFolder(folder);
    try {
      return await rename(draft, folder);
    } catch (error) {
      if (attempt === putAttempts) throw error;
    }
  }
}

async function removeFolder(folder: string): Promise<void> {
  const aside = `${folder}.${randomBytes(6).toString('hex')}`;
  // The folder may not exist, or another process may have removed it.
  await rename(folder, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(aside, { recursive: true, force: true });
}

/** Creates the cache folder. Fails if another user could write to this folder or replace it. */
async function prepare(cache: string): Promise<void> {
  await mkdir(dirname(cache), { recursive: true });
  await mkdir(cache, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const fault = faultOfOwner(await lstat(cache)) ?? (await faultAbove(resolve(cache)));
  // The umask applies to `mkdir`, but PostgreSQL may run as a user who has to enter this folder.
  if (fault === null) return chmod(cache, 0o755);
  throw new SetupError(
    `The folder of downloaded programs, ${cache}, is not safe to run anything from: ${fault}. ` +
      'Remove it, or make it yours alone (chown, chmod go-w), and start again.',
  );
}

/**
 * Returns a fault of a parent folder, or null. In a folder with the sticky bit, users can replace
 * only their own files.
 */
async function faultAbove(folder: string): Promise<string | null> {
  const parent = dirname(folder);
  if (parent === folder) return null;
  const { mode } = await lstat(parent);
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) return `everybody can write to ${parent}`;
  return faultAbove(parent);
}

// No download takes this long. Another process may still be filling a younger temporary folder.
const draftStaleMs = 30 * 60_000;

async function removeOldDrafts(cache: string, name: string): Promise<void> {
  for (const found of await readdir(cache)) {
    if (!found.startsWith(`${name}.`)) continue;
    const path = join(cache, found);
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > draftStaleMs) await rm(path, { recursive: true, force: true });
  }
}
