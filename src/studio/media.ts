/*
 * Media that came with an order: fetched from public addresses only, within a size and a time, or
 * sent inline and kept as a file beside the journal. What the studio made itself is read from its
 * own disk, without a call, and is the only thing an old decoder ever gets to see (docs/studio.md).
 */

import { createHash } from 'node:crypto';
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AddressRefused, guardedCall } from './address-guard';
import type { GenerationOrder } from './jobs';

type MediaKind = 'image' | 'video' | 'audio';

/** A job fails with this when its media are at fault; the message is for the caller. */
export class MediaFault extends Error {}

export interface MediaFile {
  path: string;
  /** Made by this studio, so any decoder may open it. */
  isOurs: boolean;
}

export type MediaStore = ReturnType<typeof createMediaStore>;

interface Parts {
  dataDir: string;
  allowHosts: readonly string[];
  /** The file behind one of the studio's own addresses, if it is one. */
  ownFile(url: string): Promise<string | undefined>;
}

interface Download {
  url: string;
  kind: MediaKind;
  /** What a sentence about its faults begins with. */
  label: string;
  path: string;
  bytesMax: number;
  allowHosts: readonly string[];
}

const BYTES_MAX: Record<MediaKind, number> = {
  image: 30_000_000,
  video: 50_000_000,
  audio: 15_000_000,
};

/** A slow sender must not hold a rendering for ever. */
const FETCH_MS = 60_000;
const REDIRECTS_MAX = 3;
const EIGHT_DAYS_MS = 8 * 86_400_000;

export function createMediaStore({ dataDir, allowHosts, ownFile }: Parts) {
  const inputs = join(dataDir, 'inputs');
  mkdirSync(inputs, { recursive: true });
  sweep(inputs);

  /** Moves inline media out of the order, so that the journal stays small. */
  function keepInline(order: GenerationOrder): GenerationOrder {
    const images = order.images.map((image) => ({ ...image, url: keep(image.url) }));
    return { ...order, images, audios: order.audios.map(keep) };
  }

  function keep(url: string): string {
    const match = /^data:[^,]*;base64,/.exec(url);
    if (!match) return url;
    const bytes = Buffer.from(url.slice(match[0].length), 'base64');
    const name = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(inputs, name), bytes);
    return `input:${name}`;
  }

  /** Brings one medium into `folder`, or says in a sentence why it cannot be had. */
  async function fetch(
    url: string,
    kind: MediaKind,
    folder: string,
    bytesMax = BYTES_MAX[kind],
  ): Promise<MediaFile> {
    if (url.startsWith('input:')) {
      return { path: join(inputs, url.slice('input:'.length)), isOurs: false };
    }
    const label = `The ${kind} ${shorten(url)}`;
    const own = await ownFile(url).catch(() => {
      throw new MediaFault(`${label} does not exist or is no longer valid.`);
    });
    if (own !== undefined) return { path: own, isOurs: true };
    const name = createHash('sha256').update(url).digest('hex').slice(0, 24);
    const path = join(folder, `${kind}-${name}`);
    try {
      await download({ url, kind, label, path, bytesMax, allowHosts });
    } catch (error) {
      if (error instanceof MediaFault) throw error;
      const why = error instanceof AddressRefused ? 'address not allowed' : reason(error);
      throw new MediaFault(`${label} could not be fetched: ${why}.`);
    }
    return { path, isOurs: false };
  }

  return { keepInline, fetch };
}

async function download(order: Download): Promise<void> {
  const { kind, label, path, bytesMax } = order;
  const reply = await follow(order);
  try {
    checkReply(reply, kind, label);
    await pipeline(reply, limit(bytesMax, label), createWriteStream(path));
  } finally {
    reply.destroy();
  }
}

/** Every hop is judged like the first: a public address may point inside. */
async function follow({ url, label, allowHosts }: Download): Promise<IncomingMessage> {
  let target = url;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const reply = await guardedCall({ url: target, allowHosts, timeoutMs: FETCH_MS });
    const { statusCode = 0, headers } = reply;
    const isMoved = statusCode >= 300 && statusCode < 400;
    if (!isMoved || !headers.location || !URL.canParse(headers.location, target)) return reply;
    reply.destroy();
    target = new URL(headers.location, target).href;
  }
  throw new MediaFault(`${label} redirects too often.`);
}

function checkReply(reply: IncomingMessage, kind: MediaKind, label: string): void {
  const status = reply.statusCode ?? 0;
  const type = reply.headers['content-type'] ?? '';
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

/** Signed addresses are secrets: the query never appears in a message. */
function shorten(url: string): string {
  const plain = url.split(/[?#]/)[0]!;
  return plain.length > 100 ? `${plain.slice(0, 97)}…` : plain;
}

function reason(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') throw error;
  if (name === 'TimeoutError' || name === 'AbortError') return 'it took too long';
  return code ?? 'the connection failed';
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < Date.now() - EIGHT_DAYS_MS) rmSync(path, { force: true });
  }
}
