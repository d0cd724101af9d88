// Wraps a storage. The wrapped storage refuses every write while `isAway` is true, and finishes none
// while `isSlow` is true.

import { type Storage, StorageError } from '../../src/files/storage/storage';
import { until } from '../support/until';

export function failingStorage() {
  const failing = {
    isAway: false,
    isSlow: false,
    around: (storage: Storage): Storage => ({
      ...storage,
      async write(...write) {
        if (failing.isAway) throw new StorageError('away', 'The storage is away.');
        await until('the storage is fast again', () => !failing.isSlow, 240_000);
        return storage.write(...write);
      },
    }),
  };
  return failing;
}
