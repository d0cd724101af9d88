// Reads the body of an upload: the file itself, or a form (multipart/form-data) with one file. The
// declared type and length are checked before any byte is read. The bytes are passed on as a
// stream.

import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Refusal } from '../contract/error';
import { type ApiCall, Refused } from '../gateway/context';
import { readQuery } from '../gateway/paging';
import { queryOf } from '../gateway/query';
import { type Media, mediaBytesMax } from './media-type.rules';

export interface SentFile {
  /** The stream fails with a `Refused` if the connection ends early or the form is malformed. */
  readonly bytes: Readable;
  readonly name: string | null;
  /** The name of the field of the form that has the file. */
  readonly field?: string;
  /** The Content-Length of the body; null without that header. The file is not larger than this. */
  readonly declaredBytes: number | null;
  /**
   * Resolves at the end of the body. Rejects with a `Refused` if a form is malformed, incomplete or
   * has a second file.
   */
  readonly complete: Promise<void>;
}

/** True for an upload. The time limit for other bodies does not apply to an upload. */
export function isUpload({ method, url = '', headers }: IncomingMessage): boolean {
  if (method !== 'POST') return false;
  if (/^\/v1\/files\/?(?:\?|$)/.test(url)) return true;
  // A create may be a form with a file (shapes/openai).
  return /^\/v1\/videos\/?(?:\?|$)/.test(url) && isFormType(headers['content-type']);
}

function isFormType(type = ''): boolean {
  return /^multipart\//i.test(type);
}

export function isForm({ req }: ApiCall): boolean {
  return isFormType(req.headers['content-type']);
}

// The bytes of a form before, around and after its file. The parser holds back some bytes of the
// file, so this limit is far above what boundaries, names and small fields need.
const aroundFileBytesMax = 1024 * 1024;

const largestBytes = Math.max(...Object.values(mediaBytesMax));
// Bytes for the boundaries, the names and the small fields of a form.
const formBytes = 64 * 1024;
const nameCharsMax = 255;

export async function readUpload(ctx: ApiCall): Promise<SentFile> {
  if (!isForm(ctx)) return readBody(ctx, prepareRead(ctx));
  const sent = await readForm(ctx);
  if (!sent) throw oneFile('none');
  return sent;
}

/** Checks the headers of a body that has a file. Returns the Content-Length. */
function prepareRead(ctx: ApiCall): number | null {
  const { req } = ctx;
  // The client may have disconnected while its key was looked up. No later event reports that.
  if (req.destroyed) throw cutOff();
  const type = (req.headers['content-type'] ?? '').toLowerCase();
  const encoding = req.headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== 'identity') {
    throw refused('unsupported_media_type', 'A file must be sent without Content-Encoding.');
  }
  const declared = req.headers['content-length'];
  const declaredBytes = declared === undefined ? null : Number(declared);
  const bytesMax = isForm(ctx) ? largestBytes + formBytes : bytesMaxOf(type);
  if (declaredBytes !== null && declaredBytes > bytesMax) throw tooLarge(bytesMax, declaredBytes);
  // A client that sends nothing for this long is disconnected. Each received byte restarts this
  // time limit.
  req.socket.setTimeout(30_000);
  // After the last byte the client waits for the storage.
  req.once('end', () => req.socket.setTimeout(0));
  return declaredBytes;
}

/** The limit of the declared type. The limit of the real type is checked later and may be lower. */
function bytesMaxOf(type: string): number {
  const media = type.split('/')[0] ?? '';
  return Object.hasOwn(mediaBytesMax, media) ? mediaBytesMax[media as Media] : largestBytes;
}

function readBody(ctx: ApiCall, declaredBytes: number | null): SentFile {
  const bytes = new PassThrough();
  ctx.req.once('close', () => {
    if (!ctx.req.complete) bytes.destroy(cutOff());
  });
  ctx.req.pipe(bytes);
  const name = nameOf(readQuery(queryOf(ctx), (reader) => reader.text('name')));
  return { bytes, name, declaredBytes, complete: Promise.resolve() };
}

