// Creates files for tests: a row, and its bytes in the storage.

import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Knex } from 'knex';
import type { Storage } from '../../src/files/storage/storage';
import type { TestApi } from './api';

export interface Planted {
  readonly id: string;
  readonly key: string;
  readonly token: string;
  readonly sha256: string;
}

export async function plantFile(
  { db, storage, accountId }: Pick<TestApi, 'db' | 'storage' | 'accountId'>,
  bytes: Buffer,
  columns: Readonly<Record<string, unknown>> = {},
): Promise<Planted> {
  const id = `file_${randomBytes(13).toString('hex')}`;
  const key = String(columns.key ?? `uploads/${accountId}/${id}`);
  const token = randomBytes(24).toString('base64url');
  const sha256 = createHash('sha256').update(bytes).digest();
  const contentType = 'video/mp4';
  await storage.write(key, Readable.from([bytes]), { contentType, length: bytes.length });
  await db('files').insert({
    id,
    account_id: accountId,
    role: 'upload',
    state: 'stored',
    key,
    link_token: token,
    media: 'video',
    content_type: contentType,
    length: bytes.length,
    sha256,
    expires_at: db.raw(`now() + interval '30 days'`),
    ...columns,
  });
  return { id, key, token, sha256: sha256.toString('hex') };
}

/** Lets the time limit of all uploads in progress expire. */
export async function expireUploads(db: Knex): Promise<void> {
  await db('files')
    .where({ role: 'upload', state: 'awaited' })
    .update({ expires_at: db.raw(`now() - interval '1 second'`) });
}

/** The length of an object; null if there is no such object. */
export async function lengthOf(storage: Storage, key: string): Promise<number | null> {
  const bytes = await storage.read(key);
  return bytes && (await buffer(bytes)).length;
}

/** The beginning of a file of each accepted type, long enough to be recognised. */
export const beginnings: Readonly<Record<string, Buffer>> = {
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600', 'hex'),
  'image/png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  'image/gif': Buffer.from('GIF89a\x01\x00'),
  'image/webp': Buffer.from('RIFF\x24\x00\x00\x00WEBPVP8 '),
  'image/bmp': Buffer.from('BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00', 'latin1'),
  'image/tiff': Buffer.from('II*\0\x08\0\0\0', 'latin1'),
  'image/heic': Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
  'video/mp4': Buffer.from('\0\0\0\x14ftypisom\0\0\x02\0isom', 'latin1'),
  'video/quicktime': Buffer.from('\0\0\0\x14ftypqt  \0\0\x02\0qt  ', 'latin1'),
  'audio/wav': Buffer.from('RIFF\x24\x00\x00\x00WAVEfmt '),
  'audio/mpeg': Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'),
};

/** A box of an MP4 file. */
export function box(name: string, ...content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0));
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, ...content]);
}

/**
 * An MP4 file of this length. Its index is at the end, because cameras write files in this order.
 */
export function mp4(seconds: number, bytesOfMedia = 1_000): Buffer {
  const movieHead = Buffer.alloc(100);
  movieHead.writeUInt32BE(600, 12);
  movieHead.writeUInt32BE(Math.round(seconds * 600), 16);
  return Buffer.concat([
    beginnings['video/mp4'] as Buffer,
    box('mdat', Buffer.alloc(bytesOfMedia)),
    box('moov', box('mvhd', movieHead), box('trak', box('free', Buffer.alloc(42)))),
  ]);
}
