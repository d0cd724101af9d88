// The routes of an account's uploaded files: upload, list, read and delete.

import type { FileObject } from '../contract/file-schema';
import { isFileId } from '../database/ids';
import { addressOf } from '../gateway/auth';
import type { KeyedContext, KeyedRouter } from '../gateway/context';
import { Refused } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { afterOf, limitOf, readQuery, refuseUnknown } from '../gateway/paging';
import { queryOf } from '../gateway/query';
import { type FileAccess, fileNotFound } from './deliver.routes';
import { fileLink } from './file-link.rules';
import type { FileRow } from './links.rows';
import { readUpload } from './read-upload.http';
import { markDeleted } from './retention.rows';
import { storeUpload } from './store-upload.http';
import { listUploads, removeUpload } from './uploads.rows';

export function uploadRoutes(
  router: KeyedRouter,
  deps: KeyedDeps,
  { lookUps, sendBytes, unknownLookups }: FileAccess,
): void {
  const { storage, settings } = deps;
  const show = (row: FileRow) => fileObject(row, settings.publicUrl);

  const find = async (ctx: KeyedContext): Promise<FileRow> => {
    const id = idOf(ctx);
    const file = id ? await lookUps.upload(id) : null;
    return file?.accountId === ctx.state.caller.accountId ? file : unknown(ctx);
  };

  const unknown = (ctx: KeyedContext): never => {
    const refusal = { ...fileNotFound, param: 'file_id' };
    throw unknownLookups.take(addressOf(ctx)) ?? new Refused(refusal);
  };

  router.post('/v1/files', async (ctx) => {
    const sent = await readUpload(ctx);
    ctx.state.isMaking = true;
    ctx.body = show(await storeUpload(deps, ctx, sent));
  });

  router.get('/v1/files', async (ctx) => {
    const { limit, after } = readQuery(queryOf(ctx), (reader) => {
      refuseUnknown(reader, ['limit', 'after']);
      const idIn = (text: string) => (isFileId(text) ? text : null);
      return { limit: limitOf(reader), after: afterOf(reader, idIn) };
    });
    const { db, caller } = ctx.state;
    const { accountId } = caller;
    // One row more than the limit is read, to see whether there is another page.
    const found = await listUploads(db, { accountId, limit: limit + 1, after });
    const page = found.slice(0, limit);
    const next = found.length > limit ? (page.at(-1)?.id ?? null) : null;
    ctx.body = { data: page.map(show), next };
  });

  router.get('/v1/files/:file_id', async (ctx) => {
    ctx.body = show(await find(ctx));
  });

  router.get('/v1/files/:file_id/content', async (ctx) => {
    await sendBytes(ctx, await find(ctx));
  });

  router.delete('/v1/files/:file_id', async (ctx) => {
    const { db, caller } = ctx.state;
    const id = idOf(ctx);
    const key = id && (await removeUpload(db, caller.accountId, id));
    if (!id || !key) return unknown(ctx);
    await storage.remove(key);
    await markDeleted(db, id);
    ctx.body = { id, object: 'file', deleted: true };
  });
}

function idOf(ctx: KeyedContext): string | null {
  const id = String(ctx.params.file_id ?? '');
  if (!isFileId(id)) return null;
  ctx.state.fileId = id;
  return id;
}

function fileObject(row: FileRow, publicUrl: string): FileObject {
  const contentType = row.contentType ?? '';
  return {
    id: row.id,
    object: 'file',
    url: fileLink(publicUrl, row.linkToken, contentType),
    kind: row.media,
    content_type: contentType,
    bytes: row.length ?? 0,
    sha256: row.sha256 ?? '',
    name: row.name,
    duration: row.durationMs === null ? null : row.durationMs / 1000,
    created_at: row.createdAtSeconds,
    expires_at: row.expiresAtSeconds,
  };
}
