// The request body: JSON, UTF-8, bounded. Read by hand, because what it has to refuse (a foreign
// content type, junk under content-encoding, half a surrogate, sixty levels of nesting) the usual
// readers let through or turn into a 500.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../contract/error';
import type { JsonObject } from '../contract/safe-json';
import { parseSafeJson } from '../contract/safe-json';
import { Refused } from './context';

// Far above what the documented fields can need.
export const bodyBytesMax = 1024 * 1024;

/** Throws `Refused` for anything that is not such a body. */
export async function readJsonBody(
  request: IncomingMessage,
  bytesMax: number,
): Promise<JsonObject> {
  const unsupported = mediaTypeFault(request);
  if (unsupported) throw new Refused(unsupported);
  const bytes = await readBytes(request, bytesMax);
  if (!isUtf8(bytes)) throw invalidJson('it is not valid UTF-8');
  const { value, fault } = parseSafeJson(bytes.toString('utf8'));
  if (value) return value;
  throw invalidJson(bytes.length === 0 ? 'it is empty' : fault!);
}

const jsonType = /^application\/json\s*(?:;\s*charset\s*=\s*"?([\w-]+)"?\s*)?$/i;

function mediaTypeFault({ headers }: IncomingMessage): Refusal | null {
  const type = headers['content-type'];
  const match = type === undefined ? null : jsonType.exec(type.trim());
  const charset = match?.[1]?.toLowerCase();
  if (!match || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')) {
    const got = type === undefined ? 'none' : `"${type.slice(0, 80)}"`;
    return unsupportedMedia(`The Content-Type must be application/json in UTF-8; got ${got}.`);
  }
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return null;
  return unsupportedMedia(
    `The body must be sent without Content-Encoding; got "${encoding.slice(0, 80)}".`,
  );
}

// What is read and thrown away of a body that is too large, so that an honest client gets to read
// the answer instead of a reset connection.
const drainBytesMax = 8 * 1024 * 1024;

async function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > drainBytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): boolean => {
    length += chunk.length;
    if (length <= bytesMax) chunks.push(chunk);
    return length <= drainBytesMax;
  };
  if (!(await untilRead(request, take))) {
    throw invalidJson('the connection ended before the body did');
  }
  if (length > bytesMax) throw tooLarge(bytesMax);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/**
 * True when all of it has been read, or as much as `take` wanted; false when no more will come. An
 * iterator would do the same, and take as long as parsing the body does.
 */
function untilRead(request: IncomingMessage, take: (chunk: Buffer) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    // The caller may be gone already: nothing more is said of that.
    if (request.destroyed) resolve(false);
    request.on('data', (chunk: Buffer) => {
      if (take(chunk)) return;
      request.pause();
      resolve(true);
    });
    request.on('end', () => resolve(true));
    // Also after an error, which is told only to who listens for it.
    request.on('close', () => resolve(false));
  });
}

function tooLarge(bytesMax: number): Refused {
  return new Refused(
    {
      code: 'request_too_large',
      param: '',
      message: `The body may have at most ${bytesMax} bytes.`,
    },
    { connection: 'close' },
  );
}

function invalidJson(fault: string): Refused {
  return new Refused({
    code: 'invalid_json',
    param: '',
    message: `The body must be a JSON object in UTF-8, but ${fault}.`,
  });
}

function unsupportedMedia(message: string): Refusal {
  return { code: 'unsupported_media_type', param: '', message };
}
