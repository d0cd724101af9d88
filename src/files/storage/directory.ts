// Stores files in a directory. API and worker must share the directory: either both run on one
// machine, or the directory is a shared volume.

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { assert } from '../../assert';
import { bytesOf, failAsStorage } from './file-faults';
import { type Storage, StorageError, type StoredObject } from './storage';

// The folder of unfinished writes. A rename, which is atomic, moves a complete file from this
// folder to the path of its key.
const unfinished = '.unfinished';

/** False if the directory is missing, or if it is only the mount point of a volume. */
export async function isDirectoryThere(folder: string): Promise<boolean> {
  return (await stat(join(folder, unfinished)).catch(nullIfMissing)) !== null;
}

/** Creates the directory if it is missing. */
export async function openDirectory(folder: string): Promise<Storage> {
  await mkdir(join(folder, unfinished), { recursive: true }).catch(failAsStorage);
  return directory(folder);
}

/** Creates nothing. Calls fail with the fault `no bucket` until the directory is there. */
export function directory(folder: string): Storage {
  const pathOf = (key: string) => {
    assert(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(key), 'a key is a path of plain names');
    return join(folder, key);
  };
  // Without its volume, the folder may exist and be empty.
  const mustBeMounted = () => access(join(folder, unfinished)).catch(failAsStorage);
  return {
    async write(key, bytes, { length, signal }) {
      const part = join(folder, unfinished, randomUUID());
      const file = createWriteStream(part, { flags: 'wx', flush: true });
      // An error of the source may have the code of a file error, but is no fault of the storage.
      let hasSourceFailed = bytes.errored !== null;
      bytes.once('error', () => {
        hasSourceFailed = file.errored === null;
      });
      try {
        await pipeline(bytes, file, { signal });
        const found = file.bytesWritten;
        if (length !== null && found !== length) {
          throw new StorageError('wrong length', `${key} has ${found} bytes instead of ${length}.`);
        }
        const made = await mkdir(dirname(pathOf(key)), { recursive: true });
        if (made) await syncFolder(dirname(made));
        await rename(part, pathOf(key));
        await syncFolder(dirname(pathOf(key)));
      } catch (error) {
        await rm(part, { force: true }).catch(() => undefined);
        if (hasSourceFailed) throw error;
        await access(folder).catch(failAsStorage);
        failAsStorage(error);
      }
    },

    async read(key, range) {
      // A deletion does not take the bytes of a file that is open.
      const file = await open(pathOf(key), 'r').catch(nullIfMissing);
      if (file) return bytesOf(file, range);
      await mustBeMounted();
      return null;
    },

    async remove(key) {
      await mustBeMounted();
      await rm(pathOf(key), { force: true }).catch(failAsStorage);
    },

    async *list(prefix): AsyncGenerator<StoredObject> {
      try {
        for await (const path of filesBelow(folder)) {
          const key = relative(folder, path);
          if (!key.startsWith(prefix) || key.startsWith(unfinished)) continue;
          const found = await stat(path).catch(nullIfMissing);
          if (found) yield { key, length: found.size, modifiedAt: found.mtime };
        }
      } catch (error) {
        failAsStorage(error);
      }
    },

    presigned: () => Promise.resolve(null),
  };
}

/** Makes the new name of a file survive a loss of power. The bytes were flushed before. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// The option `recursive` of opendir is not used: in Node 20 it omits files if a folder has more
// than 32 entries.
async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  return failAsStorage(error);
}
