// Reads the catalogue file. All faults of the schema are reported at once, each with its path in
// the file. If there are none, all broken rules across fields are reported. A catalogue with a
// fault is not used at all. `${NAME}` and `${NAME:-default}` in a URL are replaced by environment
// variables. The file names the variables that contain API keys (`apiKeyEnv`); it never contains
// the keys.

import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import type {
  Catalogue,
  Channel,
  ChannelChoice,
  Cost,
  EnhancementCost,
  Model,
  PriceList,
  PriceRow,
  Size,
  SuperResolutionOffer,
} from './catalogue.rules';
import { channelsOfKeys, keysForJobs } from './channel-keys';
import {
  type CheckedFile,
  enhancerLimitsOf,
  limitsOf,
  pathText,
  protocolsOf,
} from './checked-file';
import { crossFaults, lengthsOf } from './faults';
import { commonLimits } from './limits.rules';
import type { ProtocolTable } from './protocol-facts.rules';
import type { CatalogueFile, ModelEntry } from './schema';
import { schemaWith } from './schema';

type Environment = Readonly<Record<string, string | undefined>>;

/** Contains one sentence per fault, so that an operator can correct several faults at once. */
export class CatalogueError extends Error {
  constructor(
    readonly source: string,
    readonly faults: readonly string[],
  ) {
    super(`${source} cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'CatalogueError';
  }
}

/** What the file refers to: the environment, and the protocols that channels may speak. */
export interface Surroundings {
  /** Null for a text that must learn nothing of the environment: an address keeps its placeholders. */
  readonly environment: Environment | null;
  readonly protocols: ProtocolTable;
}

export async function loadCatalogue(path: string, around: Surroundings): Promise<Catalogue> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CatalogueError(path, [`the file cannot be read (${codeOf(error)})`]);
  }
  return parseCatalogue(text, around, path);
}

export function parseCatalogue(
  text: string,
  { environment, protocols }: Surroundings,
  source = 'catalogue',
): Catalogue {
  const checked = schemaWith(Object.keys(protocols)).safeParse(readYaml(text, source));
  if (!checked.success) throw new CatalogueError(source, checked.error.issues.flatMap(sentencesOf));
  const file = { ...checked.data, protocols };
  const faults = crossFaults(file);
  const channels = channelsOf(file, environment, faults);
  if (faults.length > 0) throw new CatalogueError(source, faults);
  const models = Object.entries(file.models).map(([id, entry]) => [id, modelOf(id, entry, file)]);
  return {
    currency: file.currency,
    channels,
    models: Object.fromEntries(models),
    superResolution: offerOf(file),
    chargeMaxFactor: file.chargeMaxFactor,
    priceLists: Object.fromEntries(
      Object.entries(file.priceLists).map(([id, list]) => [id, priceListOf(list)]),
    ),
  };
}

function readYaml(text: string, source: string): unknown {
  const document = parseDocument(text, { merge: true });
  if (document.errors.length > 0) {
    throw new CatalogueError(source, document.errors.map(firstLine));
  }
  try {
    // The parser resolves aliases and merges only here, so their faults are thrown only here.
    return document.toJS({ maxAliasCount: 1000 });
  } catch (error) {
    throw new CatalogueError(source, [`${pathText([])}: ${firstLine(error as Error)}`]);
  }
}

function sentencesOf(issue: z.core.$ZodIssue): string[] {
  // For a faulty key of a record, zod puts the reason into a nested list of issues.
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => `${pathText(issue.path)}: ${message}`);
  }
  if (issue.code !== 'unrecognized_keys') return [`${pathText(issue.path)}: ${issue.message}`];
  return issue.keys.map(
    (key) => `${pathText([...issue.path, key])}: is not known here; is it misspelt?`,
  );
}

const placeholder = /\$\{(\w+)(?::-([^}]*))?\}/g;

function channelsOf(
  file: CatalogueFile,
  environment: Environment | null,
  faults: string[],
): Record<string, Channel> {
  const channels: [string, Channel][] = [];
  for (const [id, entry] of Object.entries(file.channels)) {
    const path = pathText(['channels', id, 'baseUrl']);
    const baseUrl = entry.baseUrl.replace(placeholder, (text, name: string, otherwise?: string) => {
      if (environment === null) return text;
      const value = environment[name] || otherwise;
      if (value === undefined) faults.push(`${path}: the environment has no ${name}`);
      return value ?? '';
    });
    // An address with placeholders cannot be checked.
    const isKnown = environment !== null || baseUrl.search(placeholder) < 0;
    if (isKnown && !isBaseUrl(baseUrl)) {
      // The text of the file, because a value of the environment may be a secret.
      faults.push(`${path}: must be an http(s) address without a query; got "${entry.baseUrl}"`);
    }
    const known = { ...entry, baseUrl: baseUrl.replace(/\/+$/, '') };
    for (const channel of channelsOfKeys(id, known)) channels.push([channel.id, channel]);
  }
  return Object.fromEntries(channels);
}

/** Paths are appended to the text. */
function isBaseUrl(text: string): boolean {
  return /^https?:\/\/[^/][^\s?#${}]*$/.test(text) && URL.canParse(text);
}

function modelOf(id: string, entry: ModelEntry, file: CheckedFile): Model {
  const table = file.pixelTables[entry.pixels]!;
  const pixels = entry.resolutions.map((resolution) => [
    resolution,
    Object.fromEntries(
      Object.entries(table[resolution]!).map(([ratio, text]) => [ratio, sizeFrom(text)]),
    ),
  ]);
  const keysOf = keysForJobs(
    entry.channels.map(({ channel }) => channel),
    file,
  );
  return {
    ...entry,
    id,
    pixels: Object.fromEntries(pixels) as Model['pixels'],
    durations: lengthsOf(entry.durations)!,
    channels: entry.channels.flatMap((choice) =>
      keysOf(choice.channel).map((channel) => choiceOf(choice, channel)),
    ),
    enhanceable: protocolsOf(entry, file).every(({ resultsNeedKey }) => !resultsNeedKey),
    limits: commonLimits(limitsOf(entry, file)),
    prices: entry.prices.map(priceOf),
  };
}

function priceOf({
  perMillionTokens,
  resolutions,
  inputVideo,
  audio,
}: ModelEntry['prices'][number]): PriceRow {
  return {
    ...(resolutions ? { resolutions } : {}),
    ...(inputVideo === undefined ? {} : { inputVideo }),
    ...(audio === undefined ? {} : { audio }),
    microsPerMillionTokens: perMillionTokens,
  };
}

function priceListOf(list: CatalogueFile['priceLists'][string]): PriceList {
  const models = Object.entries(list.models).map(([id, prices]) => [id, prices.map(priceOf)]);
  return {
    factor: list.factor,
    models: Object.fromEntries(models) as PriceList['models'],
    microsPerMinute: list.superResolutionPerMinute,
  };
}

function choiceOf(
  { upstreamModel, meter, cost, weight }: ModelEntry['channels'][number],
  channel: string,
): ChannelChoice {
  return {
    ...{ channel, upstreamModel },
    ...(meter === 'reported' ? {} : { meter }),
    ...(cost ? { cost: costOf(cost) } : {}),
    ...(weight === undefined ? {} : { weight }),
  };
}

function costOf(entry: NonNullable<ModelEntry['channels'][number]['cost']>): Cost {
  if ('perMillionTokens' in entry) return { microsPerMillionTokens: entry.perMillionTokens };
  if ('perJob' in entry) return { microsPerJob: entry.perJob };
  return { microsPerSecond: entry.perSecond, inputSeconds: entry.inputSeconds };
}

function enhancementCostOf(
  entry: NonNullable<CatalogueFile['superResolution']>['costs'][string],
): EnhancementCost {
  if ('perMinute' in entry) return { microsPerMinute: entry.perMinute };
  if ('perJob' in entry) return { microsPerJob: entry.perJob };
  return { microsPerSecond: entry.perSecond };
}

function offerOf(file: CheckedFile): SuperResolutionOffer | null {
  if (!file.superResolution) return null;
  const { perMinute, channels, costs, ...rest } = file.superResolution;
  const keysOf = keysForJobs(channels, file);
  const limits = channels.flatMap((id) => {
    const limit = enhancerLimitsOf(id, file);
    return limit ? keysOf(id).map((key) => [key, limit] as const) : [];
  });
  return {
    ...rest,
    channels: channels.flatMap(keysOf),
    limits: Object.fromEntries(limits),
    costs: Object.fromEntries(
      Object.entries(costs).flatMap(([id, cost]) =>
        keysOf(id).map((key) => [key, enhancementCostOf(cost)] as const),
      ),
    ),
    microsPerMinute: perMinute,
  };
}

function sizeFrom(text: string): Size {
  const [width, height] = text.split('x');
  return { width: Number(width), height: Number(height) };
}

const firstLine = ({ message }: Error): string => message.split('\n')[0]!;

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? error);
}
