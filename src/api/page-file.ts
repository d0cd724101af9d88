// Files for browsers: the bytes in memory with a type and an etag, answered with 304 where the
// browser has them already.

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

/** Made when first asked for, then kept: a service that nobody looks at should not pay for it. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
