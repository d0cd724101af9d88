// Files past their time, and uploads whose API process died, which expire too. The bytes are deleted
// first and the row says so afterwards, so that a run that dies in between is repeated.

import type { Knex } from 'knex';
import { listExpired, markExpired } from '../../src/db/files/retention';
import { forgetRemovedUploads } from '../../src/db/files/uploads';
import { type Storage, StorageError } from '../../src/storage/storage';
import { eachAtOnce } from '../each-at-once';

export interface ExpiryDeps {
  readonly db: Knex;
  readonly storage: Storage;
}

// About three a second, so that a day's files of a busy service are deleted within a day.
const limit = 200;
const atOnce = 4;
// Until then the link of a removed upload gives the reason. The rows of results are deleted with
// their tasks.
const removedUploadsKeptDays = 35;
const forgottenMax = 2_000;

/** Returns the number of files. While the storage is away none is deleted; a later run does it. */
export async function removeExpired({ db, storage }: ExpiryDeps): Promise<number> {
  let removed = 0;
  await eachAtOnce(await listExpired(db, limit), atOnce, async (file) => {
    try {
      await storage.remove(file.key);
    } catch (error) {
      if (error instanceof StorageError) return;
      throw error;
    }
    await markExpired(db, file);
    removed += 1;
  });
  await forgetRemovedUploads(db, removedUploadsKeptDays, forgottenMax);
  return removed;
}
