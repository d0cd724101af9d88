// Answers with the bytes of a stored file, or with a part of them. The bytes are streamed from the
// storage. A client that stops reading is disconnected.

import type { Readable } from 'node:stream';
import type { FileRow } from '../../../db/files/links';
import type { ApiCall } from '../../context';
import { refuse } from '../../context';
import type { ApiDeps } from '../../deps';
import { bytesAsked } from './byte-range';

type SendDeps = Pick<ApiDeps, 'storage' | 'observer'>;

// After this time without progress, the connection is closed: the client does not read, or the
// storage does not answer.
const stalledMs = 30_000;
// A browser may show a removed file from its cache, but only for this time.
const cachedSecondsMax = 86_400;

// Browsers apply this policy when they open a link as a page. It allows them to show the file and
// nothing else.
const policy = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

export async function sendBytes(deps: SendDeps, ctx: ApiCall, file: FileRow): Promise<void> {
  const length = file.length ?? 0;
  setFileHeaders(ctx, file);
  ctx.status = 200;
  if (isKnown(ctx)) {
    ctx.status = 304;
    return;
  }
  const asked = isSameFile(ctx) ? bytesAsked(ctx.req.headers.range, length) : 'whole';
  if (asked === 'unsatisfiable') {
    const message = `The file has ${length} bytes, and the Range asks for none of them.`;
    const headers = { 'content-range': `bytes */${length}`, 'cache-control': 'no-store' };
    return refuse(ctx, { code: 'range_not_satisfiable', param: 'Range', message }, headers);
  }
  const sent = asked === 'whole' ? length : asked.last - asked.first + 1;
  const status = asked === 'whole' ? 200 : 206;
  if (asked !== 'whole') ctx.set('Content-Range', `bytes ${asked.first}-${asked.last}/${length}`);
  if (ctx.method !== 'HEAD') {
    const bytes = await deps.storage.read(file.key, asked === 'whole' ? undefined : asked);
    if (!bytes) throw new Error(`The storage has no object of the file ${file.id}.`);
    cutStalled(ctx, bytes, deps.observer);
    ctx.body = bytes;
  }
  ctx.status = status;
  ctx.length = sent;
}

/** Ends the connection if reading the bytes fails, or if there is no progress for a while. */
export function cutStalled(ctx: ApiCall, bytes: Readable, observer: ApiDeps['observer']): void {
  bytes.once('error', (error) => {
    // A client that disconnects also causes an error here. Such an error is not logged.
    if (!ctx.res.destroyed) observer.failed(error, ctx.state.requestId);
    ctx.res.destroy();
  });
  ctx.req.socket.setTimeout(stalledMs);
}

/** Sets headers with which a browser shows or plays the file, but runs no script in it. */
export function setInertHeaders(ctx: ApiCall, contentType: string): void {
  ctx.set({
    'Content-Type': contentType,
    'Content-Disposition': 'inline',
    'Content-Security-Policy': policy,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Accept-Ranges': 'bytes',
  });
  allowAnyPage(ctx);
}

function setFileHeaders(ctx: ApiCall, { contentType, sha256, secondsLeft }: FileRow): void {
  const maxAge = Math.max(0, Math.min(secondsLeft, cachedSecondsMax));
  setInertHeaders(ctx, contentType ?? 'application/octet-stream');
  ctx.set('Cache-Control', `private, max-age=${maxAge}, immutable`);
  if (sha256) ctx.set('ETag', `"${sha256}"`);
}

/** A link alone gives access to the file, so pages of any origin may read it. */
export function allowAnyPage(ctx: ApiCall): void {
  ctx.set({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers':
      'accept-ranges, content-length, content-range, etag, x-request-id',
  });
}

/** True if `If-None-Match` names this file, so that the client has it already. */
function isKnown(ctx: ApiCall): boolean {
  const known = ctx.req.headers['if-none-match']?.split(',').map((tag) => tag.trim());
  const tag = ctx.response.get('ETag');
  return known?.some((one) => one === '*' || one.replace(/^W\//, '') === tag) ?? false;
}

/** False if `If-Range` names another version of the file. The client then needs the whole file. */
function isSameFile(ctx: ApiCall): boolean {
  const { 'if-range': known } = ctx.req.headers;
  return known === undefined || known === ctx.response.get('ETag');
}
