// Answers with the bytes of a stored file, or with a part of them. The bytes are streamed from the
// storage. A client that stops reading is disconnected.

import type { Readable } from 'node:stream';
import type { ApiCall } from '../gateway/context';
import { Refused, refuse } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import type { LookUps } from '../gateway/look-ups';
import { bytesAsked } from './byte-range';
import type { FileRow } from './links.rows';
import type { ByteRange } from './storage/storage';
import { createTransfers, type Transfers } from './transfers.http';

export type SendBytes = (ctx: ApiCall, file: FileRow) => Promise<void>;

// After this time without progress, the connection is closed: the client does not read, or the
// storage does not answer.
const stalledMs = 30_000;
// A browser may show a removed file from its cache, but only for this time.
const cachedSecondsMax = 86_400;

// Browsers apply this policy when they open a link as a page. It allows them to show the file and
// nothing else, and no page may frame it.
const policy =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; " +
  "frame-ancestors 'none'; sandbox";

/** One function for all routes, because the limits of `transfers` count the files of all routes. */
export function createSendBytes(deps: KeyedDeps, lookUps: Pick<LookUps, 'file'>): SendBytes {
  const transfers = createTransfers(deps.elapsed, deps.limits);
  return (ctx, file) =>
    sendBytes(ctx, file, (range) => openBytes(deps, { transfers, lookUps }, ctx, file, range));
}

/** The headers of the file are set only when its first bytes are there: a refusal has none of them. */
async function sendBytes(
  ctx: ApiCall,
  file: FileRow,
  open: (range: ByteRange | undefined) => Promise<Readable>,
): Promise<void> {
  const length = file.length ?? 0;
  if (isKnown(ctx, file)) {
    setFileHeaders(ctx, file);
    ctx.status = 304;
    return;
  }
  const isHead = ctx.method === 'HEAD';
  // The standard defines ranges for GET only, so a HEAD ignores them.
  const range = isHead || !isSameFile(ctx, file) ? undefined : ctx.req.headers.range;
  const asked = bytesAsked(range, length);
  if (asked === 'unsatisfiable') {
    const message = `The file has ${length} bytes, and the Range asks for none of them.`;
    const headers = { 'content-range': `bytes */${length}`, 'accept-ranges': 'bytes' };
    return refuse(ctx, { code: 'range_not_satisfiable', param: 'Range', message }, headers);
  }
  const part = asked === 'whole' ? undefined : asked;
  const bytes = isHead ? null : await open(part);
  setFileHeaders(ctx, file);
  if (part) ctx.set('Content-Range', `bytes ${part.first}-${part.last}/${length}`);
  if (bytes) ctx.body = bytes;
  ctx.status = part ? 206 : 200;
  ctx.length = part ? part.last - part.first + 1 : length;
}

const justRemoved = {
  code: 'file_removed',
  param: '',
  message: 'The file was removed a moment ago.',
} as const;

/** Returns the bytes when the first of them can be read. */
async function openBytes(
  { storage, observer }: KeyedDeps,
  {
    transfers,
    lookUps,
  }: { readonly transfers: Transfers; readonly lookUps: Pick<LookUps, 'file'> },
  ctx: ApiCall,
  { id, key, accountId, linkToken }: FileRow,
  range: ByteRange | undefined,
): Promise<Readable> {
  transfers.begin(ctx, accountId);
  const bytes = await storage.read(key, range);
  if (!bytes) {
    const row = await lookUps.file(linkToken);
    if (row?.state !== 'stored' || row.secondsLeft < 0) throw new Refused(justRemoved);
    observer.fileWithoutBytes(id);
    throw new Error(`The storage has no object of the file ${id}.`);
  }
  // Each limit of a download waits for the end of the response. Node would warn of eleven listeners.
  ctx.res.setMaxListeners(20);
  ctx.res.once('close', () => bytes.destroy());
  // The client may have disconnected before. No later event reports that.
  if (ctx.res.destroyed) bytes.destroy();
  await untilReadable(bytes);
  cutStalled(ctx, bytes, observer);
  return bytes;
}

function untilReadable(bytes: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    bytes.once('readable', resolve);
    bytes.once('end', resolve);
    // A client that disconnects ends the stream without any other event.
    bytes.once('close', resolve);
    bytes.once('error', reject);
  });
}

/** Ends the connection if reading the bytes fails, or if there is no progress for a while. */
function cutStalled(ctx: ApiCall, bytes: Readable, observer: KeyedDeps['observer']): void {
  bytes.once('error', (error) => {
    // A client that disconnects also causes an error here. Such an error is not logged.
    if (!ctx.res.destroyed) observer.failed(error, ctx.state);
    ctx.res.destroy();
  });
  ctx.req.socket.setTimeout(stalledMs);
}

/** Sets headers with which a browser shows or plays the file, but runs no script in it. */
function setFileHeaders(ctx: ApiCall, file: FileRow): void {
  const maxAge = Math.max(0, Math.min(file.secondsLeft, cachedSecondsMax));
  ctx.set({
    'Content-Type': file.contentType ?? 'application/octet-stream',
    'Content-Disposition': 'inline',
    'Content-Security-Policy': policy,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Accept-Ranges': 'bytes',
    'Cache-Control': `private, max-age=${maxAge}, immutable`,
    ...(file.sha256 ? { ETag: tagOf(file) } : {}),
  });
  allowAnyPage(ctx);
}

function tagOf({ sha256 }: FileRow): string {
  return `"${sha256}"`;
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
function isKnown(ctx: ApiCall, file: FileRow): boolean {
  const known = ctx.req.headers['if-none-match']?.split(',').map((tag) => tag.trim());
  return known?.some((one) => one === '*' || one.replace(/^W\//, '') === tagOf(file)) ?? false;
}

/** False if `If-Range` names another version of the file. The client then needs the whole file. */
function isSameFile(ctx: ApiCall, file: FileRow): boolean {
  const { 'if-range': known } = ctx.req.headers;
  return known === undefined || known === tagOf(file);
}
