// Objects in the storage that no file has: of a removed file whose bytes were not deleted, or of a
// database that was restored. Each run looks at a slice of the storage; after the last slice, or an
// error, the next run starts at the beginning. Objects without a row are left alone for a day, because
// their rows may not be stored yet. If many have none, the storage probably belongs to another database
// too, and none of them is deleted.

import { findRowsOfKeys } from '../../src/db/files/retention';
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
      return await removeUnknown(deps, slice, now);
    } catch (error) {
      await listing.return(undefined);
      listing = listAll(storage);
      if (error instanceof StorageError) return 0;
      throw error; // Untested: the database goes away in the middle of a run; the next run starts over.
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
