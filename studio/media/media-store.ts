/*
 * Provides the input media of a job. Media are fetched from public addresses, with limits on size
 * and time. Inline media are kept as files beside the journal. Media that this studio made are read
 * from disk.
 */

import { createHash } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openDownload, type Download as Reply } from '../../src/outbound/download';
import { GuardedFailure } from '../../src/outbound/guarded-request';
import type { GenerationRequest } from '../jobs/job';

type MediaKind = 'image' | 'video' | 'audio';

/** An error in the input media, which fails the job. The caller sees the message. */
export class MediaFault extends Error {}

export interface MediaFile {
  path: string;
  /**
   * True if this studio made the file. Even an old ffmpeg may open this file, because its content
   * is known to be harmless.
   */
  isFromStudio: boolean;
}

export type MediaStore = ReturnType<typeof createMediaStore>;

interface Parts {
  dataDir: string;
  allowHosts: readonly string[];
  /**
   * If `url` belongs to this studio, returns the path of the file on disk. Otherwise returns
   * undefined.
   */
  ownFile(url: string): Promise<string | undefined>;
}

interface Download {
  url: string;
  kind: MediaKind;
  /** The name of the file in error messages. */
  label: string;
  path: string;
  bytesMax: number;
  allowHosts: readonly string[];
  /** Ends the download together with its rendering. */
  signal: AbortSignal;
}

const BYTES_MAX: Record<MediaKind, number> = {
  image: 30_000_000,
  video: 50_000_000,
  audio: 15_000_000,
};

/** The time limit of a download, so that a slow server cannot block a rendering. */
const FETCH_MS = 60_000;
/** The time limit of a check, so that a create is answered in time. */
const CHECK_MS = 5_000;
const EIGHT_DAYS_MS = 8 * 86_400_000;
const CLEAN_MS = 3_600_000;

export function createMediaStore({ dataDir, allowHosts, ownFile }: Parts) {
  const inputs = join(dataDir, 'inputs');
  mkdirSync(inputs, { recursive: true });
  deleteOldFiles(inputs);
  const cleaning = setInterval(() => deleteOldFiles(inputs), CLEAN_MS).unref();

  /** Moves inline media into files, so that the journal stays small. */
  function keepInline(request: GenerationRequest): GenerationRequest {
    const images = request.images.map((image) => ({ ...image, url: keep(image.url) }));
    return { ...request, images, audios: request.audios.map(keep) };
  }

  function keep(url: string): string {
    const match = /^data:[^,]*;base64,/.exec(url);
    if (!match) return url;
    const bytes = Buffer.from(url.slice(match[0].length), 'base64');
    const name = createHash('sha256').update(bytes).digest('hex');
    const path = join(inputs, name);
    // Another job may be reading the file, so it is never written again. It is deleted by its age.
    if (existsSync(path)) utimesSync(path, new Date(), new Date());
    else {
      writeFileSync(`${path}.draft`, bytes);
      renameSync(`${path}.draft`, path);
    }
    return `input:${name}`;
  }

  /**
   * Returns one file of the input media. If the file has to be downloaded, it is stored in
   * `workFolder`. Throws a MediaFault with the reason if the file cannot be provided.
   */
  async function fetch(
    url: string,
    kind: MediaKind,
    { workFolder, signal }: { workFolder: string; signal: AbortSignal },
    bytesMax = BYTES_MAX[kind],
  ): Promise<MediaFile> {
    if (url.startsWith('input:')) {
      return { path: join(inputs, url.slice('input:'.length)), isFromStudio: false };
    }
    const label = `The ${kind} ${shorten(url)}`;
    const own = await ownFile(url).catch(() => {
      throw new MediaFault(`${label} does not exist or is no longer valid.`);
    });
    if (own !== undefined) return { path: own, isFromStudio: true };
    const name = createHash('sha256').update(url).digest('hex').slice(0, 24);
    const path = join(workFolder, `${kind}-${name}`);
    try {
      await download({ url, kind, label, path, bytesMax, allowHosts, signal });
    } catch (error) {
      throw mediaFault(label, error);
    }
    return { path, isFromStudio: false };
  }

  /** Throws a MediaFault if a file of somebody else cannot be fetched. */
  async function check(url: string, kind: MediaKind): Promise<void> {
    const own = await ownFile(url).catch(() => url);
    if (own === undefined && /^https?:/i.test(url)) await tryDownload(url, kind, allowHosts);
  }

  return { keepInline, fetch, check, close: () => clearInterval(cleaning) };
}

async function tryDownload(
  url: string,
  kind: MediaKind,
  allowHosts: readonly string[],
): Promise<void> {
  const label = `The ${kind} ${shorten(url)}`;
  const signal = AbortSignal.timeout(CHECK_MS);
  try {
    const reply = await openDownload(url, { allowHosts, schemes: ['https', 'http'], signal });
    reply.body.destroy();
    checkReply(reply, kind, label);
  } catch (error) {
    throw mediaFault(label, error);
  }
}

function mediaFault(label: string, error: unknown): MediaFault {
  if (error instanceof MediaFault) return error;
  return new MediaFault(`${label} could not be fetched: ${reason(error)}`);
}

async function download({ url, kind, label, path, bytesMax, ...access }: Download): Promise<void> {
  const reply = await openDownload(url, {
    allowHosts: access.allowHosts,
    schemes: ['https', 'http'],
    signal: AbortSignal.any([access.signal, AbortSignal.timeout(FETCH_MS)]),
  });
  try {
    checkReply(reply, kind, label);
    await pipeline(reply.body, limit(bytesMax, label), createWriteStream(path));
  } finally {
    reply.body.destroy();
  }
}

function checkReply({ status, headers }: Reply, kind: MediaKind, label: string): void {
  const type = headers['content-type'] ?? '';
  if (status !== 200) {
    throw new MediaFault(`${label} could not be fetched: HTTP ${status}.`);
  }
  const isGeneric = type === '' || /^(application|binary)\/octet-stream/.test(type);
  if (!isGeneric && !type.startsWith(`${kind}/`)) {
    const was = type.split(';')[0];
    throw new MediaFault(`${label} is of type ${was}, not ${kind}/….`);
  }
}

function limit(bytesMax: number, label: string): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      const megabytes = bytesMax / 1_000_000;
      const tooLarge = `${label} is larger than ${megabytes} MB.`;
      if (size > bytesMax) done(new MediaFault(tooLarge));
      else done(null, chunk);
    },
  });
}

/** Drops the query, because the query of a signed URL is a secret. */
function shorten(url: string): string {
  const plain = url.split(/[?#]/)[0]!;
  return plain.length > 100 ? `${plain.slice(0, 97)}…` : plain;
}

function reason(error: unknown): string {
  if (error instanceof GuardedFailure) return error.message;
  const { name, code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') throw error;
  return name === 'TimeoutError' ? 'It took too long.' : `The connection failed (${code}).`;
}

function deleteOldFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < Date.now() - EIGHT_DAYS_MS) rmSync(path, { force: true });
  }
}
