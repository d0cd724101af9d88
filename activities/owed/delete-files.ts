// Files owe `delete`: once a file has expired or was removed, its bytes are deleted. The link of a file
// ends first, then the bytes are deleted, and then the row records that. An upload whose API process
// died expires too.

import { claimDeletions, type ExpiredFile, markDeleted } from '../../src/files/retention.rows';
import { StorageError } from '../../src/files/storage/storage';
import type { Duty } from '../../src/owed/loop';
import { endLink } from '../../src/tasks/remove-files.rows';
import type { WorkerDeps } from '../deps';

export function fileDeletions({
  db,
  storage,
}: Pick<WorkerDeps, 'db' | 'storage'>): Duty<ExpiredFile> {
  return {
    name: 'delete',
    // A deletion that a silent storage does not answer takes a minute.
    atOnce: 4,
    idleMs: 10_000,
    claim: (limit) => claimDeletions(db, limit),
    async fulfil(file) {
      if (!(await endLink(db, file))) return true;
      try {
        await storage.remove(file.key);
      } catch (error) {
        // An operator sees the faults of the storage in its metrics. Other files need not wait if the
        // storage refuses this one.
        return !(error instanceof StorageError && error.fault === 'away');
      }
      await markDeleted(db, file.id);
      return true;
    },
  };
}
