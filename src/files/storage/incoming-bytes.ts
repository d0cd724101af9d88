// Reads the bytes of a file that will be stored. The first bytes (the head) show the type of the
// file. All bytes are counted and hashed while they are streamed.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { headBytes } from '../media-type.rules';

interface IncomingBytes {
  readonly head: Buffer;
  /**
   * All bytes, including the head. Call this method only once. `take` is called with each chunk and
   * the number of bytes so far, and `end` after the last chunk; if one throws, the stream fails.
   */
  stream(take: (chunk: Buffer, length: number) => void, end?: () => void): Readable;
  /**
   * The length and digest of all bytes. Call this method only once, after the end of the stream.
   */
  found(): { readonly length: number; readonly sha256: Buffer };
}

export async function readIncoming(bytes: Readable): Promise<IncomingBytes> {
  const chunks = bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const head = await readHead(chunks);
  const digest = createHash('sha256');
  let length = 0;
  return {
    head,
    stream(take, end = () => undefined) {
      const counted = (chunk: Buffer): Buffer => {
        length += chunk.length;
        take(chunk, length);
        digest.update(chunk);
        return chunk;
      };
      return Readable.from(passOn(head, chunks, counted, end), { objectMode: false });
    },
    found: () => ({ length, sha256: digest.digest() }),
  };
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

async function* passOn(
  head: Buffer,
  chunks: AsyncIterator<Buffer>,
  counted: (chunk: Buffer) => Buffer,
  end: () => void,
): AsyncGenerator<Buffer> {
  yield counted(head);
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) return end();
    yield counted(value);
  }
}
