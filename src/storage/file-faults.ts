// Translates errors of the file system to faults of the storage.

import { StorageError, type StorageFault } from './storage';

const faults: Readonly<Record<string, StorageFault>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOENT: 'no bucket',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

/** Throws the error as a StorageError, or unchanged if its code is not in the list. */
export function failAsStorage(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  const fault = faults[code ?? ''];
  throw fault ? new StorageError(fault, message, { cause: error }) : error;
}
