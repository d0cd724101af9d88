// Parses the body of a create into a VideoRequest. Compatibility fields (`image`, `seconds`,
// metadata as a string) become the current fields, null and [] become absent, and metadata gets its
// defaults. Nothing here reads the catalogue. A field with a fault is absent from the request, so that
// the other fields can still be planned, and all faults are found together.

import type { Fault } from './field';
import { invalid, isAbsent, misspelt, readField, show } from './field';
import { metadataFields } from './metadata-schema';
import { comparedCharsMax, comparedMax, resembled, synonymOf } from './near-names';
import { parseMetadata } from './parse-metadata';
import type { VideoRequest } from './request';
import { requestFields } from './request-schema';
import type { JsonObject } from './safe-json';

export interface ParsedRequest {
  readonly request: VideoRequest;
  /** The faults of the body's shape; empty if there are none. */
  readonly faults: readonly Fault[];
  /** Unknown top-level names that resemble no field. */
  readonly ignored: readonly string[];
  /** Set if the length was sent in the old field, so that a refusal names that field. */
  readonly lengthFrom?: 'seconds';
}

type FieldName = keyof typeof requestFields;

export function parseRequest(body: JsonObject): ParsedRequest {
  const faults: Fault[] = [];
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
  // If `resolution` is set, `size` is ignored and is not part of the parsed request. So a repeated
  // create may have another `size`.
  const sizeCounts = isAbsent(body.resolution) || body.resolution === '';
  const size = sizeCounts ? read<string>('size') : undefined;
  const duration = readDuration(body, faults);
  const metadata = parseMetadata(body.metadata, faults);
  const others = Object.keys(body).filter(
    (name) => !topLevelNames.has(name) && !isAbsent(body[name]),
  );
  refuseMisplaced(body, others, faults);
  const ignored = unknownNames(others, faults);
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
  const isOld = isAbsent(body.duration) && !isAbsent(body.seconds);
  return { request, faults, ignored, ...(isOld ? { lengthFrom: 'seconds' as const } : {}) };
}

function requireFields(body: JsonObject, faults: Fault[]): void {
  for (const name of ['model', 'prompt'] as const) {
    if (!isAbsent(body[name])) continue;
    faults.push(
      invalid(name, `is required; it ${requestFields[name].wanted}.`, 'missing_required_parameter'),
    );
  }
}

function readImages(body: JsonObject, faults: Fault[]): readonly string[] {
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

function readList(
  body: JsonObject,
  name: 'images' | 'videos' | 'audios',
  faults: Fault[],
): readonly string[] {
  return readField<readonly string[]>(requestFields[name], name, body[name], faults) ?? [];
}

function readDuration(body: JsonObject, faults: Fault[]): number | undefined {
  const name = isAbsent(body.duration) ? 'seconds' : 'duration';
  const value = readField<number | string>(requestFields[name], name, body[name], faults);
  return value === undefined ? undefined : Number(value);
}

function refuseMisplaced(body: JsonObject, others: readonly string[], faults: Fault[]): void {
  for (const name of others) {
    if (!metadataNames.has(name)) continue;
    faults.push(
      invalid(
        name,
        `is an extension option; send it inside metadata: {"metadata":{"${name}":${sketch(body[name])}}}.`,
      ),
    );
  }
}

const topLevelNames = new Set([...Object.keys(requestFields), 'metadata']);
const metadataNames = new Set(Object.keys(metadataFields));
const knownNames = [...topLevelNames, ...metadataNames];

/** Adds a fault for each name that resembles a field, and returns the other names. */
function unknownNames(others: readonly string[], faults: Fault[]): string[] {
  const unknown = others.filter((name) => !metadataNames.has(name));
  return unknown.filter((name, index) => {
    const meant = index < comparedMax ? meantBy(name) : undefined;
    if (meant !== undefined) faults.push(misspelt(name, meant));
    return meant === undefined;
  });
}

function meantBy(name: string): string | undefined {
  if (name.length > comparedCharsMax) return undefined;
  const known = resembled(name, knownNames);
  if (known === undefined) return synonymOf(name);
  return topLevelNames.has(known) ? known : `metadata.${known}`;
}

function sketch(value: unknown): string {
  return typeof value === 'object' ? (Array.isArray(value) ? '[…]' : '{…}') : show(value);
}
