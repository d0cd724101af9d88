// Static files for browsers, kept in memory with their type and ETag. The reply is 304 if the
// browser already has the file.

import { createHash } from 'node:crypto';
import type { ApiContext } from './context';

export interface PageFile {
  readonly type: string;
  readonly body: string | Buffer;
  readonly etag: string;
}

export function pageFile(type: string, body: string | Buffer): PageFile {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, etag };
}

export function answerPageFile(ctx: ApiContext, { type, body, etag }: PageFile): void {
  ctx.set('Cache-Control', 'no-cache');
  ctx.set('ETag', etag);
  ctx.type = type;
  ctx.status = 200;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}

/** Computes the value at first use, so that a page that is never opened costs nothing. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
