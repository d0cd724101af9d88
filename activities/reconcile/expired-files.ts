// Deletes files that have expired. Uploads whose API process died expire too. The bytes are deleted
// first, and the row is marked afterwards. So a later run repeats a deletion that was interrupted.

import type { Knex } from 'knex';
import { listExpired, markExpired } from '../../src/db/files/retention';
import { forgetRemovedUploads } from '../../src/db/files/uploads';
import { type Storage, StorageError } from '../../src/storage/storage';
import { eachAtOnce } from '../each-at-once';

export interface ExpiryDeps {
  readonly db: Knex;
  readonly storage: Storage;
}

// 200 files per run are about three a second, so that a day's files of a busy service are deleted
// within a day.
const limit = 200;
const atOnce = 4;
// For this long, a request for a removed upload is answered with the reason. The rows of results
// are deleted with their tasks.
const removedUploadsKeptDays = 35;
const forgottenMax = 2_000;

/**
 * Returns the number of deleted files. A file that the storage does not delete is left to a later
 * run.
 */
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
