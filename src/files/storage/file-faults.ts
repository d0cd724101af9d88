// Translates errors of the file system to faults of the storage.

import type { FileHandle } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { type ByteRange, StorageError, type StorageFault } from './storage';

const faults: Readonly<Record<string, StorageFault>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOENT: 'no bucket',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

// The errors of a broken disk, of a shared volume whose server does not answer, and of a process
// that has too many open files.
const away = [
  ...['EIO', 'EREMOTEIO', 'ENXIO', 'ENODEV', 'EUCLEAN', 'ESTALE', 'ESHUTDOWN', 'ENOLINK'],
  ...['ETIMEDOUT', 'ENOTCONN', 'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE'],
  ...['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH', 'EAGAIN', 'EBUSY', 'ENOLCK'],
  ...['EMFILE', 'ENFILE', 'ENOMEM'],
];

/** Returns the error as a StorageError, or unchanged if its code is not in the lists. */
export function faultOfFile(error: unknown): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const fault = away.includes(code) ? 'away' : faults[code];
  return fault ? new StorageError(fault, message, { cause: error }) : error;
}

/** Throws what `faultOfFile` returns. */
export function failAsStorage(error: unknown): never {
  throw faultOfFile(error);
}

/** The bytes of the file, which is closed at their end. An error of the disk is a StorageError. */
export function bytesOf(file: FileHandle, range?: ByteRange): Readable {
  const read = file.createReadStream(range ? { start: range.first, end: range.last } : {});
  const bytes = new PassThrough();
  // The first bytes are read at once. Without a listener, their error would end the process.
  bytes.on('error', () => undefined);
  read.once('error', (error) => bytes.destroy(faultOfFile(error) as Error));
  bytes.once('close', () => read.destroy());
  return read.pipe(bytes);
}