// The parser ignores a part without headers. It would stop at one for ever if a chunk of the request did
// not fit into the part's buffer. Chunks have at most 64 KiB.
const fileHwm = 128 * 1024;

const formLimits = { files: 1, fields: 20, fieldSize: 1_024, parts: 25, headerPairs: 50 };

interface FormReader {
  readonly limits?: Partial<typeof formLimits>;
  /** Gets each field that is no file. `isCut` is true if its text is longer than the limit. */
  readonly field?: (name: string, text: string, isCut: boolean) => void;
  /** The form has more fields than the limit. */
  readonly tooMany?: () => void;
}

/** Returns undefined if the form has no file. All fields were read then. */
export async function readForm(
  ctx: ApiCall,
  { limits, field, tooMany }: FormReader = {},
): Promise<SentFile | undefined> {
  const declaredBytes = prepareRead(ctx);
  const request = ctx.req;
  const form = openForm(request, { ...formLimits, ...limits });
  if (field) {
    form.on('field', (name, text, isNameCut, isCut) => field(name, text, isNameCut || isCut));
  }
  if (tooMany) for (const limit of ['fieldsLimit', 'partsLimit']) form.once(limit, tooMany);
  let bytes: Readable | undefined;
  const complete = new Promise<void>((resolve, reject) => {
    const fail = (error: Refused) => {
      request.unpipe(form);
      bytes?.destroy(error);
      reject(error);
    };
    let around = 0;
    request.on('data', ({ length }: Buffer) => {
      around += length;
      if (around > aroundFileBytesMax)
        fail(tooLarge(aroundFileBytesMax, around, 'A form around its file'));
    });
    form.once('file', (_field, file) => {
      file.on('data', ({ length }: Buffer) => {
        around -= length;
      });
    });
    form.once('filesLimit', () => fail(oneFile('more than one')));
    form.on('error', () => fail(malformed()));
    const left = () => fail(cutOff());
    request.socket.once('close', left);
    form.once('finish', () => {
      request.socket.off('close', left);
      resolve();
    });
  });
  const found = new Promise<SentFile>((resolve) => {
    form.once('file', (fieldName, file, name) => {
      const sent = new PassThrough();
      // If a form ends inside its file, the parser reports an error on the form and on the file, in
      // either order. The file may have no reader then, and an error without a handler would end
      // the process.
      sent.on('error', () => undefined);
      file.on('error', () => sent.destroy(malformed()));
      file.pipe(sent);
      bytes = sent;
      const sentName = nameOf(name ?? null);
      resolve({ bytes: sent, name: sentName, field: fieldName, declaredBytes, complete });
    });
  });
  complete.catch(() => undefined); // The reader of the file also gets this error.
  request.pipe(form);
  return (await Promise.race([found, complete])) ?? undefined;
}

function openForm(request: IncomingMessage, limits: typeof formLimits): BusboyInstance {
  try {
    return new Busboy({ headers: request.headers as BusboyHeaders, limits, fileHwm });
  } catch {
    throw refused('invalid_value', 'The form must be multipart/form-data with a boundary.');
  }
}

function nameOf(text: string | null): string | null {
  const name =
    text
      ?.replace(/\p{Cc}/gu, '')
      .toWellFormed()
      .trim() ?? '';
  return name === '' ? null : [...name].slice(0, nameCharsMax).join('');
}

export function tooLarge(bytesMax: number, bytes: number, what = 'A file'): Refused {
  const message = `${what} may have at most ${bytesMax} bytes; this one has ${bytes} or more.`;
  return refused('request_too_large', message);
}

function oneFile(found: string): Refused {
  return refused('invalid_value', `The form must hold one file; it holds ${found}.`);
}

function malformed(): Refused {
  return refused('invalid_value', 'The multipart form is malformed.');
}

function cutOff(): Refused {
  return refused('invalid_value', 'The connection ended before the file did.');
}

function refused(code: Refusal['code'], message: string): Refused {
  return new Refused({ code, param: '', message }, { connection: 'close' });
}
