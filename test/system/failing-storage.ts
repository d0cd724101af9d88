// Wraps a storage. The wrapped storage refuses every write while `isAway` is true.

import { type Storage, StorageError } from '../../src/files/storage/storage';

export function failingStorage() {
  const failing = {
    isAway: false,
    around: (storage: Storage): Storage => ({
      ...storage,
      write: (...write) =>
        failing.isAway
          ? Promise.reject(new StorageError('away', 'The storage is away.'))
          : storage.write(...write),
    }),
  };
  return failing;
}
