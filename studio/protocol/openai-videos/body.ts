/*
 * Reads the body of a create, which is a form or a JSON object. Both official clients always send a
 * form. A name such as `input_reference[image_url]` in a form means a field of an object. All values
 * of a form are texts.
 */

import type { Exchange } from '../../http';
import { header, isObject, parseJsonObject, readBody } from '../../http';
import { invalid } from '../../protocol-error';
import type { Body } from '../fields';

export async function readCreate(exchange: Exchange): Promise<Body> {
  const bytes = await readBody(exchange.request);
  const type = header(exchange, 'content-type') ?? '';
  return /^multipart\/form-data\b/i.test(type) ? readForm(bytes, type) : parseJsonObject(bytes);
}

async function readForm(bytes: Buffer, type: string): Promise<Body> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw invalid('body', 'it is not a valid form');
    });
  const body: Body = {};
  for (const [name, value] of form) {
    const [, outer, inner] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
    const read = typeof value === 'string' ? value : await inline(value);
    if (outer === undefined || inner === undefined) body[name] = read;
    else body[outer] = { ...(isObject(body[outer]) ? body[outer] : {}), [inner]: read };
  }
  return body;
}

/** A file becomes the same text as an image that is sent inline. */
async function inline(file: Blob): Promise<string> {
  const bytes = Buffer.from(await file.arrayBuffer());
  return `data:${file.type || 'image/png'};base64,${bytes.toString('base64')}`;
}

/** The object that a text of a form contains; other values are returned unchanged. */
export function parsedObject(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('{')) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
