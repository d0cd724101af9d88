// `metadata`, as an object or as a string that holds one, into its documented fields and what is
// passed through. Each field is read by itself, so that every fault is found at once.

import type { Refusal } from './error';
import { invalid, isAbsent, readField, show } from './field';
import { metadataFields, ownedMetadataNames, superResolutionFields } from './metadata-schema';
import type { SuperResolutionConfig, Tool, VideoMetadata } from './request';
import type { JsonObject } from './safe-json';
import { isJsonObject, parseSafeJson } from './safe-json';

// Two days: the document's default.
const expiresAfterSecondsDefault = 172_800;
const owned = new Set(ownedMetadataNames);

export function parseMetadata(value: unknown, faults: Refusal[]): VideoMetadata {
  const sent = metadataObject(value, faults);
  const read = <T>(name: string): T | undefined =>
    readField<T>(metadataFields[name]!, `metadata.${name}`, sent[name], faults);

  const generateAudio = read<boolean>('generate_audio');
  const watermark = read<boolean>('watermark') ?? false;
  const draft = read<boolean>('draft') ?? false;
  const seed = read<number>('seed');
  const returnLastFrame = read<boolean>('return_last_frame') ?? false;
  const expiresAfter = read<number>('execution_expires_after') ?? expiresAfterSecondsDefault;
  const tools = readTools(sent.tools, faults);
  const superResolution = readSuperResolution(sent.super_resolution_config, faults);
  const callbackUrl = read<string>('callback_url');
  const safetyIdentifier = read<string>('safety_identifier');
  const inputVideoDuration = read<number>('input_video_duration');
  return {
    ...(generateAudio === undefined ? {} : { generate_audio: generateAudio }),
    watermark,
    draft,
    ...(seed === undefined ? {} : { seed }),
    return_last_frame: returnLastFrame,
    execution_expires_after: expiresAfter,
    ...(tools === undefined ? {} : { tools }),
    ...(superResolution === undefined ? {} : { super_resolution_config: superResolution }),
    ...(callbackUrl === undefined ? {} : { callback_url: callbackUrl }),
    ...(safetyIdentifier === undefined ? {} : { safety_identifier: safetyIdentifier }),
    ...(inputVideoDuration === undefined ? {} : { input_video_duration: inputVideoDuration }),
    passThrough: readPassThrough(sent, faults),
  };
}

function metadataObject(value: unknown, faults: Refusal[]): JsonObject {
  if (isAbsent(value)) return {};
  if (typeof value === 'string') {
    const parsed = parseSafeJson(value);
    if (parsed.value) return parsed.value;
    const cause = value === '' ? 'it is empty' : parsed.fault;
    faults.push(
      invalid(
        'metadata',
        `as a string it must hold a JSON object, but ${cause}; got ${show(value)}.`,
      ),
    );
    return {};
  }
  if (isJsonObject(value)) return value;
  faults.push(
    invalid(
      'metadata',
      `must be an object, or a string that holds a JSON object; got ${show(value)}.`,
    ),
  );
  return {};
}

function readTools(value: unknown, faults: Refusal[]): readonly Tool[] | undefined {
  const list = isJsonObject(value) ? [value] : value;
  return readField<readonly Tool[]>(metadataFields.tools!, 'metadata.tools', list, faults);
}

const configParam = 'metadata.super_resolution_config';

/**
 * Undefined where super-resolution is off: absent, `{}`, or nothing in it but what counts as
 * absent.
 */
function readSuperResolution(value: unknown, faults: Refusal[]): SuperResolutionConfig | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) {
    faults.push(invalid(configParam, `must be an object; got ${show(value)}.`));
    return undefined;
  }
  const sent = Object.keys(value).filter((name) => !isAbsent(value[name]));
  if (sent.length === 0) return undefined;

  const before = faults.length;
  refuseUnknown(sent, faults);
  const read = <T>(name: string): T | undefined =>
    readField<T>(superResolutionFields[name]!, `${configParam}.${name}`, value[name], faults);
  const resolution = read<NonNullable<SuperResolutionConfig['resolution']>>('resolution');
  const limit = read<number>('resolution_limit');
  const scene = read<NonNullable<SuperResolutionConfig['scene']>>('scene');
  const toolVersion = read<SuperResolutionConfig['tool_version']>('tool_version') ?? 'standard';
  const fps = read<number>('fps');
  const both = sent.includes('resolution') && sent.includes('resolution_limit');
  const neither = !sent.includes('resolution') && !sent.includes('resolution_limit');
  if (both || neither) {
    faults.push(
      invalid(
        configParam,
        `needs exactly one of resolution and resolution_limit; got ${both ? 'both' : 'neither'}.`,
        both ? 'conflicting_parameters' : 'missing_required_parameter',
      ),
    );
  }
  if (faults.length > before) return undefined;
  return {
    ...(resolution === undefined ? {} : { resolution }),
    ...(limit === undefined ? {} : { resolution_limit: limit }),
    ...(scene === undefined ? {} : { scene }),
    tool_version: toolVersion,
    ...(fps === undefined ? {} : { fps }),
  };
}

// Names are the caller's, too: so many are shown, and so much of each.
const unknownMax = 10;

function refuseUnknown(sent: readonly string[], faults: Refusal[]): void {
  const known = Object.keys(superResolutionFields);
  const unknown = sent.filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, unknownMax)) {
    const param = `${configParam}.${name.slice(0, 80)}`;
    faults.push(invalid(param, `is not a field; the fields are ${known.join(', ')}.`));
  }
}

// A number such as 1e20 is four characters in a body and twenty-one written out again; a task that
// outgrew what the engine stores would be lost on the way.
const writtenOutMax = 1024 * 1024;

function readPassThrough(sent: JsonObject, faults: Refusal[]): Record<string, unknown> {
  const chars = JSON.stringify(sent).length;
  if (chars > writtenOutMax) {
    const sentence = `may have at most ${writtenOutMax} characters when written out; it has ${chars}.`;
    faults.push(invalid('metadata', sentence));
    return {};
  }
  const passed: [string, unknown][] = [];
  for (const [name, value] of Object.entries(sent)) {
    if (Object.hasOwn(metadataFields, name) || isAbsent(value)) continue;
    if (owned.has(name)) {
      faults.push(invalid(`metadata.${name}`, ownedSentence(name)));
    } else {
      passed.push([name, value]);
    }
  }
  return Object.fromEntries(passed);
}

const topLevelNames =
  'model prompt input_type mode image images videos audios resolution ratio size duration seconds'.split(
    ' ',
  );

function ownedSentence(name: string): string {
  return topLevelNames.includes(name)
    ? 'is not an extension option; send it at the top level, next to model and prompt.'
    : 'cannot be passed through: the service sets or prices it itself. Leave it out.';
}
