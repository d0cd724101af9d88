// Parses `metadata` into documented fields and passed-through options. The value is an object, or a
// string that contains a JSON object. Each field is read separately, so every fault is found.

import type { Fault } from './field';
import { invalid, isAbsent, misspelt, readFields, show } from './field';
import { readLabels } from './labels';
import { metadataFields, ownedMetadataNames, superResolutionFields } from './metadata-schema';
import {
  comparedMax,
  isGeneratorOption,
  otherSpellingOf,
  resembled,
  serviceOptionOf,
} from './near-names';
import type { SuperResolutionConfig, VideoMetadata } from './request';
import { requestFields } from './request-schema';
import type { JsonObject } from './safe-json';
import { isJsonObject, parseSafeJson } from './safe-json';

// Two days, the default of the API document.
const expiresAfterSecondsDefault = 172_800;
const documentedNames = Object.keys(metadataFields);
const documented = new Set(documentedNames);

const { super_resolution_config: _config, labels: _labels, ...plainFields } = metadataFields;

export function parseMetadata(value: unknown, faults: Fault[]): VideoMetadata {
  const sent = metadataObject(value, faults);
  const tools = isJsonObject(sent.tools) ? [sent.tools] : sent.tools;
  const read = readFields<VideoMetadata>(plainFields, 'metadata', { ...sent, tools }, faults);
  const superResolution = readSuperResolution(sent.super_resolution_config, faults);
  const labels = readLabels(sent.labels, faults);
  return {
    watermark: false,
    draft: false,
    return_last_frame: false,
    ...read,
    execution_expires_after: Math.ceil(read.execution_expires_after ?? expiresAfterSecondsDefault),
    ...(superResolution === undefined ? {} : { super_resolution_config: superResolution }),
    ...(labels === undefined ? {} : { labels }),
    passThrough: readPassThrough(sent, faults),
  };
}

function metadataObject(value: unknown, faults: Fault[]): JsonObject {
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

const configParam = 'metadata.super_resolution_config';

/**
 * Returns undefined if super-resolution is off: the value is absent, `{}`, or an object whose
 * fields all count as absent. Also returns undefined if a field has a fault. Otherwise returns the
 * options.
 */
function readSuperResolution(value: unknown, faults: Fault[]): SuperResolutionConfig | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) {
    faults.push(invalid(configParam, `must be an object; got ${show(value)}.`));
    return undefined;
  }
  const sent = Object.keys(value).filter((name) => !isAbsent(value[name]));
  if (sent.length === 0) return undefined;

  const before = faults.length;
  refuseUnknown(sent, faults);
  const read = readFields<SuperResolutionConfig>(superResolutionFields, configParam, value, faults);
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
  return { tool_version: 'standard', ...read };
}

// Field names come from the caller. So at most ten of them are reported, each with its beginning
// only.
const unknownMax = 10;
const nameShownMax = 80;

function refuseUnknown(sent: readonly string[], faults: Fault[]): void {
  const known = Object.keys(superResolutionFields);
  const unknown = sent.filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, unknownMax)) {
    const param = `${configParam}.${name.slice(0, nameShownMax)}`;
    const meant = resembled(name, known);
    faults.push(
      meant === undefined
        ? invalid(param, `is not a field; the fields are ${known.join(', ')}.`)
        : misspelt(param, `${configParam}.${meant}`),
    );
  }
}

// The maximum size of the passed-through options, which are stored with the task. The size limit of
// the body is not enough: the number 1e20 has four characters in the body, but twenty-one
// characters when it is serialised again.
const writtenOutMax = 32 * 1024;

function readPassThrough(sent: JsonObject, faults: Fault[]): Record<string, unknown> {
  const unknown = Object.entries(sent).filter(
    ([name, value]) => !documented.has(name) && !isAbsent(value),
  );
  const passed = unknown.filter(([name], index) => {
    const fault = nameFault(name, index < comparedMax);
    if (fault) faults.push(fault);
    return !fault;
  });
  if (passed.length === 0 && isAbsent(sent.tools)) return {};
  const options = Object.fromEntries(passed);
  // Undocumented fields of a tool are also passed through, so the size includes `tools`.
  const bytes = Buffer.byteLength(JSON.stringify({ ...options, tools: sent.tools }));
  if (bytes <= writtenOutMax) return options;
  const sentence =
    `may have at most ${writtenOutMax} bytes of options that are passed through, ` +
    `when written out; it has ${bytes}.`;
  faults.push(invalid('metadata', sentence));
  return {};
}

const topLevelNames = Object.keys(requestFields);

/** Returns a fault if the name may not be passed through, or null if the name is allowed. */
function nameFault(name: string, isCompared: boolean): Fault | null {
  // A generator that ignores case would read `Watermark` as the documented field `watermark`.
  const option = otherSpellingOf(name, documentedNames);
  const shown = `metadata.${name.slice(0, nameShownMax)}`;
  if (option !== undefined) return misspelt(shown, `metadata.${option}`);
  const owned = otherSpellingOf(name, ownedMetadataNames);
  if (owned !== undefined) return invalid(shown, ownedSentence(owned));
  return isCompared ? misspellingFault(name) : null;
}

function misspellingFault(name: string): Fault | null {
  if (isGeneratorOption(name)) return null;
  const option = resembled(name, documentedNames);
  if (option !== undefined) return misspelt(`metadata.${name}`, `metadata.${option}`);
  const meant = resembled(name, topLevelNames) ?? serviceOptionOf(name);
  return meant === undefined ? null : misspelt(`metadata.${name}`, meant);
}

function ownedSentence(name: string): string {
  if (name === 'output_upload_url') {
    return 'is not offered: the callback of a task has a link to the video.';
  }
  return topLevelNames.includes(name)
    ? 'is not an extension option; send it at the top level, next to model and prompt.'
    : 'cannot be passed through: the service sets or prices it itself. Leave it out.';
}
