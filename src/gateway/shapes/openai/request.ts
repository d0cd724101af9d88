// Reads a create in the form of OpenAI: JSON, or a form with at most one file. The file becomes an
// upload of the account, and the task names the upload.

import type { VideoRequest } from '../../../contract/request';
import { type JsonObject, parseSafeJson } from '../../../contract/safe-json';
import type { FileRow } from '../../../files/links.rows';
import { isForm, readForm } from '../../../files/read-upload.http';
import { storeUpload } from '../../../files/store-upload.http';
import { forgetUpload, removeUpload } from '../../../files/uploads.rows';
import { isRepeat } from '../../../tasks/create/repeat.http';
import type { CountUpload } from '../../admit';
import { bodyBytesMax, readJsonBody } from '../../body';
import { type KeyedCall, Refused } from '../../context';
import type { KeyedDeps } from '../../deps';
import type { Translated } from '../shape';
import { objectOf } from './form-fields';

export interface OpenAiRequest extends Translated {
  /** The upload that this call made, if its form has a file. */
  readonly file: FileRow | null;
}

const fileField = 'input_reference';
const references = {
  input_reference: 'images',
  image_reference: 'images',
  video_reference: 'videos',
  audio_reference: 'audios',
} as const;
const lists = { image: 'images', video: 'videos', audio: 'audios' } as const;
const fieldsMax = 200;
const formLimits = { fields: fieldsMax, fieldSize: bodyBytesMax, parts: fieldsMax + 1 };

export async function readOpenAiRequest(
  deps: KeyedDeps,
  ctx: KeyedCall,
  countUpload: CountUpload,
): Promise<OpenAiRequest> {
  if (!isForm(ctx)) {
    return { body: translated(await readJsonBody(ctx.req, bodyBytesMax)), file: null };
  }
  const fields: [string, string][] = [];
  let left = bodyBytesMax;
  let fault: Refused | undefined;
  const sent = await readForm(ctx, {
    limits: formLimits,
    field: (name, text, isCut) => {
      left -= Buffer.byteLength(name) + Buffer.byteLength(text);
      if (isCut || left < 0) fault ??= tooLarge();
      if (!fault) fields.push([name, text]);
    },
    tooMany: () => {
      fault ??= refused('', `A form may have at most ${fieldsMax} fields.`);
    },
  });
  if (sent && sent.field !== fileField) {
    throw refused(String(sent.field).slice(0, 80), `a file is sent as ${fileField}.`);
  }
  if (sent) {
    // The metrics tell the upload of a file from a create without one, which takes far less time.
    ctx.state.route = '/v1/videos (file)';
    countUpload(ctx);
  }
  // A repeat makes an upload only to be compared with the first call, which has filled the limits.
  const file = sent ? await storeUpload(deps, ctx, sent, await isRepeat(ctx)) : null;
  try {
    if (fault) throw fault;
    const body = translated(checked(objectOf(fields)));
    return file ? withFile(body, file) : { body, file };
  } catch (error) {
    await dropFile(deps, ctx, { file });
    throw error;
  }
}

/** Removes the upload of a create that made no task. No caller knows its id, so no row stays. */
export async function dropFile(
  { storage }: KeyedDeps,
  ctx: KeyedCall,
  { file }: Pick<OpenAiRequest, 'file'>,
): Promise<void> {
  if (!file) return;
  const { db, caller } = ctx.state;
  const key = await removeUpload(db, caller.accountId, file.id);
  if (!key) return;
  // If the bytes or the row cannot be deleted now, a worker finds the removed row.
  const forget = () => forgetUpload(db, file.id);
  await storage
    .remove(key)
    .then(forget)
    .catch(() => undefined);
}

/** Two calls with the same file are equal, although each call makes its own upload. */
function withFile(body: JsonObject, file: FileRow): OpenAiRequest {
  const list = lists[file.media];
  const named = { ...body, [list]: [file.id, ...asList(body[list])] };
  const compared = (request: VideoRequest) => ({
    ...request,
    [list]: request[list].map((one) => (one === file.id ? `sha256:${file.sha256}` : one)),
  });
  return { body: named, file, compared };
}

/**
 * Checks the fields of a form as a body is checked. PostgreSQL could store some of their texts, but
 * could not read them again.
 */
function checked(fields: JsonObject): JsonObject {
  const { value, fault } = parseSafeJson(JSON.stringify(fields));
  if (fault !== undefined) throw refused('', `The fields cannot be read: ${fault}.`);
  return value;
}

/** Each reference becomes an entry of images, videos or audios; all other fields are ours. */
function translated(sent: JsonObject): JsonObject {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent)) {
    if (!Object.hasOwn(references, name)) body[name] = value;
  }
  for (const [name, list] of Object.entries(references)) {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    if (value === undefined || value === null) continue;
    body[list] = [addressIn(name, value), ...asList(body[list])];
  }
  return body;
}

function addressIn(name: string, value: unknown): string {
  const object =
    typeof value === 'string' && value.startsWith('{') ? parseSafeJson(value).value : value;
  if (typeof object === 'string') return object;
  const entries = Object.entries(object ?? {}).filter(([, one]) => one !== null);
  const [[field, address] = []] = entries;
  const isKnown = /^(?:file_id|image_url|video_url|audio_url)$/.test(field ?? '');
  if (entries.length === 1 && isKnown && typeof address === 'string') return address;
  throw refused(name, 'must be a file, or an object with one of image_url and file_id.');
}

function asList(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function tooLarge(): Refused {
  const message = `The fields of a form may have at most ${bodyBytesMax} bytes together.`;
  return new Refused({ code: 'request_too_large', param: '', message });
}

function refused(param: string, sentence: string): Refused {
  const message = param === '' ? sentence : `${param}: ${sentence}`;
  return new Refused({ code: 'invalid_value', param, message });
}
