// Copies one result from its provider into the storage. The bytes are streamed. No part of a failed
// copy is kept, so the next copy starts with the first byte (docs/decisions.md, 87).

import type { Size } from '../../src/catalogue/catalogue.rules';
import { mediaTypeOf } from '../../src/files/media-type.rules';
import { markStored, type ResultRow } from '../../src/files/results.rows';
import { readIncoming } from '../../src/files/storage/incoming-bytes';
import { StorageError } from '../../src/files/storage/storage';
import { createVideoHead } from '../../src/files/video-head.rules';
import { hostPortOf } from '../../src/outbound/address.rules';
import { openDownload } from '../../src/outbound/download';
import { GuardedFailure } from '../../src/outbound/guarded-request';
import type { WorkerDeps } from '../deps';

type Copying = Pick<WorkerDeps, 'db' | 'storage'> & {
  readonly settings: Pick<
    WorkerDeps['settings'],
    'dangerouslyAllowProviderHosts' | 'filesKeptDays'
  >;
};

/** Thrown if a copy failed. The message tells operators the reason, and contains no URL. */
export class CopyFailure extends Error {
  override readonly name = 'CopyFailure';
  /** True if the provider refused the link, so that another link may work. */
  readonly isLinkRefused: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isLinkRefused?: boolean } = {}) {
    super(message, options);
    this.isLinkRefused = options.isLinkRefused === true;
  }
}

// This limit is far above the size of any generated video. A faulty server cannot fill the storage.
const bytesMax = 4 * 1024 ** 3;

type Headers = Readonly<Record<string, string>> | null;

interface Copied {
  /** The time until which the file is kept, in seconds. */
  readonly expiresAt: number;
  readonly bytes: number;
  /** The size of a video in pixels; null if the file does not contain the size. */
  readonly size: Size | null;
  /** The length of a video; null if the file does not contain the length. */
  readonly durationMs: number | null;
}

/**
 * `ownHeaders` is set if the provider wants these headers at its own address. Like the channel, this
 * address may then be inside the network.
 */
export async function copyResult(
  deps: Copying,
  row: ResultRow,
  signal: AbortSignal,
  ownHeaders: Headers = null,
): Promise<Copied> {
  try {
    return await copy(deps, row, signal, ownHeaders);
  } catch (error) {
    throw failureOf(error);
  }
}

async function copy(
  deps: Copying,
  row: ResultRow,
  signal: AbortSignal,
  ownHeaders: Headers,
): Promise<Copied> {
  const { storage, db, settings } = deps;
  const { dangerouslyAllowProviderHosts } = settings;
  const options = {
    allowHosts: ownHeaders
      ? [...dangerouslyAllowProviderHosts, hostPortOf(new URL(row.sourceUrl))]
      : dangerouslyAllowProviderHosts,
    signal,
    ...(ownHeaders ? { headers: ownHeaders } : {}),
  };
  const { status, headers, body } = await openDownload(row.sourceUrl, options);
  try {
    if (status !== 200) {
      const isLinkRefused = [400, 401, 403, 404, 410].includes(status);
      throw new CopyFailure(`The provider answered ${status}.`, { isLinkRefused });
    }
    const length = lengthIn(headers['content-length']);
    const incoming = await readIncoming(body);
    const type = mediaTypeOf(incoming.head);
    // The type is read from the bytes and not from the provider's header, because a provider may
    // send an error page with status 200.
    if (type?.media !== row.media) throw new CopyFailure(`The provider sent no ${row.media}.`);
    const { contentType } = type;
    const video = row.media === 'video' ? createVideoHead() : null;
    const take = (chunk: Buffer, received: number) => {
      // Untested: a test would need 4 GiB. Another test covers a Content-Length that is too large.
      if (received > bytesMax) throw new CopyFailure('The file is too large.');
      video?.read(chunk);
    };
    // Without a length, nothing else shows that the connection was closed too early. The write must
    // fail then, because another attempt may have stored the whole video.
    const end = () => {
      if (length === null && video?.isCut()) throw new CopyFailure('The video is not complete.');
    };
    const bytes = incoming.stream(take, end);
    await storage.write(row.key, bytes, { contentType, length, signal });
    const found = incoming.found();
    const size = video?.size() ?? null;
    const durationMs = video?.milliseconds() ?? null;
    const bytesOf = { contentType, ...found, size, durationMs };
    const expiresAt = await markStored(db, row.id, bytesOf, settings.filesKeptDays);
    if (expiresAt === null) {
      await storage.remove(row.key);
      throw new CopyFailure('The result was removed meanwhile.');
    }
    return { bytes: found.length, size, durationMs, expiresAt };
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

function failureOf(error: unknown): unknown {
  if (error instanceof StorageError) {
    return new CopyFailure(`The storage: ${error.fault}.`, { cause: error });
  }
  if (error instanceof GuardedFailure) {
    return new CopyFailure(`The provider: ${error.message}`, { cause: error });
  }
  return error;
}
