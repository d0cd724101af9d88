// The body of a create call → VideoRequest. Compatibility fields are folded into their originals
// (`image`, `seconds`, metadata as a string), null and [] become absent, documented defaults of
// metadata are filled in. Nothing here knows the catalogue. With faults the request is a stand-in
// that holds whatever could be read: the plan made of it finds the faults of the other fields, so
// that a caller sees all of them at once.

import type { Refusal } from './error';
import { invalid, isAbsent, readField, show } from './field';
import { metadataFields } from './metadata-schema';
import { parseMetadata } from './parse-metadata';
import type { VideoRequest } from './request';
import { requestFields } from './request-schema';
import type { JsonObject } from './safe-json';

export interface ParsedRequest {
  readonly request: VideoRequest;
  /** Empty where the request is good as far as its shape goes. */
  readonly faults: readonly Refusal[];
}

type FieldName = keyof typeof requestFields;

export function parseRequest(body: JsonObject): ParsedRequest {
  const faults: Refusal[] = [];
  const read = <T>(name: FieldName): T | undefined =>
    readField<T>(requestFields[name], name, body[name], faults);

  requireFields(body, faults);
  const model = read<string>('model') ?? '';
  const prompt = read<string>('prompt') ?? '';
  const mode = read<string>('mode');
  const inputType = read<VideoRequest['input_type']>('input_type');
  const images = readImages(body, faults);
  const videos = readList(body, 'videos', faults);
  const audios = readList(body, 'audios', faults);
  const resolution = read<VideoRequest['resolution'] | ''>('resolution') || undefined;
  const ratio = read<VideoRequest['ratio']>('ratio');
  // With a resolution the size is not looked at, and no part of what makes two requests equal.
  const sizeCounts = isAbsent(body.resolution) || body.resolution === '';
  const size = sizeCounts ? read<string>('size') : undefined;
  const duration = readDuration(body, faults);
  const metadata = parseMetadata(body.metadata, faults);
  refuseMisplaced(body, faults);
  const request: VideoRequest = {
    model,
    prompt,
    ...(mode === undefined ? {} : { mode }),
    ...(inputType === undefined ? {} : { input_type: inputType }),
    images,
    videos,
    audios,
    ...(resolution === undefined ? {} : { resolution }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(size === undefined ? {} : { size }),
    ...(duration === undefined ? {} : { duration }),
    metadata,
  };
  return { request, faults };
}

function requireFields(body: JsonObject, faults: Refusal[]): void {
  for (const name of ['model', 'prompt'] as const) {
    if (!isAbsent(body[name])) continue;
    faults.push(
      invalid(name, `is required; it ${requestFields[name].wanted}.`, 'missing_required_parameter'),
    );
  }
}

function readImages(body: JsonObject, faults: Refusal[]): readonly string[] {
  if (isAbsent(body.image)) return readList(body, 'images', faults);
  const image = readField<string>(requestFields.image, 'image', body.image, faults);
  if (!isAbsent(body.images)) {
    faults.push(
      invalid(
        'image',
        'is the old form of images[0] and cannot be sent together with images; put it into images.',
        'conflicting_parameters',
      ),
    );
    return readList(body, 'images', faults);
  }
  return image === undefined ? [] : [image];
}

/**
 * A list with faulty elements keeps its length in the stand-in, because the rules count; nothing
 * sent is ever called.
 */
function readList(
  body: JsonObject,
  name: 'images' | 'videos' | 'audios',
  faults: Refusal[],
): readonly string[] {
  const value = body[name];
  const list = readField<readonly string[]>(requestFields[name], name, value, faults);
  if (list) return list;
  if (!Array.isArray(value)) return [];
  return value.slice(0, 9).map((item: unknown) => (typeof item === 'string' ? item : ''));
}

function readDuration(body: JsonObject, faults: Refusal[]): number | undefined {
  const name = isAbsent(body.duration) ? 'seconds' : 'duration';
  const value = readField<number | string>(requestFields[name], name, body[name], faults);
  return value === undefined ? undefined : Number(value);
}

function refuseMisplaced(body: JsonObject, faults: Refusal[]): void {
  for (const name of Object.keys(metadataFields)) {
    if (isAbsent(body[name])) continue;
    faults.push(
      invalid(
        name,
        `is an extension option; send it inside metadata: {"metadata":{"${name}":${sketch(body[name])}}}.`,
      ),
    );
  }
}

function sketch(value: unknown): string {
  return typeof value === 'object' ? (Array.isArray(value) ? '[…]' : '{…}') : show(value);
}
