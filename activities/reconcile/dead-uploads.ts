// Uploads whose API process died: their rows are deleted, then their bytes in the storage.

import type { Knex } from 'knex';
import { dropDeadUploads } from '../../src/db/files/uploads';
import type { Storage } from '../../src/storage/storage';

export interface UploadDeps {
  readonly db: Knex;
  readonly inputs: { readonly storage: Storage };
}

// An API process waits ten minutes for the body of an upload; the rest is time to store it.
const deadSeconds = 30 * 60;

/** The number of uploads that were deleted. */
export async function deleteDeadUploads(
  { db, inputs }: UploadDeps,
  olderThanSeconds = deadSeconds,
): Promise<number> {
  const keys = await dropDeadUploads(db, olderThanSeconds);
  for (const key of keys) await inputs.storage.remove(key);
  return keys.length;
}
