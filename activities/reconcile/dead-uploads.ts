// Uploads whose API process died: their rows are deleted, with their bytes in the storage.

import type { Knex } from 'knex';
import { dropDeadUpload } from '../../src/db/files/uploads';
import { type Storage, StorageError } from '../../src/storage/storage';

export interface UploadDeps {
  readonly db: Knex;
  readonly inputs: { readonly storage: Storage };
}

// An API process waits ten minutes for the body of an upload; the rest is time to store it.
const deadSeconds = 30 * 60;

/** The number of uploads that were deleted. While the storage is away they stay for a later run. */
export async function deleteDeadUploads(
  { db, inputs: { storage } }: UploadDeps,
  olderThanSeconds = deadSeconds,
): Promise<number> {
  let deleted = 0;
  try {
    while (await dropDeadUpload(db, olderThanSeconds, (key) => storage.remove(key))) deleted += 1;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
  return deleted;
}
