// Stores an uploaded file: its type is read from its first bytes, its row reserves the place, and the
// bytes are streamed into the storage while they are counted and hashed. An upload that fails leaves
// neither a row nor bytes; if this process dies, the reconciler removes both.

import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FileRow } from '../../../db/files/links';
import { beginUpload, dropUpload, finishUpload, type Uploaded } from '../../../db/files/uploads';
import { createFilmLength } from '../../../domain/film-length';
import {
  acceptedTypes,
  headBytes,
  type MediaType,
  mediaBytesMax,
  mediaTypeOf,
} from '../../../domain/media-type';
import { type KeyedCall, Refused } from '../../context';
import { newFileId } from '../../create/task-id';
import type { ApiDeps, ApiSettings } from '../../deps';
import { unavailable } from '../../errors';
import { type SentFile, tooLarge } from './read-upload';

export async function storeUpload(deps: ApiDeps, ctx: KeyedCall, sent: SentFile): Promise<FileRow> {
  const chunks = sent.bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const head = await readHead(chunks);
  const type = mediaTypeOf(head);
  if (!type) throw new Refused(unknownType(head), { connection: 'close' });
  const bytesMax = mediaBytesMax[type.media];
  const declared = sent.declaredBytes;
  const { accountId } = ctx.state.caller;
  const id = newFileId(deps.now());
  const key = `uploads/${accountId}/${id}`;
  const full = await beginUpload(
    deps.db,
    {
      id,
      accountId,
      key,
      linkToken: randomBytes(24).toString('base64url'),
      name: sent.name,
      media: type.media,
      contentType: type.contentType,
      reservedBytes: Math.min(declared ?? bytesMax, bytesMax),
      keptDays: deps.settings.filesKeptDays,
    },
    { filesMax: deps.settings.uploadsMax, bytesMax: deps.settings.uploadedBytesMax },
  );
  if (full) throw new Refused(limitReached(full, deps.settings), { connection: 'close' });
  try {
    const measured = measuring(type);
    const bytes = Readable.from(measured.pass(head, chunks), { objectMode: false });
    await deps.storage.write(key, bytes, { contentType: type.contentType, length: null });
    await sent.complete;
    const stored = await finishUpload(deps.db, id, measured.found());
    if (stored) return stored;
    throw new Refused(unavailable, { 'retry-after': '2' });
  } catch (error) {
    sent.bytes.destroy();
    await deps.storage.remove(key);
    await dropUpload(deps.db, id);
    throw error;
  }
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < headBytes) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

function measuring({ media, contentType }: MediaType) {
  const bytesMax = mediaBytesMax[media];
  const digest = createHash('sha256');
  const film = media === 'video' ? createFilmLength() : null;
  let length = 0;
  const take = (chunk: Buffer): Buffer => {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax, length, `A file of type ${contentType}`);
    digest.update(chunk);
    film?.read(chunk);
    return chunk;
  };
  return {
    async *pass(head: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
      yield take(head);
      for (;;) {
        const { value, done } = await chunks.next();
        if (done) return;
        yield take(value);
      }
    },
    found: () => ({ length, sha256: digest.digest(), durationMs: film?.milliseconds() ?? null }),
  };
}

function unknownType(head: Buffer) {
  if (head.length === 0) {
    const message = 'The body must be a file, or a multipart form with one file; it is empty.';
    return { code: 'invalid_value', param: '', message } as const;
  }
  const message = `The content of the file is of no accepted type. Accepted are ${acceptedTypes}.`;
  return { code: 'unsupported_media_type', param: '', message } as const;
}

function limitReached(
  { files, bytes }: Uploaded,
  { uploadsMax, uploadedBytesMax }: Pick<ApiSettings, 'uploadsMax' | 'uploadedBytesMax'>,
) {
  const has =
    files >= uploadsMax
      ? `${files} uploaded files, which is the limit`
      : `${bytes} uploaded bytes, and with this file it would have more than its limit of ${uploadedBytesMax}`;
  const message = `This account has ${has}. Delete files that are not needed any more.`;
  return { code: 'upload_limit_reached', param: '', message } as const;
}
