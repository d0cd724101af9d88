// The storage for the bytes of files: results of tasks, and uploads of customers. There are two
// implementations, a directory (directory.ts) and any S3-compatible service (s3.ts). The database
// lists the files (src/db/files); the storage knows bytes by key only.

import type { Readable } from 'node:stream';

export interface Storage {
  /**
   * Stores the bytes under the key. They are streamed and never whole in memory. An object is
   * replaced whole or stays as it was: a write that fails or dies leaves no part of it.
   */
  write(key: string, bytes: Readable, options: WriteOptions): Promise<void>;
  /** The bytes of an object, or a range of them; null if there is no such object. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** No error if there is no such object. */
  remove(key: string): Promise<void>;
  /** The objects whose keys begin with the prefix. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** A link that works without credentials for a while; null if the storage has no such links. */
  presigned(key: string, options: PresignOptions): Promise<string | null>;
}

export interface WriteOptions {
  readonly contentType: string;
  /** The length if it is known; a write of another length fails. */
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
  readonly contentType: string;
}

/** The kinds of faults. Each needs another repair by the operator. */
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
