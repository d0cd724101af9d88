// The interface of the storage for files: results of tasks, and uploads of customers. There are two
// implementations: a directory (directory.ts) and any S3-compatible service (s3.ts). The storage
// maps keys to bytes. All other data of a file is in the database (src/files).

import type { Readable } from 'node:stream';

export interface Storage {
  /**
   * Stores the bytes under the key. The bytes are streamed and are never all in memory. A failed
   * write changes nothing: the previous object stays, and no part of the new object is stored.
   */
  write(key: string, bytes: Readable, options: WriteOptions): Promise<void>;
  /** The bytes of an object, or a range of them; null if there is no such object. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** Deletes the object. Does nothing if there is no such object. */
  remove(key: string): Promise<void>;
  /** The objects whose keys begin with the prefix. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Returns a temporary link that needs no credentials; null if the storage has no such links. */
  presigned(key: string, options: PresignOptions): Promise<string | null>;
}

export interface WriteOptions {
  readonly contentType: string;
  /**
   * The number of bytes. A write with another number of bytes fails. Null: the number is unknown
   * and is not checked.
   */
  readonly length: number | null;
  readonly signal?: AbortSignal;
}

/** First and last byte, both included, as in a `Range` header. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface StoredObject {
  readonly key: string;
  readonly length: number;
  readonly modifiedAt: Date;
}

interface PresignOptions {
  readonly seconds: number;
  /** The time from which the seconds count; now by default. The same time gives the same link. */
  readonly from?: Date;
  readonly contentType: string;
}

/** The kinds of faults. The operator repairs each kind in a different way. */
export type StorageFault = 'away' | 'denied' | 'no bucket' | 'full' | 'wrong length';

export class StorageError extends Error {
  override readonly name = 'StorageError';

  constructor(
    readonly fault: StorageFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
