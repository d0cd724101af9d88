// Checks rules of the catalogue that concern several fields. References between entries must exist,
// tables must be complete, and every offered combination needs a price. The schema checks each
// single field.

import type { Ratio, Resolution } from '../contract/vocabulary';
import { assert } from '../domain/assert';
import { type Durations, makesLength } from '../domain/catalogue';
import type { JobKind } from '../domain/job';
import type { ProtocolFacts, ProtocolTable } from '../domain/protocol-facts';
import type { CatalogueFile, ModelEntry } from './catalogue-schema';

/** The path of a field as text, for example `models."studio-2.0".prices[0]`. */
export function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(the whole file)';
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    // Quotes keep the path readable, because model names and ratios contain dots and colons.
    const name = /^[\w-]+$/.test(String(key)) ? String(key) : `"${String(key)}"`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

const providersOf: Readonly<Record<JobKind, string>> = {
  generation: 'a generator',
  super_resolution: 'an enhancer',
};

/** A file whose fields are correct, with the protocols that its channels may speak. */
export interface CheckedFile extends CatalogueFile {
  readonly protocols: ProtocolTable;
}

function factsOf(name: string, { protocols }: CheckedFile): ProtocolFacts {
  const facts = protocols[name];
  assert(facts, `the check has refused the protocol ${name}`);
  return facts;
}

/** Returns one sentence for each broken rule, or an empty list if the file is correct. */
export function crossFaults(file: CheckedFile): string[] {
  const faults: string[] = [];
  const say = (path: readonly PropertyKey[], sentence: string) =>
    faults.push(`${pathText(path)}: ${sentence}`);
  const checkChannel = (path: PropertyKey[], id: string, kind: JobKind) => {
    const channel = Object.hasOwn(file.channels, id) ? file.channels[id] : undefined;
    if (!channel)
      say(path, `there is no channel "${id}"; channels: ${Object.keys(file.channels).join(', ')}`);
    else if (!factsOf(channel.protocol, file).does.includes(kind)) {
      say(
        path,
        `channel "${id}" speaks ${channel.protocol}, but ${providersOf[kind]} is needed here`,
      );
    }
  };
  for (const [id, { protocol, profile }] of Object.entries(file.channels)) {
    const { profiles = [] } = factsOf(protocol, file);
    if (profile === null || profiles.includes(profile)) continue;
    const known = profiles.length > 0 ? `the profiles ${profiles.join(', ')}` : 'no profiles';
    say(['channels', id, 'profile'], `${protocol} has ${known}; got "${profile}"`);
  }
  for (const [id, entry] of Object.entries(file.models)) {
    const at = (...path: PropertyKey[]) => ['models', id, ...path];
    for (const [index, choice] of entry.channels.entries()) {
      checkChannel(at('channels', index, 'channel'), choice.channel, 'generation');
      if (choice.meter === 'reported' && needsMeter(choice.channel, file)) {
        say(
          at('channels', index, 'meter'),
          'the channel reports no tokens: perSecond or perJob is needed',
        );
      }
      for (const tier of unmeteredTiers(entry, choice)) {
        say(at('channels', index, 'meter'), `has no figure for ${tier}`);
      }
    }
    for (const [mode, selected] of Object.entries(entry.modes)) {
      if (!Object.hasOwn(file.models, selected))
        say(at('modes', mode), `there is no model "${selected}"`);
    }
    modelFaults(entry, file, (path, sentence) => say(at(...path), sentence));
  }
  for (const [index, id] of (file.superResolution?.channels ?? []).entries()) {
    checkChannel(['superResolution', 'channels', index], id, 'super_resolution');
  }
  if (dearestMinuteMicros(file) > minuteMicrosMax) {
    say(
      ['superResolution', 'perMinute'],
      'with coefficients and factors a minute is above 1000000',
    );
  }
  return faults;
}

/** What the channels of a model cannot do. */
export function limitsOf({ channels }: ModelEntry, file: CheckedFile) {
  return channels.map(({ channel }) => {
    const { protocol, profile } = file.channels[channel]!;
    return factsOf(protocol, file).limits?.(profile) ?? {};
  });
}

/** The protocols of the channels of a model, each once. */
export function protocolsOf(entry: ModelEntry, file: CheckedFile) {
  const channels = entry.channels.flatMap(({ channel }) =>
    Object.hasOwn(file.channels, channel) ? [file.channels[channel]!.protocol] : [],
  );
  return [...new Set(channels)].map((name) => factsOf(name, file));
}

// This limit is far above any real price, and far below the largest safe integer.
const minuteMicrosMax = 1e12;

function dearestMinuteMicros({ superResolution: offer }: CatalogueFile): number {
  if (!offer) return 0;
  const coefficient = Math.max(...Object.values(offer.coefficients).flat());
  return offer.perMinute * coefficient * Math.max(...Object.values(offer.factors));
}

type Say = (path: readonly PropertyKey[], sentence: string) => void;

