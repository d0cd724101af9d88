// Checks rules of the catalogue that concern several fields. References between entries must exist,
// tables must be complete, and every offered combination needs a price. The schema checks each
// single field.

import { contractSeconds, type Ratio } from '../contract/vocabulary';
import { coversVideo, type Durations, makesLength, type PricedVideo } from './catalogue.rules';
import { channelFaults, choiceFaults, enhancerFaults } from './channel-faults';
import { brokenPromisesOf, type CheckedFile, pathText, type Say } from './checked-file';
import { ratioFaults } from './ratio-faults';
import type { CatalogueFile, ModelEntry } from './schema';

/** Returns one sentence for each broken rule, or an empty list if the file is correct. */
export function crossFaults(file: CheckedFile): string[] {
  const faults: string[] = [];
  const say: Say = (path, sentence) => void faults.push(`${pathText(path)}: ${sentence}`);
  channelFaults(file, say);
  for (const [id, entry] of Object.entries(file.models)) {
    const sayOf: Say = (path, sentence) => say(['models', id, ...path], sentence);
    choiceFaults(entry, file, sayOf);
    for (const [mode, selected] of Object.entries(entry.modes)) {
      if (!Object.hasOwn(file.models, selected))
        sayOf(['modes', mode], `there is no model "${selected}"`);
    }
    modelFaults(entry, file, sayOf);
  }
  enhancerFaults(file, say);
  priceListFaults(file, say);
  for (const [path, perMinute] of minutePrices(file)) {
    if (perMinute * largestFactor(file) > minuteMicrosMax) {
      say(path, 'with coefficients and factors a minute is above 1000000');
    }
  }
  return faults;
}

// These limits are far above any real price, and far below the largest safe integer.
const minuteMicrosMax = 1e12;
const videoMicrosMax = 1e12;

/** The rows of a list are checked like those of its model. */
function priceListFaults(file: CheckedFile, say: Say): void {
  for (const [name, { models, superResolutionPerMinute }] of Object.entries(file.priceLists)) {
    const path = ['priceLists', name];
    if (superResolutionPerMinute !== null && !file.superResolution) {
      say([...path, 'superResolutionPerMinute'], 'needs superResolution');
    }
    for (const [id, prices] of Object.entries(models)) {
      const entry = Object.hasOwn(file.models, id) ? file.models[id] : undefined;
      const sayOf: Say = ([first, ...rest], sentence) =>
        say([...path, 'models', id, ...(first === 'prices' ? rest : [])], sentence);
      if (!entry) sayOf([], 'there is no such model');
      else {
        priceFaults({ ...entry, prices }, sayOf);
        meterPriceFaults({ ...entry, prices }, sayOf);
      }
    }
  }
}

/** The prices of a minute of super-resolution, and what each channel costs for a minute. */
function minutePrices({ superResolution: offer, priceLists }: CatalogueFile): [string[], number][] {
  if (!offer) return [];
  const lists = Object.entries(priceLists).map(([name, list]): [string[], number] => [
    ['priceLists', name],
    list.superResolutionPerMinute ?? offer.perMinute * list.factor,
  ]);
  const costs = Object.entries(offer.costs).flatMap(([id, cost]): [string[], number][] =>
    'perMinute' in cost ? [[['superResolution', 'costs', id, 'perMinute'], cost.perMinute]] : [],
  );
  return [[['superResolution', 'perMinute'], offer.perMinute], ...lists, ...costs];
}

function largestFactor({ superResolution: offer }: CatalogueFile): number {
  if (!offer) return 0;
  const coefficient = Math.max(...Object.values(offer.coefficients).flat());
  return coefficient * Math.max(...Object.values(offer.factors));
}

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
  }
  priceFaults(entry, say);
  meterPriceFaults(entry, say);
  inputFaults(entry, say);
  for (const { path, sentence } of brokenPromisesOf(entry, file)) {
    say(path, `a channel of the model ${sentence}`);
  }
  ratioFaults(entry, file, say);
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

/**
 * The first row that covers a video is its price. A row of which every video is covered by earlier
 * rows would never be used, and its videos would have another price. Only a last row without a
 * condition, behind rows with conditions, may be unused.
 */
function priceFaults(entry: ModelEntry, say: Say): void {
  const { prices } = entry;
  const isGeneral = (row: (typeof prices)[number]) => Object.keys(row).length === 1;
  const first = prices.findIndex(isGeneral);
  const rest = first === prices.length - 1 ? first : -1;
  const covered = new Set<number>();
  const used = new Set<number>();
  for (const video of offeredVideos(entry)) {
    const rows = [...prices.keys()].filter((at) => coversVideo(prices[at]!, video));
    for (const at of rows) if (at !== rest) covered.add(at);
    if (rows[0] !== undefined) used.add(rows[0]);
    else {
      const { resolution, inputVideo, audio } = video;
      say(
        ['prices'],
        `no row covers ${resolution} ${inputVideo ? 'with' : 'without'} input video, ${audio ? 'with' : 'without'} audio`,
      );
    }
  }
  for (const at of covered) {
    if (!used.has(at))
      say(['prices', at], 'is never used, because earlier rows cover the same videos');
  }
}

/** Every combination of the properties that a price can depend on. */
function offeredVideos({ resolutions, inputs, audio }: ModelEntry): PricedVideo[] {
  return resolutions.flatMap((resolution) =>
    (inputs.videosMax > 0 ? [false, true] : [false]).flatMap((inputVideo) =>
      (audio ? [true, false] : [false]).map((hasAudio) => ({
        resolution,
        inputVideo,
        audio: hasAudio,
      })),
    ),
  );
}

/** An amount must stay far below the largest safe integer, also for the longest video. */
function meterPriceFaults({ prices, durations, channels }: ModelEntry, say: Say): void {
  const longest = Math.max(lengthsOf(durations)?.max ?? 0, contractSeconds.max);
  const dearest = Math.max(...prices.map(({ perMillionTokens }) => perMillionTokens));
  for (const [index, { meter }] of channels.entries()) {
    if (meter === 'reported') continue;
    const tokens =
      'perJob' in meter
        ? Math.max(...Object.values(meter.perJob))
        : Math.max(...Object.values(meter.perSecond)) * longest;
    if ((tokens / 1_000_000) * dearest > videoMicrosMax) {
      say(
        ['channels', index, 'meter'],
        'with these prices the longest video costs more than 1000000',
      );
    }
  }
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
