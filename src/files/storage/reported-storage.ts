// Wraps a storage and reports its faults, for metrics and logs. Every error is still thrown.

import { type Storage, StorageError } from './storage';

export function reportedStorage(storage: Storage, report: (error: StorageError) => void): Storage {
  const failed = (error: unknown): never => {
    if (error instanceof StorageError) report(error);
    throw error;
  };
  return {
    write: (...call) => storage.write(...call).catch(failed),
    async read(...call) {
      const bytes = await storage.read(...call).catch(failed);
      bytes?.once('error', (error) => {
        if (error instanceof StorageError) report(error);
      });
      return bytes;
    },
    remove: (...call) => storage.remove(...call).catch(failed),
    presigned: (...call) => storage.presigned(...call).catch(failed),
    async *list(prefix) {
      try {
        yield* storage.list(prefix);
      } catch (error) {
        failed(error);
      }
    },
  };
}
