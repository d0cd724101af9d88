// Stores an uploaded file. The first bytes show the type of the file. A row of the file then
// reserves space within the limits of the account. Then the bytes are counted, hashed and streamed
// into the storage. A refused upload leaves neither a row nor bytes. After a fault of the storage the
// row stays, because the storage may still finish the write; a worker then deletes the bytes.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { accountDisabled } from '../accounts/payment-refusals.rows';
import { newFileId } from '../database/ids';
import { type KeyedCall, Refused } from '../gateway/context';
import type { ApiSettings, KeyedDeps } from '../gateway/deps';
import { unavailable } from '../gateway/errors';
import type { FileRow } from './links.rows';
import { acceptedTypes, mediaBytesMax, mediaTypeOf } from './media-type.rules';
import { type SentFile, tooLarge } from './read-upload.http';
import { readIncoming } from './storage/incoming-bytes';
import { StorageError } from './storage/storage';
import { beginUpload, dropUpload, finishUpload, giveUpUpload, type Uploaded } from './uploads.rows';
import { createVideoHead } from './video-head.rules';

/** `oneMore` lets this upload exceed the limits of the account, if no other has exceeded them. */
export async function storeUpload(
  deps: KeyedDeps,
  ctx: KeyedCall,
  sent: SentFile,
  oneMore = false,
): Promise<FileRow> {
  const incoming = await readIncoming(sent.bytes);
  const { head } = incoming;
  const type = mediaTypeOf(head);
  if (!type) throw new Refused(unknownType(head), { connection: 'close' });
  const { contentType } = type;
  const bytesMax = mediaBytesMax[type.media];
  const declared = sent.declaredBytes;
  const { db, caller } = ctx.state;
  const { accountId } = caller;
  const id = newFileId(deps.now());
  const key = `uploads/${accountId}/${id}`;
  const { uploadsMax, uploadedBytesMax } = deps.settings;
  const reservedBytes = Math.min(declared ?? bytesMax, bytesMax);
  const full = await beginUpload(
    db,
    {
      id,
      accountId,
      key,
      linkToken: randomBytes(24).toString('base64url'),
      name: sent.name,
      media: type.media,
      contentType,
      reservedBytes,
    },
    {
      filesMax: uploadsMax + (oneMore ? 1 : 0),
      bytesMax: uploadedBytesMax + (oneMore ? reservedBytes : 0),
    },
  );
  if (full === 'disabled') throw new Refused(accountDisabled, { connection: 'close' });
  if (full) throw new Refused(limitReached(full, deps.settings), { connection: 'close' });
  const video = type.media === 'video' ? createVideoHead() : null;
  try {
    const bytes = incoming.stream((chunk, received) => {
      if (received > bytesMax) throw tooLarge(bytesMax, received, `A file of type ${contentType}`);
      video?.read(chunk);
    });
    await deps.storage.write(key, bytes, { contentType, length: null });
    await sent.complete;
  } catch (error) {
    sent.bytes.destroy();
    await (error instanceof StorageError
      ? giveUpUpload(db, id)
      : removeUnstored(db, deps, key, id));
    throw error;
  }
  const durationMs = video?.milliseconds() ?? null;
  // If `finishUpload` fails, the bytes are not deleted: the row may be stored although the answer
  // of the statement was lost.
  const known = { ...incoming.found(), durationMs };
  const stored = await finishUpload(db, id, known, deps.settings.filesKeptDays);
  if (stored) return stored;
  await deps.storage.remove(key);
  throw new Refused(unavailable, { 'retry-after': '2' });
}

/** If the storage does not delete the bytes, the row stays, so that a worker deletes them. */
async function removeUnstored(
  db: Knex,
  { storage }: KeyedDeps,
  key: string,
  id: string,
): Promise<void> {
  await storage.remove(key).then(
    () => dropUpload(db, id),
    () => undefined,
  );
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
