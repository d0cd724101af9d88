// The file an operator edits → Catalogue. Everything wrong with it is reported at once, each fault with its path in the
// file; a catalogue with a fault is not used at all. `${NAME}` and `${NAME:-default}` in an address are filled from
// the environment that is handed in; keys are only ever named (`apiKeyEnv`), never written down.

import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import type { CatalogueFile, ModelEntry } from './catalogue-schema';
import { catalogueFileSchema } from './catalogue-schema';
import type { Catalogue, Channel, Model, Size, SuperResolutionOffer } from './domain/catalogue';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The sentences, one per fault, are all a person needs to mend the file. */
export class CatalogueError extends Error {
  constructor(
    readonly source: string,
    readonly faults: readonly string[],
  ) {
    super(`${source} cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'CatalogueError';
  }
}

export async function loadCatalogue(path: string, environment: Environment): Promise<Catalogue> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CatalogueError(path, [`the file cannot be read (${codeOf(error)})`]);
  }
  return parseCatalogue(text, environment, path);
}

export function parseCatalogue(
  text: string,
  environment: Environment,
  source = 'catalogue',
): Catalogue {
  const document = parseDocument(text, { merge: true });
  if (document.errors.length > 0) {
    throw new CatalogueError(
      source,
      document.errors.map(({ message }) => message.split('\n')[0]!),
    );
  }
  const checked = catalogueFileSchema.safeParse(document.toJS({ maxAliasCount: 1000 }));
  if (!checked.success) throw new CatalogueError(source, checked.error.issues.map(sentenceOf));
  const faults = crossFaults(checked.data);
  const channels = channelsOf(checked.data, environment, faults);
  if (faults.length > 0) throw new CatalogueError(source, faults);
  return {
    currency: checked.data.currency,
    channels,
    models: Object.fromEntries(
      Object.entries(checked.data.models).map(([id, entry]) => [
        id,
        modelOf(id, entry, checked.data),
      ]),
    ),
    superResolution: offerOf(checked.data),
  };
}

function sentenceOf({ path, message }: z.core.$ZodIssue): string {
  return `${pathText(path)}: ${message}`;
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(the whole file)';
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    // Model names and ratios hold dots and colons; quotes keep the path readable.
    const name = /^[\w-]+$/.test(String(key)) ? String(key) : `"${String(key)}"`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** What no single field can show: names that point at each other, and tables that must be whole. */
function crossFaults(file: CatalogueFile): string[] {
  const faults: string[] = [];
  const say = (path: readonly PropertyKey[], sentence: string) =>
    faults.push(`${pathText(path)}: ${sentence}`);
  const checkChannel = (path: PropertyKey[], id: string, protocol: Channel['protocol']) => {
    const channel = Object.hasOwn(file.channels, id) ? file.channels[id] : undefined;
    if (!channel)
      say(path, `there is no channel "${id}"; channels: ${Object.keys(file.channels).join(', ')}`);
    else if (channel.protocol !== protocol) {
      say(path, `channel "${id}" speaks ${channel.protocol}, but ${protocol} is needed here`);
    }
  };
  for (const [id, entry] of Object.entries(file.models)) {
    const at = (...path: PropertyKey[]) => ['models', id, ...path];
    for (const [index, choice] of entry.channels.entries()) {
      checkChannel(at('channels', index, 'channel'), choice.channel, 'ark');
    }
    for (const [mode, selected] of Object.entries(entry.modes)) {
      if (!Object.hasOwn(file.models, selected))
        say(at('modes', mode), `there is no model "${selected}"`);
    }
    modelFaults(entry, file, (path, sentence) => say(at(...path), sentence));
  }
  for (const [index, id] of (file.superResolution?.channels ?? []).entries()) {
    checkChannel(['superResolution', 'channels', index], id, 'mediakit');
  }
  return faults;
}

type Say = (path: readonly PropertyKey[], sentence: string) => void;

function modelFaults(entry: ModelEntry, file: CatalogueFile, say: Say): void {
  const table = Object.hasOwn(file.pixelTables, entry.pixels)
    ? file.pixelTables[entry.pixels]
    : undefined;
  if (!table) say(['pixels'], `there is no pixel table "${entry.pixels}"`);
  for (const [index, resolution] of entry.resolutions.entries()) {
    if (table && !table[resolution]) {
      say(['resolutions', index], `pixel table "${entry.pixels}" has no row for ${resolution}`);
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
  const { defaults, durations } = entry;
  if (!entry.resolutions.includes(defaults.resolution)) {
    say(['defaults', 'resolution'], `${defaults.resolution} is not among the resolutions`);
  }
  if (!entry.ratios.includes(defaults.ratio)) {
    say(['defaults', 'ratio'], `${defaults.ratio} is not among the ratios`);
  }
  if (durations.min > durations.max) say(['durations'], 'min is above max');
  const { durationSeconds: length } = defaults;
  if (length === -1 ? !durations.auto : length < durations.min || length > durations.max) {
    say(['defaults', 'durationSeconds'], `${length} is not among the durations`);
  }
  if (entry.draft && !entry.resolutions.includes('480p')) {
    say(['draft'], 'a draft is 480p, which is not among the resolutions');
  }
}

const placeholder = /\$\{(\w+)(?::-([^}]*))?\}/g;

function channelsOf(
  file: CatalogueFile,
  environment: Environment,
  faults: string[],
): Record<string, Channel> {
  const channels: [string, Channel][] = [];
  for (const [id, entry] of Object.entries(file.channels)) {
    const path = pathText(['channels', id, 'baseUrl']);
    const baseUrl = entry.baseUrl.replace(placeholder, (_, name: string, otherwise?: string) => {
      const value = environment[name] || otherwise;
      if (value === undefined) faults.push(`${path}: the environment has no ${name}`);
      return value ?? '';
    });
    if (!/^https?:\/\/[^/]/.test(baseUrl) || !URL.canParse(baseUrl)) {
      faults.push(`${path}: must be an http(s) address; got "${baseUrl}"`);
    }
    channels.push([id, { id, ...entry, baseUrl: baseUrl.replace(/\/+$/, '') }]);
  }
  return Object.fromEntries(channels);
}

function modelOf(id: string, entry: ModelEntry, file: CatalogueFile): Model {
  const table = file.pixelTables[entry.pixels]!;
  const pixels = entry.resolutions.map((resolution) => [
    resolution,
    Object.fromEntries(
      Object.entries(table[resolution]!).map(([ratio, text]) => [ratio, sizeFrom(text)]),
    ),
  ]);
  return {
    ...entry,
    id,
    pixels: Object.fromEntries(pixels) as Model['pixels'],
    prices: entry.prices.map(({ perMillionTokens, resolutions, inputVideo, audio }) => ({
      ...(resolutions ? { resolutions } : {}),
      ...(inputVideo === undefined ? {} : { inputVideo }),
      ...(audio === undefined ? {} : { audio }),
      microsPerMillionTokens: perMillionTokens,
    })),
  };
}

function offerOf({ superResolution: offer }: CatalogueFile): SuperResolutionOffer | null {
  if (!offer) return null;
  const { perMinute, ...rest } = offer;
  return { ...rest, microsPerMinute: perMinute };
}

function sizeFrom(text: string): Size {
  const [width, height] = text.split('x');
  return { width: Number(width), height: Number(height) };
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? error);
}
