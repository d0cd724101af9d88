// Deletes the bytes of files that have expired or were removed. An unfinished upload also expires if
// its API process died. The link of a file ends first, then the bytes are deleted, and then the row
// records that. So a later run repeats a deletion that was interrupted.

import {
  type ExpiredFile,
  listExpired,
  markDeleted,
  postpone,
} from '../../src/files/retention.rows';
import { forgetRemovedUploads } from '../../src/files/uploads.rows';
import { endLink } from '../../src/tasks/remove-files.rows';
import type { WorkerDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';

const batchSize = 200;
const atOnce = 4;
// A deletion that a silent storage does not answer takes a minute, and a run may take five minutes in
// all. So no deletion starts later than this.
const runForMs = 30_000;
// The row of a removed upload is kept for this long. Until then, a request for the upload is
// answered with the reason of the removal. The rows of results are deleted with their tasks.
const removedUploadsKeptDays = 35;
const forgottenMax = 2_000;

/**
 * Returns the number of deleted files. If the storage fails to delete a file, a later run tries
 * again, and the files behind it do not wait.
 */
export async function removeExpired(
  { db, storage, stopping }: Pick<WorkerDeps, 'db' | 'storage' | 'stopping'>,
  forMs = runForMs,
): Promise<number> {
  const until = performance.now() + forMs;
  const isOver = () => stopping.aborted || performance.now() > until;
  let removed = 0;
  const remove = async (file: ExpiredFile): Promise<void> => {
    if (isOver() || !(await endLink(db, file))) return;
    try {
      await storage.remove(file.key);
    } catch {
      await postpone(db, file.id);
      return;
    }
    await markDeleted(db, file.id);
    removed += 1;
  };
  for (let isLast = false; !isLast; ) {
    const batch = await listExpired(db, batchSize);
    await eachAtOnce(batch, atOnce, remove);
    isLast = batch.length < batchSize || isOver();
  }
  await forgetRemovedUploads(db, removedUploadsKeptDays, forgottenMax);
  return removed;
}
