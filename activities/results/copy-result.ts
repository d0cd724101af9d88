// Copies one result from its provider into the storage. The bytes are streamed, and nothing is kept of
// a copy that fails: the next one begins anew (docs/decisions.md, 87).

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { markStored, type ResultRow } from '../../src/db/files/results';
import { headBytes, mediaTypeOf } from '../../src/domain/media-type';
import { type DownloadOptions, openDownload } from '../../src/outbound/download';
import { GuardedFailure } from '../../src/outbound/guarded-request';
import { type Storage, StorageError } from '../../src/storage/storage';

export interface CopyDeps {
  readonly db: Knex;
  readonly storage: Storage;
  /** Hosts inside the network that providers may hand out. */
  readonly allowHosts: readonly string[];
  /** Tests set shorter times. */
  readonly limits?: DownloadOptions['limits'];
}

/** Why a copy failed, for operators; without an address. */
export class CopyFailure extends Error {
  override readonly name = 'CopyFailure';
}

// Far above any video that the generators make: the storage is not filled by a broken server.
const bytesMax = 4 * 1024 ** 3;

/** Returns the number of bytes. */
export async function copyResult(
  deps: CopyDeps,
  row: ResultRow,
  signal: AbortSignal,
): Promise<number> {
  try {
    return await copy(deps, row, signal);
  } catch (error) {
    throw failureOf(error);
  }
}

async function copy(deps: CopyDeps, row: ResultRow, signal: AbortSignal): Promise<number> {
  const { storage, db, allowHosts, limits } = deps;
  const options = { allowHosts, signal, ...(limits ? { limits } : {}) };
  const { status, headers, body } = await openDownload(row.sourceUrl, options);
  try {
    if (status !== 200) throw new CopyFailure(`The provider answered ${status}.`);
    const length = lengthIn(headers['content-length']);
    const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const head = await readHead(chunks);
    const type = mediaTypeOf(head);
    // What the provider's header says is not trusted: an error page with the status 200 is no video.
    if (type?.media !== row.media) throw new CopyFailure(`The provider sent no ${row.media}.`);
    const { contentType } = type;
    const digest = createHash('sha256');
    const counted = { bytes: 0 };
    const bytes = Readable.from(passOn(head, chunks, digest, counted), { objectMode: false });
    await storage.write(row.key, bytes, { contentType, length, signal });
    const known = { contentType, length: counted.bytes, sha256: digest.digest() };
    const isKept = await markStored(db, row.id, known);
    if (!isKept) await storage.remove(row.key);
    return counted.bytes;
  } finally {
    body.destroy();
  }
}

function lengthIn(header: string | undefined): number | null {
  if (header === undefined) return null;
  const length = Number(header);
  if (length > bytesMax) throw new CopyFailure(`The file has ${length} bytes.`);
  return length;
}

/** The first bytes, enough to tell the type. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < headBytes) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

async function* passOn(
  head: Buffer,
  chunks: AsyncIterator<Buffer>,
  digest: ReturnType<typeof createHash>,
  counted: { bytes: number },
): AsyncGenerator<Buffer> {
  let chunk = head;
  for (;;) {
    counted.bytes += chunk.length;
    if (counted.bytes > bytesMax) throw new CopyFailure('The file is too large.');
    digest.update(chunk);
    yield chunk;
    const next = await chunks.next();
    if (next.done) return;
    chunk = next.value;
  }
}

function failureOf(error: unknown): unknown {
  if (error instanceof StorageError) {
    return new CopyFailure(`The storage: ${error.fault}.`, { cause: error });
  }
  if (error instanceof GuardedFailure) {
    return new CopyFailure(`The provider: ${error.message}`, { cause: error });
  }
  return error;
}
