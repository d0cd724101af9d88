// Objects in the storage that no file has: of a removed file whose bytes were not deleted, or of a
// database that was restored. Each run looks at a slice of the storage; after the last slice it begins
// anew. Objects younger than a day are left alone, because their rows may be on their way. If many are
// unknown at once, the storage probably belongs to another database too, and none is deleted.

import { findKeysInUse } from '../../src/db/files/retention';
import { areTooManyUnknown } from '../../src/domain/unknown-tasks';
import { type Storage, StorageError, type StoredObject } from '../../src/storage/storage';
import type { ActivityEvents } from '../events';
import type { ExpiryDeps } from './expired-files';

export interface ObjectDeps extends ExpiryDeps {
  readonly events: ActivityEvents;
  /** Above this share of a slice, unknown objects are not deleted. */
  readonly unknownPercentMax: number;
}

const prefixes = ['results/', 'uploads/'];
const sliceSize = 500;
const youngMs = 24 * 3_600_000;

/** Removes unknown objects of the next slice, and returns their number. */
export type RemoveUnknown = (now?: number, size?: number) => Promise<number>;

/** The position is kept in this process only; a new process begins at the start. */
export function createRemoveUnknown(deps: ObjectDeps): RemoveUnknown {
  const { storage } = deps;
  let listing = listAll(storage);
  return async (now = Date.now(), size = sliceSize) => {
    try {
      const slice: StoredObject[] = [];
      while (slice.length < size) {
        const { done, value } = await listing.next();
        if (done) break;
        slice.push(value);
      }
      if (slice.length < size) listing = listAll(storage);
      const old = slice.filter(({ modifiedAt }) => now - modifiedAt.getTime() > youngMs);
      return await removeUnknown(deps, old);
    } catch (error) {
      // The next run begins anew.
      listing = listAll(storage);
      if (error instanceof StorageError) return 0;
      throw error;
    }
  };
}

async function removeUnknown(
  { db, storage, events, unknownPercentMax: percentMax }: ObjectDeps,
  objects: readonly StoredObject[],
): Promise<number> {
  if (objects.length === 0) return 0;
  const keys = objects.map(({ key }) => key);
  const inUse = await findKeysInUse(db, keys);
  const unknown = keys.filter((key) => !inUse.has(key));
  const counts = { unknown: unknown.length, described: keys.length };
  if (areTooManyUnknown({ ...counts, percentMax })) {
    const share = `${unknown.length} of ${keys.length} stored objects`;
    events.finding('unknown_objects', '', `${share} have no row; none of them is deleted`);
    return 0;
  }
  for (const key of unknown) await storage.remove(key);
  return unknown.length;
}

async function* listAll(storage: Storage): AsyncGenerator<StoredObject> {
  for (const prefix of prefixes) yield* storage.list(prefix);
}
