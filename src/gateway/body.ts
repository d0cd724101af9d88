// Reads the request body: JSON in UTF-8 of limited size. This code is our own, because common body
// readers accept some invalid bodies or answer them with a 500. Examples are a wrong content type,
// a bad Content-Encoding, lone surrogates and deep nesting.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../contract/error';
import type { JsonObject } from '../contract/safe-json';
import { parseSafeJson } from '../contract/safe-json';
import { Refused } from './context';

// 128 KiB is far more than all documented fields can need.
export const bodyBytesMax = 128 * 1024;

/**
 * Returns the body as an object. Throws `Refused` if the body is not a JSON object in UTF-8, or if
 * it is too large.
 */
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

// Only the character set has a meaning among the parameters.
const jsonType = /^application\/json\s*(?:;|$)/i;
const charsetIn = /;\s*charset\s*=\s*"?([^";\s]*)/i;

function mediaTypeFault({ headers }: IncomingMessage): Refusal | null {
  const type = headers['content-type'];
  const charset = (charsetIn.exec(type ?? '')?.[1] ?? 'utf-8').toLowerCase();
  if (!jsonType.test(type?.trim() ?? '') || (charset !== 'utf-8' && charset !== 'utf8')) {
    const got = type === undefined ? 'none' : `"${type.slice(0, 80)}"`;
    return unsupportedMedia(`The Content-Type must be application/json in UTF-8; got ${got}.`);
  }
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return null;
  return unsupportedMedia(
    `The body must be sent without Content-Encoding; got "${encoding.slice(0, 80)}".`,
  );
}

// Up to this size, a body that is too large is read to its end and discarded. Otherwise the client
// could get a connection reset instead of the reply.
const drainBytesMax = 1024 * 1024;

async function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > drainBytesMax) throw tooLarge(bytesMax, declared);
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
  if (length > bytesMax) throw tooLarge(bytesMax, Math.max(declared, length));
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/**
 * Resolves with true at the end of the body, or as soon as `take` returns false. Resolves with
 * false if the connection closes first. An async iterator would be simpler, but reading with it
 * takes as long as the parsing of the body.
 */
function untilRead(request: IncomingMessage, take: (chunk: Buffer) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    // A destroyed request emits no further events.
    if (request.destroyed) resolve(false);
    request.on('data', (chunk: Buffer) => {
      if (take(chunk)) return;
      request.pause();
      resolve(true);
    });
    request.on('end', () => resolve(true));
    // After an error there is no 'end', only 'close'.
    request.on('close', () => resolve(false));
  });
}

function tooLarge(bytesMax: number, bytes: number): Refused {
  return new Refused(
    {
      code: 'request_too_large',
      param: '',
      message: `The body may have at most ${bytesMax} bytes; this one has ${bytes} or more.`,
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
