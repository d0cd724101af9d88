// A folder with a stored list of its files and their SHA-256. The folder is intact if every listed
// file still has its SHA-256, and if no other user could have written to the folder or its files.

import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { chmod, lstat, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const listName = '.sha256.json';

/** For each path: the SHA-256 of a file's content, or the target of a link. */
type Contents = Readonly<Record<string, string>>;

/** Stores the list. All other users may read and run what the owner may, and write nothing. */
export async function sealFolder(folder: string): Promise<void> {
  const contents: Record<string, string> = {};
  for (const path of await entriesOf(folder)) {
    const stats = await lstat(join(folder, path));
    // npm may have unpacked the files under a umask that leaves other users nothing.
    const forAll = ((stats.mode & 0o500) >> 3) | ((stats.mode & 0o500) >> 6);
    if (!stats.isSymbolicLink()) await chmod(join(folder, path), (stats.mode & 0o7700) | forAll);
    const content = await contentOf(folder, path, stats);
    if (content !== null) contents[path] = content;
  }
  await writeFile(join(folder, listName), JSON.stringify(contents), { mode: 0o644 });
}

export async function isIntact(folder: string): Promise<boolean> {
  try {
    const unseen = new Map(Object.entries(await readList(folder)));
    for (const path of ['', ...(await entriesOf(folder))]) {
      const stats = await lstat(join(folder, path)).catch(() => null);
      // Programs may write and remove files of their own meanwhile, such as the bytecode of Python.
      if (!stats) continue;
      if (faultOfOwner(stats) !== null) return false;
      if (!unseen.has(path)) continue;
      if ((await contentOf(folder, path, stats)) !== unseen.get(path)) return false;
      unseen.delete(path);
    }
    return unseen.size === 0;
  } catch {
    return false;
  }
}

/** Null if only root and the user of this process can write to the entry; otherwise the fault. */
export function faultOfOwner(stats: Stats): string | null {
  const user = process.getuid?.();
  if (user === undefined) return null;
  if (stats.uid !== user && stats.uid !== 0) return `it belongs to user ${stats.uid}`;
  if (stats.isSymbolicLink()) return null;
  if ((stats.mode & 0o022) !== 0) return 'other users can write to it';
  return null;
}

async function readList(folder: string): Promise<Contents> {
  return JSON.parse(await readFile(join(folder, listName), 'utf8')) as Contents;
}

async function entriesOf(folder: string): Promise<string[]> {
  return readdir(folder, { recursive: true });
}

async function contentOf(folder: string, path: string, stats: Stats): Promise<string | null> {
  if (stats.isSymbolicLink()) return `link to ${await readlink(join(folder, path))}`;
  if (!stats.isFile()) return null;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(join(folder, path))) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
