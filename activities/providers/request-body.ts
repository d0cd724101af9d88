// Makes the body of a request: JSON, or the fields of a form. In the text of the body, each file is
// named by its mark. The file is read and encoded while the request is sent, so no create holds more
// than a few chunks in memory. The length of the body is known before.

import { randomBytes } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import type { InlineFile } from '../../src/jobs/job.rules';

export interface BodySource {
  /** A body in JSON. */
  readonly body?: unknown;
  /** The fields of a form, which is sent in place of JSON. The names are plain. */
  readonly form?: Readonly<Record<string, string>>;
  /** The files that are named in the body. */
  readonly files?: readonly InlineFile[] | undefined;
}

interface RequestBody {
  readonly contentType: string;
  readonly length: number;
  /** The body up to its last file. */
  readonly parts: readonly (Buffer | InlineFile)[];
  /** The rest of the body. Without it no server takes the request. */
  readonly end: Buffer;
}

export function bodyOf({ body, form, files = [] }: BodySource): RequestBody | null {
  if (form) {
    const boundary = randomBytes(16).toString('hex');
    const fields = Object.entries(form).map(
      ([name, value]) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const text = `${fields.join('')}--${boundary}--\r\n`;
    return { contentType: `multipart/form-data; boundary=${boundary}`, ...split(text, files) };
  }
  if (body === undefined) return null;
  return { contentType: 'application/json', ...split(JSON.stringify(body), files) };
}

function split(text: string, files: readonly InlineFile[]): Omit<RequestBody, 'contentType'> {
  const marks = files.map(({ mark }) => mark).join('|');
  const pieces = marks ? text.split(new RegExp(`(${marks})`)) : [text];
  const parts = pieces.map(
    (piece) => files.find(({ mark }) => mark === piece) ?? Buffer.from(piece),
  );
  const length = parts.reduce((sum, part) => sum + encodedLength(part), 0);
  return { length, parts: parts.slice(0, -1), end: Buffer.from(pieces.at(-1) ?? '') };
}

// Base64 turns each three bytes into four, and the rest into four too.
const encodedLength = (part: Buffer | InlineFile) =>
  Buffer.isBuffer(part) ? part.length : Math.ceil(part.bytes / 3) * 4;

/**
 * Sends the body. `beforeEnd` is called before the rest is sent; if it returns false, the rest is
 * not sent. Throws if a file cannot be read. If the connection fails, returns.
 */
export async function sendBody(
  outgoing: ClientRequest,
  body: RequestBody | null,
  beforeEnd: () => boolean,
): Promise<void> {
  for (const part of body?.parts ?? []) {
    const chunks = Buffer.isBuffer(part) ? [part] : base64Of(part);
    for await (const chunk of chunks) if (!(await written(outgoing, chunk))) return;
  }
  if (beforeEnd()) outgoing.end(body?.end);
}

/** Waits until the chunk is in the buffers of the system. Returns false if the connection failed. */
function written(outgoing: ClientRequest, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    outgoing.write(chunk, (error) => resolve(!error));
  });
}

async function* base64Of({ bytes, open }: InlineFile): AsyncGenerator<Buffer> {
  let read = 0;
  let rest: Uint8Array = Buffer.alloc(0);
  const checked = (isRight: boolean) => {
    if (!isRight) throw new Error(`An input file of ${bytes} bytes has ${read} bytes now.`);
  };
  for await (const chunk of await open()) {
    read += chunk.length;
    checked(read <= bytes);
    const known = Buffer.concat([rest, chunk]);
    const whole = known.length - (known.length % 3);
    rest = known.subarray(whole);
    yield Buffer.from(known.toString('base64', 0, whole), 'latin1');
  }
  checked(read === bytes);
  yield Buffer.from(Buffer.from(rest).toString('base64'), 'latin1');
}