function modelFaults(entry: ModelEntry, file: CheckedFile, say: Say): void {
  const table = Object.hasOwn(file.pixelTables, entry.pixels)
    ? file.pixelTables[entry.pixels]
    : undefined;
  if (!table) say(['pixels'], `there is no pixel table "${entry.pixels}"`);
  for (const [index, resolution] of entry.resolutions.entries()) {
    if (table && !table[resolution]) {
      say(['resolutions', index], `pixel table "${entry.pixels}" has no row for ${resolution}`);
    }
    for (const ratio of missingRatios(entry, table?.[resolution])) {
      say(['ratios'], `pixel table "${entry.pixels}" has no size for ${resolution} ${ratio}`);
    }
    for (const inputVideo of entry.inputs.videosMax > 0 ? [false, true] : [false]) {
      for (const audio of entry.audio ? [true, false] : [false]) {
        const priced = entry.prices.some(
          (row) =>
            (!row.resolutions || row.resolutions.includes(resolution)) &&
            (row.inputVideo === undefined || row.inputVideo === inputVideo) &&
            (row.audio === undefined || row.audio === audio),
        );
        if (priced) continue;
        say(
          ['prices'],
          `no row covers ${resolution} ${inputVideo ? 'with' : 'without'} input video, ${audio ? 'with' : 'without'} audio`,
        );
      }
    }
  }
  inputFaults(entry, say);
  for (const { brokenPromises } of protocolsOf(entry, file)) {
    for (const { path, sentence } of brokenPromises?.(entry) ?? []) {
      say(path, `a channel of the model ${sentence}`);
    }
  }
  const { defaults, durations } = entry;
  if (!entry.resolutions.includes(defaults.resolution)) {
    say(['defaults', 'resolution'], `${defaults.resolution} is not among the resolutions`);
  }
  if (!entry.ratios.includes(defaults.ratio)) {
    say(['defaults', 'ratio'], `${defaults.ratio} is not among the ratios`);
  }
  const lengths = lengthsOf(durations);
  if (!lengths) say(['durations'], 'needs either min and max, or values');
  else if (lengths.min > lengths.max) say(['durations'], 'min is above max');
  const { durationSeconds: length } = defaults;
  if (lengths && !makesLength(lengths, length)) {
    say(['defaults', 'durationSeconds'], `${length} is not among the durations`);
  }
  retirementFaults(entry, file, say);
  if (entry.draft && !entry.resolutions.includes('480p')) {
    say(['draft'], 'a draft is 480p, which is not among the resolutions');
  }
}

function needsMeter(id: string, file: CheckedFile): boolean {
  const channel = Object.hasOwn(file.channels, id) ? file.channels[id] : undefined;
  return channel !== undefined && factsOf(channel.protocol, file).needsMeter === true;
}

/** The tiers of the model for which a meter of a channel has no figure. */
function unmeteredTiers(
  { resolutions }: ModelEntry,
  { meter }: ModelEntry['channels'][number],
): readonly Resolution[] {
  if (meter === 'reported') return [];
  const tokens = 'perJob' in meter ? meter.perJob : meter.perSecond;
  return resolutions.filter((tier) => tokens[tier] === undefined);
}

/** The ratios of the model without a size. `adaptive` needs any size, because it bounds the hold. */
function missingRatios(
  { ratios }: ModelEntry,
  row: Readonly<Partial<Record<Ratio, string>>> | undefined,
): readonly Ratio[] {
  if (!row) return [];
  const isEmpty = Object.keys(row).length === 0;
  return ratios.filter((ratio) => (ratio === 'adaptive' ? isEmpty : !row[ratio]));
}

/** The lengths of an entry. Null if it has neither a range nor a list, or both. */
export function lengthsOf({ min, max, values, auto }: ModelEntry['durations']): Durations | null {
  const isRange = min !== undefined && max !== undefined;
  if (values) {
    if (min !== undefined || max !== undefined) return null;
    return { min: Math.min(...values), max: Math.max(...values), values, auto };
  }
  return isRange ? { min, max, auto } : null;
}

function retirementFaults(entry: ModelEntry, file: CheckedFile, say: Say): void {
  const { retires, replacedBy, afterRetirement } = entry;
  if (replacedBy !== null && retires === null) say(['replacedBy'], 'needs a date in retires');
  if (replacedBy === null) {
    if (afterRetirement === 'move') say(['afterRetirement'], '"move" needs replacedBy');
    return;
  }
  const fault = replacementFault(entry, file);
  if (fault) say(['replacedBy'], fault);
}

function replacementFault(entry: ModelEntry, file: CheckedFile): string | null {
  const seen = new Set([entry]);
  for (let next = entry.replacedBy; next !== null; ) {
    const model: ModelEntry | undefined = Object.hasOwn(file.models, next)
      ? file.models[next]
      : undefined;
    if (!model) return `there is no model "${next}"`;
    if (seen.has(model)) return 'the replacements form a circle';
    seen.add(model);
    next = model.replacedBy;
  }
  return null;
}

/**
 * The input type "reference" and the number of its items must be set together. The type alone
 * allows no item.
 */
function inputFaults({ inputs }: ModelEntry, say: Say): void {
  const counts = ['referenceImagesMax', 'videosMax', 'audiosMax'] as const;
  const taken = counts.filter((kind) => inputs[kind] > 0);
  if (inputs.types.includes('reference')) {
    if (taken.length === 0) say(['inputs', 'types'], '"reference" needs a count above 0');
    return;
  }
  for (const kind of taken) say(['inputs', kind], 'needs "reference" among the types');
}
