// Static files for browsers, kept in memory with their type and ETag. The reply is 304 if the
// browser already has the file.

import { createHash } from 'node:crypto';

export interface PageFile {
  readonly type: string;
  /** All replies that are not read yet share it; each would hold a copy of a text. */
  readonly body: Buffer;
  readonly etag: string;
}

export function pageFile(type: string, content: string | Buffer): PageFile {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, etag };
}

/** The part of a request that an answer with a file needs. */
interface PageContext {
  set(name: string, value: string): void;
  type: string;
  status: number;
  body: unknown;
  readonly fresh: boolean;
}

export function answerPageFile(ctx: PageContext, { type, body, etag }: PageFile): void {
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
