// Files as a test plants them: a row, and its bytes in the storage.

import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
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
  const key = `uploads/${accountId}/${id}`;
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
    stored_at: db.fn.now(),
    expires_at: db.raw(`now() + interval '30 days'`),
    ...columns,
  });
  return { id, key, token, sha256: sha256.toString('hex') };
}
