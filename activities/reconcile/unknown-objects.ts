// Deletes objects in the storage that belong to no file. For such an object, either the file was
// removed but its bytes were not deleted, or the database was restored from an older state. Each
// run checks a slice of the storage. After the last slice, or after an error, the next run starts
// at the beginning. As a precaution, an object without a row is kept for a day. If many objects
// have no row, the storage is probably used by another database too. Then no object without a row
// is deleted.

import { findRowsOfKeys } from '../../src/db/files/retention';
import { areTooManyUnknown } from '../../src/domain/unknown-tasks';
import { type Storage, StorageError, type StoredObject } from '../../src/storage/storage';
import type { ActivityEvents } from '../events';
import type { ExpiryDeps } from './expired-files';

export interface ObjectDeps extends ExpiryDeps {
  readonly events: ActivityEvents;
  /**
   * A percentage. If a larger part of the objects of a slice has no row, none of these objects is
   * deleted.
   */
  readonly unknownPercentMax: number;
}

const prefixes = ['results/', 'uploads/'];
const sliceSize = 500;
const youngMs = 24 * 3_600_000;

/** Checks the next slice, and returns the number of deleted objects. */
export type RemoveUnknown = (now?: number, size?: number) => Promise<number>;

/**
 * The position in the storage is kept only in the memory of this process. A new process begins with
 * the first slice.
 */
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
      return await removeUnknown(deps, slice, now);
    } catch (error) {
      await listing.return(undefined);
      listing = listAll(storage);
      if (error instanceof StorageError) return 0;
      throw error; // Untested: the database is unavailable; the next run starts over.
    }
  };
}

async function removeUnknown(
  deps: ObjectDeps,
  objects: readonly StoredObject[],
  now: number,
): Promise<number> {
  const keys = objects.map(({ key }) => key);
  const rows = await findRowsOfKeys(deps.db, keys);
  const old = objects.filter(({ modifiedAt }) => now - modifiedAt.getTime() > youngMs);
  const unknown = old.map(({ key }) => key).filter((key) => !rows.has(key));
  const gone = [
    ...keys.filter((key) => rows.get(key) === 'removed'),
    ...(areTooMany(deps, unknown.length, old.length) ? [] : unknown),
  ];
  for (const key of gone) await deps.storage.remove(key);
  return gone.length;
}

function areTooMany(
  { events, unknownPercentMax: percentMax }: ObjectDeps,
  unknown: number,
  described: number,
): boolean {
  const areMany = areTooManyUnknown({ unknown, described, percentMax });
  if (areMany) {
    const share = `${unknown} of ${described} stored objects`;
    events.finding('unknown_objects', '', `${share} have no row; none of them is deleted`);
  }
  return areMany;
}

async function* listAll(storage: Storage): AsyncGenerator<StoredObject> {
  for (const prefix of prefixes) yield* storage.list(prefix);
}
