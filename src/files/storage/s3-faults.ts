// Finds the kind of a fault of an S3-compatible service, from its answer or from a connection
// error.

import { StorageError, type StorageFault } from './storage';

/** The source of the bytes failed, not the service. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
}

// Maps the error codes of S3 and of compatible services to kinds of faults.
const faults: Readonly<Record<string, StorageFault>> = {
  NoSuchBucket: 'no bucket',
  IncompleteBody: 'wrong length',
  InsufficientStorage: 'full',
  QuotaExceeded: 'full',
  XMinioStorageFull: 'full',
  XMinioAdminBucketQuotaExceeded: 'full',
  RequestTimeout: 'away',
  SlowDown: 'away',
};

export function faultOfReply(status: number, body: string): StorageError {
  const code = codeIn(body);
  const fault = faults[code] ?? faultOfStatus(status);
  const sentence = /<Message>([^<]{1,300})/.exec(body)?.[1] ?? '';
  return new StorageError(fault, `S3 answered ${status} ${code} ${sentence}`.trim());
}

export function codeIn(body: string): string {
  return /<Code>(\w{1,100})</.exec(body)?.[1] ?? '';
}

/** The kind of the fault if the answer contains no error code of the list above. */
function faultOfStatus(status: number): StorageFault {
  if (status === 507) return 'full';
  return status >= 500 || status === 408 || status === 429 ? 'away' : 'denied';
}

export function faultOfConnection(error: unknown): unknown {
  const { name, code, message } = error as NodeJS.ErrnoException;
  const isOther = error instanceof StorageError || error instanceof SourceFailure;
  if (isOther || name === 'AbortError') return error;
  return new StorageError('away', `S3 cannot be reached (${code ?? message}).`, { cause: error });
}
